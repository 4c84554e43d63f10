/**
 * Code that the tests of `PledgeClient` share: the packed package, and clients that get the answers that a test
 * chooses.
 */
import assert from "node:assert/strict";
import { inspect } from "node:util";
import { REQUEST, serve } from "./mock-server.mjs";
import { packed } from "./packed.mjs";

export const project = await packed();
export const pkg = await project.load();

export const KEY = "service_sk_test_Zm9vYmFy";
export const ID = "ptran_1";
export const PATH = "/v2/pledge-transaction";
export const never = { maxRetries: 0 };

export const create = (client, options) => client.createPledgeTransaction(REQUEST, options);
export const get = (client, options) => client.getPledgeTransaction(ID, options);

/** Waits for a call that must fail, and returns its error. */
export const failed = (call) =>
  call.then(
    () => assert.fail("it did not fail"),
    (error) => error,
  );

/** Returns a function that makes an answer with this body, for {@link clientOf}. */
export const answer =
  (body, { status = 200, headers = {} } = {}) =>
  () => ({
    status,
    headers: new Headers(headers),
    body: {},
    arrayBuffer: async () =>
      Buffer.from(
        typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
      ),
  });

/** Returns an answer that asks for a retry: a 503 or another status, with `Retry-After`. */
export const busy = (status = 503, retryAfter = "0") =>
  answer({ error: "Busy" }, { status, headers: retryAfter ? { "retry-after": retryAfter } : {} });

/** A `fetch` whose connection breaks. */
export const broken = () => {
  throw new TypeError("fetch failed", { cause: coded("ECONNRESET") });
};
/** A `fetch` to a port where no service listens. */
export const refused = () => {
  throw new TypeError("fetch failed", { cause: coded("ECONNREFUSED") });
};
export const coded = (code, more) => Object.assign(new Error(code), { code, ...more });

/** A `fetch` that never gets an answer. It ends only when its abort signal fires. */
export const silent = (_url, { signal }) =>
  new Promise((_resolve, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
  );

/**
 * Returns a client whose `fetch` gives the answers in order, and then repeats the last one. `seen` collects
 * the requests.
 * @param {Function | Function[]} answers
 */
export function clientOf(answers, { suffix = "", ...options } = {}) {
  const all = [answers].flat(),
    seen = [];
  const baseUrl = `https://pledges.example.org${suffix}`;
  const fetch = async (url, init) => {
    const { method, headers, body = "" } = init;
    const path = url.slice("https://pledges.example.org".length);
    seen.push({ method, path, headers: { ...headers }, body });
    return all[Math.min(seen.length, all.length) - 1](url, init);
  };
  return { client: new pkg.PledgeClient({ apiKey: KEY, baseUrl, fetch, ...options }), seen };
}

/**
 * Returns a client like {@link clientOf}, but with a real server and the platform's own `fetch`. The server
 * is closed after the test.
 */
export async function clientOn(t, answers, { suffix = "", ...options } = {}) {
  const { baseUrl, seen, close } = await serve(...[answers].flat());
  t.after(close);
  const client = new pkg.PledgeClient({ apiKey: KEY, baseUrl: baseUrl + suffix, ...options });
  return { client, seen, baseUrl };
}

/** Throws an error. Tests give it to the client as a function or a getter. */
export const sealed = () => {
  throw new Error("vault is sealed");
};

/** Asserts an error's class, code and message, and that it does not show the key. @param {any} error */
export function assertError(error, type, code, message) {
  const shown = [error.constructor, error.name, error.code];
  assert.ok(error instanceof type, `a ${type.name}, not ${inspect(error)}`);
  assert.ok(error instanceof pkg.PledgeError && error instanceof Error);
  assert.deepEqual(shown, [type, type.name, code], error.message);
  if (message) assert.match(error.message, message);
  assertNoKey(error);
}

export const everything = (value) =>
  inspect(value, {
    depth: Infinity,
    maxArrayLength: Infinity,
    maxStringLength: Infinity,
    showHidden: true,
    getters: true,
  });

export function assertNoKey(value) {
  const shown = [everything(value), JSON.stringify(value), String(value?.stack)];
  assert.ok(!shown.some((text) => text.includes(KEY)), "the key is shown");
}
