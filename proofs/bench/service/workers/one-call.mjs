/** To be used as an init, whose status and headers workerd copies at once. */
const JSON_OK = new Response(null, {
  headers: {
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  },
});

/**
 * Reads one record, or writes what was sent, and does nothing else.
 * @param {Request} request
 * @param {any} kv
 * @param {<T>(promise: Promise<T>, milliseconds: number) => Promise<T>} wait for what the platform has promised
 */
export async function oneCall(request, kv, wait) {
  if (request.method === "POST") {
    const body = await wait(request.arrayBuffer(), 30_000);
    await wait(kv.put("transaction:floor", body, { metadata: {} }), 15_000);
    return new Response(body, JSON_OK);
  }
  const id = request.url.slice(request.url.lastIndexOf("/") + 1);
  const { value } = await wait(kv.getWithMetadata(`transaction:${id}`, "stream"), 5_000);
  return new Response(value, JSON_OK);
}
