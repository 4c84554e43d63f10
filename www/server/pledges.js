/** Calls the pledge service with the package's client and the secret key, and records the call for developers. */
import { PledgeClient } from "impact-pledge";
import service from "../../build/worker.js";

const TIMEOUT_MS = 10_000;

/**
 * Sends an order to the service, which records the order's pledges.
 * @param {object} order the payload that `vouched` returns
 * @param {{env: object, executionContext: ExecutionContext, origin: string, idempotencyKey?: string}} context
 * @returns {Promise<{transaction?: import("impact-pledge").PledgeTransaction, error?: any, trace: object}>} `trace`: the calls
 *   without the API key, for the page for developers
 */
export async function record(order, { env, executionContext, origin, idempotencyKey }) {
  const trace = { started: Date.now(), calls: [] };
  const client = new PledgeClient({
    apiKey: env.SHOP_API_KEY,
    baseUrl: env.PLEDGE_SERVICE_URL || origin,
    fetch: traced(transport(env, executionContext), trace),
    timeoutMs: TIMEOUT_MS,
    retryCreates: true, // the service honours Idempotency-Key
  });
  try {
    return { transaction: await client.createPledgeTransaction(order, { idempotencyKey }), trace };
  } catch (error) {
    return { error, trace };
  }
}

/**
 * Returns a `fetch` function that reaches the service. If `PLEDGE_SERVICE_URL` is set, the function uses the
 * network. Otherwise the function calls the service in this Worker directly.
 */
function transport(env, executionContext) {
  if (env.PLEDGE_SERVICE_URL) return fetch;
  return (input, init) => service.fetch(new Request(input, init), env, executionContext);
}

function traced(send, trace) {
  return async (input, init) => {
    const request = new Request(input, init);
    const call = { request: await shownRequest(request.clone()), started: Date.now() };
    trace.calls.push(call);
    const response = await send(request);
    call.response = await shownResponse(response.clone());
    call.ms = Date.now() - call.started;
    return response;
  };
}

async function shownRequest(request) {
  const headers = Object.fromEntries(request.headers);
  if (headers.authorization) headers.authorization = "Bearer … (stays on the shop’s server)";
  return { method: request.method, url: request.url, headers, body: await request.text() };
}

const shownResponse = async (response) => ({
  status: response.status,
  headers: Object.fromEntries(response.headers),
  body: await response.text(),
});
