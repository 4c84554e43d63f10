/**
 * The least that a KV call of this service can cost: as in `floor.mjs`, and no wait is without a deadline, every request is
 * served to its end though its caller leaves, and every answer has an ID.
 */
import { within } from "../../../../src/workers/within.js";

/** To be used as an init, whose status and headers workerd copies at once. */
const JSON_OK = new Response(null, {
  headers: {
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  },
});

export default {
  async fetch(request, env, context) {
    const ended = serve(request, env);
    context.waitUntil(ended);
    const response = await ended;
    response.headers.set("x-request-id", request.headers.get("cf-ray") ?? crypto.randomUUID());
    return response;
  },
};

async function serve(request, env) {
  if (request.method === "POST") {
    const body = await within(request.arrayBuffer(), 30_000);
    await within(env.PLEDGES.put("transaction:floor", body, { metadata: {} }), 15_000);
    return new Response(body, JSON_OK);
  }
  const id = request.url.slice(request.url.lastIndexOf("/") + 1);
  const found = env.PLEDGES.getWithMetadata(`transaction:${id}`, "stream");
  const { value } = await within(found, 5_000);
  return new Response(value, JSON_OK);
}
