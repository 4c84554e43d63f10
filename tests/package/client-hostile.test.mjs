/** Tests the client against a hostile service or `fetch`: the key stays hidden, and time and memory are bounded. */
import assert from "node:assert/strict";
import test from "node:test";
import { inspect } from "node:util";
import {
  KEY,
  answer,
  assertError,
  assertNoKey,
  clientOf,
  clientOn,
  create,
  everything,
  failed,
  get,
  never,
  pkg,
} from "./client.mjs";
import { flood, retrieved } from "./mock-server.mjs";

const { ApiError, ConnectionError, PledgeClient, PledgeError, TimeoutError } = pkg;
const BEARER = `Bearer ${KEY}`;

/** Returns the error of a call with this `fetch`. */
const errorOf = (fetch, options) => failed(get(clientOf(fetch, { ...never, ...options }).client));
const rejecting = (thrown) => () => Promise.reject(thrown);
const thrower = () => {
  throw new Error(KEY);
};

// ---- The key ---------------------------------------------------------------------------------------

test("the key is in no error, log, URL or property, even if the service shows it", async () => {
  const client = new PledgeClient({ apiKey: KEY, baseUrl: "https://pledges.example.org" });
  assertNoKey(client);
  assert.deepEqual([Reflect.ownKeys(client), { ...client }], [[], {}]);
  for (const status of [401, 403, 500, 200, 302]) {
    const body = { error: `no: ${BEARER}`, message: BEARER };
    const error = await errorOf(answer(body, { status, headers: { "x-echo": BEARER } }));
    assert.ok(error instanceof ApiError);
    assertNoKey(error);
    assertNoKey([...error.headers]);
    assert.match(error.body, /\[API key\]/);
  }
  const half = await errorOf(answer("x".repeat(65_536 - 12) + KEY, { status: 500 }));
  assert.ok(half.body.length > 65_000 && !half.body.includes(KEY.slice(0, 10)), "cut in the key");
  const words = await errorOf(answer({ error: "x".repeat(986) + KEY }, { status: 500 }));
  assert.ok(!words.message.includes(KEY.slice(0, 10)), words.message);
});

/** Returns errors that a `fetch` might throw. Each contains the API key somewhere. */
function leaks() {
  const error = (members, message = "failed") => Object.assign(new Error(message), members);
  const config = { value: { headers: { authorization: BEARER } } };
  const cyclic = error({});
  cyclic.cause = error({ cause: cyclic, init: { headers: [["authorization", BEARER]] } });
  let deep = error({}, BEARER);
  for (let depth = 0; depth < 5_000; depth += 1) deep = new Error("failed", { cause: deep });
  class Failure extends Error {
    get request() {
      return BEARER;
    }
  }
  const lying = new Proxy(error({ init: BEARER }), {
    ownKeys: () => ["stack"],
    get: (target, name) => (name === "init" ? undefined : Reflect.get(target, name)),
  });
  const headers = { authorization: BEARER };
  const map = new Map([[BEARER, new Set([BEARER])]]);
  const url = `https://example.org/?key=${encodeURIComponent(KEY)}`;
  return [
    error({ cause: BEARER }),
    error({ cause: error({ cause: error({ cause: error({}, BEARER) }) }) }),
    error({ init: { headers }, headers: new Headers(headers) }),
    error({ request: new Request("https://example.org", { headers }) }),
    error({ map, [BEARER]: 1, [Symbol(BEARER)]: Symbol(BEARER) }),
    error({ bytes: Buffer.from(BEARER), promise: Promise.resolve(BEARER) }),
    error({ boxed: new String(BEARER), log: Object.assign(() => {}, { BEARER }) }),
    error({ code: BEARER, name: BEARER }),
    error({ url, text: JSON.stringify(JSON.stringify(BEARER)) }),
    error({ stack: `Error: ${BEARER}\n    at fetch` }),
    new AggregateError([error({}, BEARER), BEARER, { BEARER }], "all failed"),
    new DOMException(BEARER, "NetworkError"),
    Object.assign(new Failure("failed"), { [inspect.custom]: () => BEARER }),
    [BEARER, [BEARER]],
    { BEARER, toString: () => BEARER },
    Object.assign(Object.create({ BEARER }), { message: BEARER }),
    BEARER,
    Symbol(BEARER),
    Object.defineProperty(new Error("failed"), "config", config),
    cyclic,
    deep,
    lying,
  ];
}

test("the key is in nothing that a caller's `fetch` throws", async () => {
  for (const thrown of leaks()) {
    const events = [];
    const error = await errorOf(rejecting(thrown), { onError: (event) => events.push(event) });
    assertError(error, ConnectionError, "connection_failed");
    assertNoKey(events);
    assert.equal(events.length, 1);
    let causes = 0;
    for (let { cause } = error; cause != null && causes < 100; { cause } = cause) causes += 1;
    assert.ok(causes < 100, "the causes are cut");
  }
});

test("the key is in nothing that the function `apiKey` throws", async () => {
  for (const thrown of leaks()) {
    const error = await errorOf(answer({}), { apiKey: rejecting(thrown) });
    assertError(error, PledgeError, "api_key_failed", /^the function `apiKey` returned no key: /);
  }
});

test("the key is in no response of a success, and in no event of it", async () => {
  const headers = { "x-echo": BEARER, "x-request-id": KEY, "idempotent-replayed": "true" };
  const bare = { get: (name) => headers[name] ?? null, secret: KEY };
  for (const given of [new Headers(headers), bare]) {
    const events = [];
    const fetch = () => ({ ...answer(retrieved())(), headers: given });
    const { client } = clientOf(fetch, { onResponse: (event) => events.push(event) });
    const { response } = await get(client).withResponse();
    assert.deepEqual([response.requestId, response.idempotentReplayed], ["[API key]", true]);
    assert.equal(events[0].requestId, "[API key]");
    assertNoKey([response, ...response.headers, events]);
  }
});

test("a hook can't make a create that may have been recorded one that was not sent", async () => {
  const onError = ({ error }) => Object.assign(error, { code: "ECONNREFUSED", syscall: "connect" });
  const { client, seen } = clientOf(rejecting(new TypeError("fetch failed")), { onError });
  const { cause, message } = await failed(create(client));
  assert.match(message, /may have been recorded/);
  assert.deepEqual([cause.code, seen.length], [undefined, 1]);
});

test("a line of a log is one line, without the key, whatever a service or a hook says", async () => {
  const error = `no\nimpact-pledge: paid\r\u001b[2K\u2028 ${BEARER}`;
  const lines = [];
  const log = (...line) => void lines.push(line);
  await errorOf(answer({ error }, { status: 500 }), {
    logger: { error: log, warn: log, info: log, debug: log },
    logLevel: "debug",
    onRequest: thrower,
    onResponse: async () => thrower(),
  });
  const texts = lines.map(([text]) => text);
  assert.ok(texts.includes("impact-pledge: `onResponse` failed"));
  assert.match(
    texts.join(" "),
    /no\\nimpact-pledge: paid\\u000d\\u001b\[2K\\u2028 Bearer \[API key\]/,
  );
  for (const text of texts) assert.match(text, /^impact-pledge: [^\p{Cc}\u2028\u2029]+$/u);
  assertNoKey(lines);
});

test("a cause keeps the details that help to find a failure", async () => {
  const found = { code: "ECONNRESET", errno: -104, syscall: "read", address: "127.0.0.1", port: 9 };
  const inner = Object.assign(new RangeError("inner"), { ...found, detail: { tries: [1, 2] } });
  const thrown = new TypeError("fetch failed", { cause: inner });
  const { message, cause } = await failed(create(clientOf(rejecting(thrown), never).client));
  assert.match(message, /inner; the transaction may have been recorded/);
  assert.ok(cause instanceof Error && cause.cause instanceof Error);
  assert.deepEqual(
    [cause.name, cause.message, cause.stack],
    ["TypeError", "fetch failed", thrown.stack],
  );
  assert.deepEqual([cause.cause.name, cause.cause.message], ["RangeError", "inner"]);
  assert.deepEqual({ ...cause.cause }, { ...inner });
  const several = await errorOf(rejecting(new AggregateError([inner, 5], "several")));
  assert.deepEqual([several.cause.errors[0].code, several.cause.errors[1]], ["ECONNRESET", 5]);
  for (const plain of ["text", 5, null, undefined, true, 10n])
    assert.equal((await errorOf(rejecting(plain))).cause, plain);
});

function costly() {
  const names = ["get", "has", "ownKeys", "getPrototypeOf", "getOwnPropertyDescriptor"];
  const traps = Object.fromEntries(names.map((name) => [name, thrower]));
  const endless = () =>
    new Proxy(new Error(KEY), {
      get: (_, name) => (name === "cause" || name === "errors" ? endless() : KEY),
    });
  const members = Array.from({ length: 200_000 }, (_, index) => [`p${index}`, KEY]);
  const long = new Error(`x${KEY}`.repeat(400_000));
  const sparse = new AggregateError([], "sparse");
  sparse.errors.length = 2 ** 32 - 1;
  const get = { get: thrower, enumerable: true };
  return [
    new Proxy(new Error(KEY), traps),
    new Proxy(() => {}, traps),
    endless(),
    Object.assign(new Error("wide"), Object.fromEntries(members)),
    new AggregateError(Array(200_000).fill(new Error(KEY)), "list"),
    new AggregateError(Array(2_000).fill(long), "shared"),
    sparse,
    Array.from({ length: 5 }).reduce((inner) => Array(100).fill(inner), KEY), // 10,000,000,000 texts
    Object.defineProperties(new Error("x"), { stack: get, message: get, cause: get, other: get }),
  ];
}

test("a hostile cause costs little, whatever it is", async () => {
  for (const thrown of costly()) {
    const error = await errorOf(rejecting(thrown));
    assertError(error, ConnectionError, "connection_failed");
    assert.ok(everything(error).length < 4_000_000, "the copy is small");
  }
});

test("headers of the caller's own making show no key", async () => {
  class Shown extends Headers {
    secret = KEY;
  }
  const of = (entries, get = () => null) => ({ get, [Symbol.iterator]: entries });
  let reads = 0;
  const flipping = of(function* () {
    yield ["x-echo", reads++ ? KEY : "fine"];
  });
  const endless = of(function* () {
    for (;;) yield ["x-echo", KEY];
  });
  const malformed = of(function* () {
    yield* [[Symbol("x"), 5], 7, ["a b\n", KEY], ["fine", KEY]];
  });
  const bare = { get: (name) => (name === "x-request-id" ? `r ${KEY}` : null), secret: KEY };
  for (const headers of [new Shown({ "x-echo": KEY }), flipping, endless, malformed, bare]) {
    const error = await errorOf(() => ({ status: 403, headers, body: null }));
    assertError(error, ApiError, "api_error");
    assert.ok(error.headers instanceof Headers);
    assertNoKey([...error.headers]);
    if (headers === bare) assert.equal(error.requestId, "r [API key]");
  }
});

// ---- Time and memory -------------------------------------------------------------------------------

/**
 * The length of a long text, and the number of headers in a test. If the work grew with the square of this
 * number, the test would take an hour, and the runner would stop it.
 */
const LONG = 1_000_000;
/** The longest time limit that a client can have, for calls that may be slow on a busy machine. */
const PATIENT = { timeoutMs: 2 ** 31 - 1 };

test("large answers and long lists of headers are redacted in linear time", async () => {
  const texts = [KEY.repeat(40_000), KEY.slice(0, -1).repeat(40_000), '"'.repeat(LONG)];
  for (const apiKey of [KEY, "a".repeat(500), 'a"\\\\key']) {
    for (const body of [...texts, "a".repeat(LONG)]) {
      const error = await errorOf(answer(body), { apiKey });
      assert.ok(error instanceof ApiError && !error.body.includes(apiKey));
    }
  }
  const entries = Array.from({ length: 200_000 }, (_, index) => [`x-${index}`, KEY]);
  for (const list of [entries, Array(50_000).fill(["set-cookie", KEY])]) {
    const headers = new Headers(list);
    assertError(await errorOf(() => ({ status: 403, headers, body: null })), ApiError, "api_error");
  }
});

/** Returns a Response whose body stream calls `read` for each chunk. */
const streamed =
  (read, status = 200) =>
  () => ({
    status,
    headers: new Headers(),
    body: { getReader: () => ({ read, cancel: () => Promise.resolve() }) },
  });

test("a stream that never ends is left at the timeout, in little memory", async () => {
  for (const value of [new Uint8Array(0), new Uint8Array(1)]) {
    let reads = 0;
    const endless = async () => {
      reads += 1;
      return { done: false, value };
    };
    const before = process.memoryUsage().rss;
    const error = await errorOf(streamed(endless), { timeoutMs: 200 });
    assertError(error, TimeoutError, "timeout");
    const soFar = reads;
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.ok(reads - soFar < 2, "reading goes on behind the timeout");
    assert.ok(process.memoryUsage().rss - before < 200e6, "memory");
    const call = get(clientOf(streamed(endless)).client, { signal: AbortSignal.timeout(50) });
    assert.equal((await failed(call)).name, "TimeoutError");
  }
});

test("an answer in a million pieces is joined in linear time", async () => {
  const bytes = Buffer.from(JSON.stringify(retrieved({ later: "x".repeat(LONG) })));
  let at = 0;
  const byByte = async () =>
    at < bytes.length
      ? { done: false, value: new Uint8Array(bytes.subarray(at, ++at)) }
      : { done: true };
  const { later } = await get(clientOf(streamed(byByte), PATIENT).client);
  assert.equal(later.length, LONG);
});

test("an endless error body is cut off", async (t) => {
  const block = new Uint8Array(100_000_000);
  const endless = clientOf(
    streamed(async () => ({ done: false, value: block }), 500),
    never,
  );
  for (const { client } of [endless, await clientOn(t, flood, never)]) {
    const error = await failed(get(client));
    assertError(error, ApiError, "api_error", /500/);
    assert.equal(error.body.length, 65_536);
  }
});

// ---- Invalid results of fetch ----------------------------------------------------------------------

const headers = new Headers();

/** Invalid results of a `fetch`, grouped by the expected result, which the error message names. */
const NO_ANSWERS = {
  "a Response": [5, "x", {}, { status: 200 }, { status: "200", headers }].concat(
    { status: 200.5, headers },
    { status: 200, headers: {} },
  ),
  "stream of Uint8Arrays": [
    ...[-1, NaN, 2 ** 53, 1e9, "5", 0].map((length) => ({ length, byteLength: length })),
    ...["text", 5, null, undefined, {}, [1, 2], new ArrayBuffer(8), new Uint16Array(8)],
    new DataView(new ArrayBuffer(8)),
    new Proxy(new Uint8Array(8), {}),
    Object.create(Uint8Array.prototype),
  ].map((value) => streamed(async () => ({ done: false, value }))()),
  "an ArrayBuffer": [5, 1e9, { length: 1e9 }, "text", null, undefined, []].map((whole) => ({
    status: 200,
    headers,
    body: {},
    arrayBuffer: async () => whole,
  })),
};

test("an invalid result of `fetch` is a ConnectionError at once", async () => {
  for (const [named, given] of Object.entries(NO_ANSWERS)) {
    for (const value of given) {
      const error = await errorOf(async () => value);
      assertError(error, ConnectionError, "connection_failed", new RegExp(named));
    }
  }
  const used = new Response("x");
  await used.text();
  const buffer = new ArrayBuffer(8);
  const detached = new Uint8Array(buffer);
  structuredClone(buffer, { transfer: [buffer] });
  const misbehaving = [
    thrower,
    ...[new Error("x"), "text", 5, null, undefined, Symbol("x"), Object.create(null)].map(
      (thrown) => async () => {
        throw thrown;
      },
    ),
    ...[used, undefined, null].map((value) => () => value),
    // biome-ignore lint/suspicious/noThenProperty: a hostile `fetch` gives a thenable
    () => Object.defineProperty({}, "then", { get: thrower }),
    () => Object.defineProperty({}, "status", { get: thrower }),
    streamed(() => Promise.reject(new Error("read"))),
    streamed(() => 5),
    streamed(async () => ({ value: detached })),
  ];
  for (const fetch of misbehaving)
    assert.ok((await errorOf(fetch, { timeoutMs: 200 })) instanceof ConnectionError);
});

test("if the page's `Request` can't be constructed, the call fails without showing the key", async (t) => {
  t.mock.method(globalThis, "Request", (_url, init) => {
    if (init.headers) throw new Error(BEARER);
  });
  const options = { apiKey: KEY, baseUrl: "https://pledges.example.org" };
  const error = await failed(create(new PledgeClient(options)));
  assertError(error, PledgeError, "invalid_argument", /the request can't be built/);
});

test("bytes that report a wrong length are read correctly", async () => {
  const bytes = new TextEncoder().encode(JSON.stringify(retrieved()));
  for (const value of [-5, NaN, 1e9, "x"]) {
    const lie = { value };
    const lying = { length: lie, byteLength: lie, byteOffset: lie };
    const chunks = [Object.defineProperties(bytes.slice(), lying)];
    const read = async () => ({ done: chunks.length === 0, value: chunks.pop() });
    assert.deepEqual(await get(clientOf(streamed(read)).client), retrieved());
  }
});
