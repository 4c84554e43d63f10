/**
 * The status and headers of every answer, for the second argument of `new Response`. They are a `Response`
 * themselves, because workerd then copies them in one step.
 */
const JSON_OK = new Response(null, {
  headers: {
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  },
});

/** Metadata as large as the metadata that the service writes with a transaction. */
const METADATA = {
  version: 1,
  mode: "test",
  unit: "unit_dev",
  editKey: "0".repeat(64),
  bytes: 1_012,
  summary: {
    createdAt: "2026-11-24T12:00:00.000Z",
    amount: "2.50",
    currencyCode: "USD",
    lookup: { order: "0".repeat(32), email: "0".repeat(32) },
    key: "0".repeat(12),
  },
};

/**
 * Reads one record, or writes the request's body, and does nothing else.
 * @param {Request} request
 * @param {any} kv
 * @param {<T>(promise: Promise<T>, milliseconds: number) => Promise<T>} wait waits for a promise of the
 *   platform
 */
export async function oneCall(request, kv, wait) {
  if (request.method === "POST") {
    const body = await wait(request.arrayBuffer(), 30_000);
    await wait(kv.put("transaction:floor", body, { metadata: METADATA }), 15_000);
    return new Response(body, JSON_OK);
  }
  const id = request.url.slice(request.url.lastIndexOf("/") + 1);
  const { value } = await wait(kv.getWithMetadata(`transaction:${id}`, "stream"), 5_000);
  return new Response(value, JSON_OK);
}
