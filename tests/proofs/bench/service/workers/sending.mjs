/**
 * Shows the lowest possible cost of a queue message. Like `safe.mjs`, it makes one KV call with a deadline.
 * It then sends a prepared message after each create request.
 */
import { put } from "../../../../../src/doors/cloudflare/put.js";
import { within } from "../../../../../src/doors/cloudflare/within.js";
import { oneCall } from "./one-call.mjs";

/** A message as large as the service's message about one pledge. */
const MESSAGE = JSON.stringify({
  id: `ptran_${"0".repeat(42)}`,
  mode: "test",
  unit: "unit_dev",
  summary: {
    createdAt: "2026-11-24T12:00:00.000Z",
    amount: "2.50",
    currencyCode: "USD",
    lookup: { order: "0".repeat(32), email: "0".repeat(32) },
    key: "0".repeat(12),
    quantities: [["tree", 5_000_000]],
  },
});
const PUT_MS = 2_000;

const note = (isPut, error) => {
  if (!isPut) console.error(String(error));
};

export default {
  async fetch(request, env, context) {
    const ended = oneCall(request, env.PLEDGES, within);
    context.waitUntil(ended.then(() => put(env.LEDGER, MESSAGE, PUT_MS, note)));
    const response = await ended;
    response.headers.set("x-request-id", request.headers.get("cf-ray") ?? crypto.randomUUID());
    return response;
  },
};
