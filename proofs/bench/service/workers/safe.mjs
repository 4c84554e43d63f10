/**
 * Shows the lowest possible cost of a KV call in this service. Like `floor.mjs`, it makes one KV call. It
 * adds a deadline for each wait, requests that run to their end even if the caller leaves, and an ID in every
 * answer.
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
