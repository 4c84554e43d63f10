/**
 * Tests the options of `PledgeClient` in the packed package: valid and refused options, and API keys that a
 * function returns.
 */
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import test from "node:test";
import { inspect } from "node:util";
import {
  ID,
  KEY,
  answer,
  assertError,
  clientOf,
  create,
  failed,
  get,
  pkg,
  sealed,
} from "./client.mjs";
import { REQUEST, created, retrieved } from "./mock-server.mjs";

const { PledgeClient, PledgeError } = pkg;
const LIVE = "service_sk_live_Zm9vYmFy";

// ---- Options that are refused ----------------------------------------------------------------------

const GOOD = { apiKey: KEY, baseUrl: "https://pledges.example.org" };
const thrower = {
  get apiKey() {
    throw new Error("no");
  },
};

/** Invalid options of a client, and the option that the error message must name. */
const WRONG = [
  ...[undefined, null, "x"].map((options) => [options, /options/]),
  [[], /`apiKey`/],
  [{}, /`apiKey`/],
  [thrower, /`apiKey`/],
  ...[undefined, "", `${KEY}\n`, `Bearer ${KEY}`, "schlüssel", 5].map((apiKey) => [
    { ...GOOD, apiKey },
    /`apiKey`/,
  ]),
  ...[undefined, "", "/api", "pledges.example.org", "ftp://a.example", "https://u:p@a.example"]
    .concat("https://a.example?x=1", "https://a.example#x")
    .map((baseUrl) => [{ ...GOOD, baseUrl }, /`baseUrl`/]),
  ...["", "a\nb", 5].map((unitId) => [{ ...GOOD, unitId }, /`unitId`/]),
  ...[0, 1.5, Infinity, 2 ** 31, "5"].map((timeoutMs) => [{ ...GOOD, timeoutMs }, /`timeoutMs`/]),
  ...[-1, 11].map((maxRetries) => [{ ...GOOD, maxRetries }, /`maxRetries`/]),
  ...[{}, "fetch"].map((fetch) => [{ ...GOOD, fetch }, /`fetch`/]),
  ...[{}, "console"].map((logger) => [{ ...GOOD, logger }, /`logger`/]),
  ...[{ name: "two words" }, { version: "1" }, { name: "x", url: "a)b" }, { name: "x", version: 1 }]
    .concat(5)
    .map((appInfo) => [{ ...GOOD, appInfo }, /^`appInfo(\.(name|version|url))?` must be/]),
  [
    { ...GOOD, appInfo: { name: "x", verison: "1" } },
    /`appInfo.verison` is not an option here; did you mean `version`\?/,
  ],
  [{ ...GOOD, retryCreates: "yes" }, /`retryCreates`/],
  [{ ...GOOD, dangerouslyAllowBrowser: 1 }, /`dangerouslyAllowBrowser`/],
  [{ ...GOOD, dangerouslyAllowHttp: "yes" }, /`dangerouslyAllowHttp`/],
  [{ ...GOOD, onRequest: 5 }, /`onRequest`/],
  [{ ...GOOD, onRetry: "x" }, /`onRetry`/],
  [{ ...GOOD, onError: {} }, /`onError`/],
  [{ ...GOOD, logLevel: "all" }, /`logLevel`/],
  [{ ...GOOD, deadlineMs: 0 }, /`deadlineMs`/],
  ...Object.entries({
    timeout: "timeoutMs",
    retries: "maxRetries",
    baseURL: "baseUrl",
    apikey: "apiKey",
    onretry: "onRetry",
    logger_level: "logLevel",
    unit: "unitId",
  }).map(([option, meant]) => [
    { ...GOOD, [option]: 1 },
    new RegExp(`\`${option}\` is not an option here; did you mean \`${meant}\`\\?`),
  ]),
  [{ ...GOOD, [KEY]: 1 }, /`\[API key\]` is not an option here/],
  [{ ...GOOD, ["x".repeat(1_000_000)]: 1 }, /the options are `apiKey`/],
];

/** Invalid options of a create call, and the option that the error message must name. */
const WRONG_OF_CALLS = [
  ...[{}, "x"].map((signal) => [{ signal }, /`signal`/]),
  ...["", "é", "山鳩-101", "x".repeat(256)].map((idempotencyKey) => [
    { idempotencyKey },
    /`idempotencyKey` .*`encodeURIComponent`/,
  ]),
  [{ timeoutMs: -1 }, /`timeoutMs`/],
  [{ unitId: " " }, /`unitId`/],
  [{ maxRetries: 11 }, /`maxRetries`/],
  [{ deadlineMs: 0 }, /`deadlineMs`/],
  [{ apiKey: KEY }, /`apiKey` is not an option here/],
  ["x", /options/],
  ...[
    [{ Authorization: "x" }, /`authorization`: that is what `apiKey` is for/],
    [{ "Idempotency-Key": "x" }, /`idempotencyKey` is for/],
    [{ "content-type": "text/plain" }, /can't set `content-type`$/],
    ...["Transfer-Encoding", "connection", "keep-alive", "te", "trailer", "upgrade", "expect"]
      .concat("via", "Cookie", "origin", "accept-encoding", "proxy-authorization", "sec-fetch-mode")
      .map((name) => [{ [name]: "x" }, new RegExp(`can't set \`${name.toLowerCase()}\`: .*HTTP`)]),
    [{ "a b": "x" }, /name or value/],
    [{ a: "x\r\nb: y" }, /name or value/],
    [{ a: 1 }, /name or value/],
    [[["a"]], /name or value/],
    ["a: b", /a plain object/],
    [Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`x-${i}`, ""])), /at most 100/],
    [thrower, /can't be read/],
  ].map(([headers, message]) => [{ headers }, message]),
];

test("an option that can't be used is refused by name, nothing is sent, and the key is not shown", async () => {
  for (const [options, message] of WRONG) {
    assert.throws(
      () => new PledgeClient(options),
      (error) => {
        assertError(error, PledgeError, "invalid_argument", message);
        return true;
      },
    );
  }
  const { client, seen } = clientOf(answer(created()));
  for (const [options, message] of WRONG_OF_CALLS)
    assertError(await failed(create(client, options)), PledgeError, "invalid_argument", message);
  const gets = [
    [get(client, { idempotencyKey: "x" }), /`idempotencyKey`/],
    ...["", ".", "..", "a\ud800", undefined, 5, Symbol("id")].map((id) => [
      client.getPledgeTransaction(id),
      /`id`/,
    ]),
  ];
  for (const [call, message] of gets)
    assertError(await failed(call), PledgeError, "invalid_argument", message);
  const env = { PLEDGE_API_KEY: KEY, PLEDGE_BASE_URL: GOOD.baseUrl };
  for (const entry of [
    (options) => PledgeClient.fromEnv(options, env),
    (options) => client.with(options),
  ]) {
    const named = (message) => (error) => error.code === "invalid_argument" && message.test(error);
    assert.throws(
      () => entry({ unitID: "x" }),
      named(/`unitID` is not .* did you mean `unitId`\?/),
    );
    assert.throws(() => entry(thrower), named(/`options` can't be read/));
    for (const options of [5, "x", true]) assert.throws(() => entry(options), named(/an object/));
    assert.ok(entry(undefined) instanceof PledgeClient && entry(null) instanceof PledgeClient);
  }
  const third = { idempotencyKey: "order-1" };
  for (const call of [
    client.createPledgeTransaction(REQUEST, undefined, third),
    client.getPledgeTransaction(ID, {}, {}),
  ])
    assertError(await failed(call), PledgeError, "invalid_argument", /second argument/);
  assert.equal(seen.length, 0);
});

test("an inspected client shows its base URL and unit, and only the mode of its key", () => {
  const shown = (options) => inspect(new PledgeClient({ ...GOOD, ...options }));
  const base = "baseUrl: 'https://pledges.example.org'";
  assert.equal(shown(), `PledgeClient { ${base}, apiKey: 'service_sk_test_…' }`);
  assert.equal(
    shown({ apiKey: LIVE, unitId: "unit_1" }).replaceAll(/\s+/g, " "),
    `PledgeClient { ${base}, unitId: 'unit_1', apiKey: 'service_sk_live_…' }`,
  );
  for (const apiKey of ["secret-of-another-kind", () => KEY])
    assert.equal(shown({ apiKey }), `PledgeClient { ${base}, apiKey: '…' }`);
  assert.equal(JSON.stringify(new PledgeClient(GOOD)), "{}");
});

test("a live key goes over http to this machine alone", async () => {
  const made = (baseUrl, more) => new PledgeClient({ apiKey: LIVE, baseUrl, ...more });
  const open = ["pledges.example.org", "10.0.0.1", "localhost.example.org", "127.example.org"];
  for (const host of [...open, "128.0.0.1", "[::2]", "0.0.0.0", "mylocalhost"]) {
    for (const baseUrl of [`HTTP://${host}:8080/api`, new URL(`http://${host}/`)]) {
      assert.throws(
        () => made(baseUrl),
        (error) => {
          assertError(error, PledgeError, "live_key_over_http", /https.*`dangerouslyAllowHttp`/);
          return !error.stack.includes(LIVE);
        },
      );
      made(baseUrl, { dangerouslyAllowHttp: true });
      new PledgeClient({ apiKey: KEY, baseUrl });
    }
    made(`https://${host}`);
  }
  const own = ["LOCALHOST:8787", "shop.localhost", "127.0.0.1:8787", "127.255.0.9", "127.1"];
  for (const host of [...own, "[::1]:8787"]) made(`http://${host}`);
  const given = new PledgeClient({ apiKey: () => LIVE, baseUrl: "http://pledges.example.org" });
  assert.equal((await failed(get(given))).code, "live_key_over_http");
});

// ---- Keys that a function gives --------------------------------------------------------------------

test("a function returns the key, and is called for each call", async () => {
  const keys = ["service_sk_test_first", "service_sk_test_second"];
  const { client, seen } = clientOf(answer(retrieved()), { apiKey: async () => keys.shift() });
  await get(client);
  await get(client);
  assert.deepEqual(
    seen.map(({ headers }) => headers.authorization),
    ["Bearer service_sk_test_first", "Bearer service_sk_test_second"],
  );
});

const NO_KEYS = [
  [sealed, "api_key_failed", /vault is sealed/],
  [async () => sealed(), "api_key_failed", /vault is sealed/],
  [() => undefined, "api_key_failed", /must return a string/],
  [async () => "two words", "invalid_argument", /`apiKey`/],
  [() => new Promise(() => {}), "api_key_failed", /no result within 50 ms/],
  [() => new Promise(() => {}), "timeout", /`apiKey` took too long/, { deadlineMs: 30 }],
];

test("if the function returns no key, nothing is sent", async () => {
  for (const [apiKey, code, message, options] of NO_KEYS) {
    const { client, seen } = clientOf(answer(retrieved()), { apiKey, timeoutMs: 50, ...options });
    const error = await failed(get(client));
    assert.ok(error instanceof PledgeError);
    assert.deepEqual([error.code, seen.length], [code, 0]);
    assert.match(error.message, message);
  }
  const stop = new AbortController();
  const { client } = clientOf([], { apiKey: () => new Promise(() => {}) });
  const error = failed(get(client, { signal: stop.signal }));
  stop.abort(new Error("enough"));
  assert.equal((await error).message, "enough");
  assert.equal(getEventListeners(stop.signal, "abort").length, 0);
});

test("the deadline limits the wait for a key, however late the wait begins", async (t) => {
  let now = 0;
  t.mock.method(Date, "now", () => (now += 10));
  const { client } = clientOf([], { apiKey: () => new Promise(() => {}), deadlineMs: 60 });
  assert.match((await failed(get(client))).message, /`apiKey` took too long/);
});
