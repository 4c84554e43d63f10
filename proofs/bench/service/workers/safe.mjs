/**
 * The least that a KV call of this service can cost: as in `floor.mjs`, and no wait is without a deadline, every request is
 * served to its end though its caller leaves, and every answer has an ID.
 */
import { within } from "../../../../src/workers/within.js";
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
