/**
 * Checks whether each call runs in its caller's async context. Tracing and request loggers read this context.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { REQUEST } from "./smoke.mjs";

const CALLS = 20;
const KEY = "service_sk_test_x";
const busy = () => new Response(null, { status: 503, headers: { "retry-after": "0" } });
const lost = () => Promise.reject(new Error("lost"));

/**
 * Makes several calls at once, each in its own async context. Returns a description of each function that ran
 * in the wrong call's context.
 */
export async function strays(PledgeClient) {
  const context = new AsyncLocalStorage();
  const found = [];
  /** @param {number} call */
  const run = (call) => {
    const note = (what) =>
      context.getStore() === call || found.push(`${what} of ${call} in ${context.getStore()}`);
    const noting = (what, next) => async () => {
      note(what);
      await null;
      return next?.();
    };
    const answers = [busy, lost];
    const client = new PledgeClient({
      apiKey: call % 2 ? KEY : noting("apiKey", () => KEY),
      baseUrl: "https://pledges.example.org",
      fetch: noting("fetch", () => answers.shift()?.()),
      onRequest: noting("onRequest"),
      onResponse: noting("onResponse"),
      onError: noting("onError"),
      onRetry: noting("onRetry"),
      maxRetries: 1,
      retryCreates: true,
    });
    const create = () => client.createPledgeTransaction(REQUEST).catch(({ code }) => note(code));
    return context.run(call, create);
  };
  await Promise.all(Array.from({ length: CALLS }, (_, call) => run(call)));
  return found;
}
