/**
 * Shows the lowest possible cost of a KV call in this service. Like `floor.mjs`, this Worker makes one KV call.
 * It adds three things:
 *
 * - Each wait has a deadline.
 * - Each request runs to its end even if the caller leaves.
 * - Each answer has an ID.
 */
import { within } from "../../../../../src/doors/cloudflare/within.js";
import { oneCall } from "./one-call.mjs";

export default {
  async fetch(request, env, context) {
    const ended = oneCall(request, env.PLEDGES, within);
    context.waitUntil(ended);
    const response = await ended;
    response.headers.set("x-request-id", request.headers.get("cf-ray") ?? crypto.randomUUID());
    return response;
  },
};
