/** `PledgeClient` of the packed package: its options, the requests that it sends, repeats, and how a call ends. */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { getEventListeners, once } from "node:events";
import { cpSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { inspect, promisify } from "node:util";
import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";
import { SpanKind, SpanStatusCode, context, propagation, trace } from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { traceHeaders, tracing } from "../../examples/opentelemetry/tracing.js";
import { strays } from "../../proofs/matrix/shared/contexts.mjs";
import { ofLostCreates } from "../../proofs/matrix/shared/unsent.mjs";
import {
  ID,
  KEY,
  answer,
  assertError,
  assertNoKey,
  broken,
  busy,
  clientOf,
  clientOn,
  coded,
  create,
  failed,
  get,
  never,
  pkg,
  project,
  refused,
  silent,
} from "./client.mjs";
import * as server from "./mock-server.mjs";
import { REQUEST, created, retrieved } from "./mock-server.mjs";

const { ApiError, ConnectionError, PledgeClient, PledgeError, TimeoutError, ValidationError } = pkg;
const { version } = project.require("impact-pledge/package.json");
const PATH = "/v2/pledge-transaction";
const LIVE = "service_sk_live_Zm9vYmFy";

// ---- Requests --------------------------------------------------------------------------------------

/** By name: options of the client, the call, and of its request the path, headers (undefined: absent) and body. */
const REQUESTS = {
  "a create": [
    {},
    (client) => create(client),
    PATH,
    {
      authorization: `Bearer ${KEY}`,
      "content-type": "application/json",
      "user-agent": `impact-pledge/${version}`,
      "x-service-unit-id": undefined,
      "idempotency-key": undefined,
    },
    REQUEST,
  ],
  "a get": [
    {},
    (client) => get(client),
    `${PATH}/${ID}`,
    { authorization: `Bearer ${KEY}`, "content-type": undefined, "x-service-unit-id": undefined },
  ],
  "a unit of the call, which goes first": [
    { unitId: "unit_a" },
    (client) => get(client, { unitId: "unit_b" }),
    `${PATH}/${ID}`,
    { "x-service-unit-id": "unit_b" },
  ],
  "an idempotency key": [
    {},
    (client) => create(client, { idempotencyKey: 'my "key"' }),
    PATH,
    { "idempotency-key": '"my \\"key\\""' },
  ],
  "an ID is one segment": [
    {},
    (client) => client.getPledgeTransaction("ptran_é/../x?y#z"),
    `${PATH}/ptran_%C3%A9%2F..%2Fx%3Fy%23z`,
  ],
  "an address with a path and slashes at its end": [
    { suffix: "/api//" },
    (client) => get(client),
    `/api${PATH}/${ID}`,
  ],
  "members that are undefined are absent": [
    {},
    (client) => client.createPledgeTransaction({ ...REQUEST, trigger: undefined }),
    PATH,
    {},
    REQUEST,
  ],
  "headers of the client and of the call": [
    { headers: { "X-Shop": "one", "x-both": "client" } },
    (client) => get(client, { headers: new Headers({ traceparent: "00-1", "X-Both": "call" }) }),
    `${PATH}/${ID}`,
    { "x-shop": "one", "x-both": "call", traceparent: "00-1", authorization: `Bearer ${KEY}` },
  ],
  "the application": [
    { appInfo: { name: "shop", version: "1.2.3", url: "https://coffee.example" } },
    (client) => get(client.with({ maxRetries: 0 })),
    `${PATH}/${ID}`,
    { "user-agent": `impact-pledge/${version} shop/1.2.3 (https://coffee.example)` },
  ],
  "a client with some other options": [
    { unitId: "unit_a", headers: { "x-shop": "one" } },
    (client) => get(client.with({ unitId: "unit_b" })),
    `${PATH}/${ID}`,
    { "x-service-unit-id": "unit_b", "x-shop": "one" },
  ],
};

for (const [name, [options, call, path, headers = {}, body]] of Object.entries(REQUESTS)) {
  test(`one request, by the platform's fetch and by one's own: ${name}`, async (t) => {
    const wanted = ({ method }) => (method === "POST" ? created() : retrieved());
    const doors = [
      clientOf((_url, init) => answer(wanted(init))(), options),
      await clientOn(t, (response, seen) => server.json(wanted(seen))(response), options),
    ];
    for (const { client, seen } of doors) {
      await call(client);
      const [request] = seen;
      assert.equal(seen.length, 1);
      assert.deepEqual([request.path, request.method === "POST"], [path, !path.includes("ptran")]);
      for (const [header, value] of Object.entries(headers))
        assert.equal(request.headers[header], value, header);
      if (body) assert.deepEqual(JSON.parse(request.body), body);
      else if (request.method === "GET") assert.equal(request.body, "");
    }
  });
}

test("`instanceof` holds for the errors of another copy of the package, and for no other value", () => {
  const other = project.require("impact-pledge");
  const classes = Object.entries(pkg).filter(([, value]) => value.prototype instanceof Error);
  assert.equal(classes.length, 10);
  for (const [name, Class] of classes) {
    const foreign = Object.create(other[name].prototype);
    assert.notEqual(other[name], Class);
    for (const [otherName, Other] of classes) {
      const isBelow = Class === Other || Class.prototype instanceof Other;
      assert.equal(foreign instanceof Other, isBelow, `${name} instanceof ${otherName}`);
    }
    class Own extends Class {}
    assert.ok(Object.create(Own.prototype) instanceof Own, name);
    assert.ok(!(foreign instanceof Own), `${name} is no instance of a class of the shop's own`);
  }
  for (const value of [null, undefined, 1, "x", {}, new Error("x"), () => {}, Object.create(null)])
    assert.ok(!(value instanceof pkg.PledgeError));
});

test("a `fetch` of the caller's gets an address and plain objects, and may be a service binding", async () => {
  const binding = {
    async fetch(url, init) {
      assert.equal(this, binding);
      assert.equal(url, `https://pledges.example.org${PATH}`);
      assert.deepEqual([init.redirect, typeof init.body], ["manual", "string"]);
      assert.equal(Object.getPrototypeOf(init.headers), Object.prototype);
      assert.ok(init.signal instanceof AbortSignal);
      return Response.json(created());
    },
  };
  const { client } = clientOf([], { fetch: binding });
  assert.deepEqual(await create(client), created());
});

test("a client of the environment", async (t) => {
  const { seen, baseUrl } = await clientOn(t, server.json(retrieved()));
  const env = { PLEDGE_API_KEY: KEY, PLEDGE_BASE_URL: baseUrl, PLEDGE_UNIT_ID: "unit_1" };
  await get(PledgeClient.fromEnv({ unitId: "unit_2" }, env));
  Object.assign(process.env, env);
  t.after(() => {
    for (const name of Object.keys(env)) delete process.env[name];
  });
  await get(PledgeClient.fromEnv());
  assert.deepEqual(
    seen.map(({ headers }) => headers["x-service-unit-id"]),
    ["unit_2", "unit_1"],
  );
  const { PLEDGE_API_KEY, ...keyless } = env;
  assert.throws(() => PledgeClient.fromEnv({}, keyless), /`PLEDGE_API_KEY` is not set/);
  assert.throws(() => PledgeClient.fromEnv({ apiKey: KEY }, {}), /`PLEDGE_BASE_URL` is not set/);
  PledgeClient.fromEnv({ apiKey: KEY, baseUrl }, {});
});

test("a hundred calls at once each get their own answer", async (t) => {
  const { client } = await clientOn(t, (response, { path }) =>
    server.json(retrieved({ reference: path.split("/").at(-1) }))(response),
  );
  const ids = Array.from({ length: 100 }, (_, index) => `ptran_${index}`);
  const all = await Promise.all(ids.map((id) => client.getPledgeTransaction(id)));
  assert.deepEqual(
    all.map(({ reference }) => reference),
    ids,
  );
});

test("calls at once run each in its caller's own async context", async () => {
  assert.deepEqual(await strays(PledgeClient), []);
});

// ---- Options that are refused ----------------------------------------------------------------------

const GOOD = { apiKey: KEY, baseUrl: "https://pledges.example.org" };
const thrower = {
  get apiKey() {
    throw new Error("no");
  },
};

/** Options of a client, whole or what they change, and the option that the error names. */
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

/** Options of a create, and the option that the error names. */
const WRONG_OF_CALLS = [
  ...[{}, "x"].map((signal) => [{ signal }, /`signal`/]),
  ...["", "é", "x".repeat(256)].map((idempotencyKey) => [{ idempotencyKey }, /`idempotencyKey`/]),
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
    ["a: b", /an object/],
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

test("a client shows where it calls and for whom, and of its key only the mode", () => {
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

test("a function gives the key, for each call anew", async () => {
  const keys = ["service_sk_test_first", "service_sk_test_second"];
  const { client, seen } = clientOf(answer(retrieved()), { apiKey: async () => keys.shift() });
  await get(client);
  await get(client);
  assert.deepEqual(
    seen.map(({ headers }) => headers.authorization),
    ["Bearer service_sk_test_first", "Bearer service_sk_test_second"],
  );
});

const sealed = () => {
  throw new Error("vault is sealed");
};
const NO_KEYS = [
  [sealed, "api_key_failed", /vault is sealed/],
  [async () => sealed(), "api_key_failed", /vault is sealed/],
  [() => undefined, "api_key_failed", /must return a string/],
  [async () => "two words", "invalid_argument", /`apiKey`/],
  [() => new Promise(() => {}), "api_key_failed", /longer than 50 ms/],
  [() => new Promise(() => {}), "timeout", /`apiKey` took too long/, { deadlineMs: 30 }],
];

test("a function that gives no key: nothing is sent", async () => {
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

test("the deadline ends the wait for a key, however late the wait begins", async (t) => {
  let now = 0;
  t.mock.method(Date, "now", () => (now += 10));
  const { client } = clientOf([], { apiKey: () => new Promise(() => {}), deadlineMs: 60 });
  assert.match((await failed(get(client))).message, /`apiKey` took too long/);
});

// ---- The request is checked ------------------------------------------------------------------------

test("a request that breaks rules is not sent, and all of its problems are listed", async () => {
  const { client, seen } = clientOf(answer(created()));
  const invalid = {
    recipient: { email: "ada@" },
    pledges: [{ impact: { amount: 0, offeringId: 5 } }],
    extra: 1,
  };
  const error = await failed(client.createPledgeTransaction(invalid));
  const message = /`\/reference` is required; .*; and 2 more$/;
  assertError(error, ValidationError, "invalid_request", message);
  assert.deepEqual(
    error.issues.map(({ pointer, code }) => `${pointer} ${code}`),
    [
      "/reference required",
      "/recipient/email invalid_email",
      "/pledges/0/impact/amount not_positive",
      "/pledges/0/impact/offeringId invalid_type",
      "/extra unknown_member",
    ],
  );
  assert.equal(seen.length, 0);
});

test("what is checked is what is sent", async () => {
  const { client, seen } = clientOf(answer(created()));
  const cyclic = { ...REQUEST };
  cyclic.recipient = cyclic;
  const revoked = Proxy.revocable({ ...REQUEST }, {});
  revoked.revoke();
  class Order {
    constructor() {
      Object.assign(this, REQUEST);
    }
    toJSON() {
      return { ...REQUEST, reference: 5 };
    }
  }
  const hostile = [undefined, null, 5, [], () => {}, Symbol("x"), 10n, cyclic, revoked.proxy];
  hostile.push({ ...REQUEST, reference: 10n }, { ...REQUEST, toJSON: () => 5 }, new Order());
  hostile.push(Object.defineProperty({ ...REQUEST }, "reference", { get: sealed }));
  for (const value of hostile) {
    const error = await failed(client.createPledgeTransaction(value));
    assertError(error, ValidationError, "invalid_request");
    assert.ok(error.issues.length > 0);
  }
  assert.equal(seen.length, 0);
  for (const wrongFrom of [1, 2, 3, 4]) {
    let reads = 0;
    const flipping = {
      ...REQUEST,
      get reference() {
        reads += 1;
        return reads >= wrongFrom ? 5 : "order-1";
      },
    };
    const error = await client.createPledgeTransaction(flipping).then(
      () => undefined,
      (refusal) => refusal,
    );
    if (error) assertError(error, ValidationError, "invalid_request");
    for (const { body } of seen) assert.equal(JSON.parse(body).reference, "order-1");
  }
});

// ---- Answers, and none -----------------------------------------------------------------------------

test("a call has its response beside its transaction", async () => {
  const headers = { "idempotent-replayed": "true", "x-request-id": "r-1", "x-more": "1" };
  const { client } = clientOf([
    answer(created(), { status: 201, headers }),
    answer(`\ufeff ${JSON.stringify(retrieved())}\n`),
  ]);
  const call = create(client, { idempotencyKey: "order-1" });
  const { data, response } = await call.withResponse();
  assert.equal(data, await call);
  assert.equal(response, pkg.responseOf(data));
  const { headers: shown, ...others } = response;
  assert.equal(shown.get("x-more"), "1");
  assert.deepEqual(others, {
    status: 201,
    requestId: "r-1",
    idempotencyKey: "order-1",
    idempotentReplayed: true,
    retries: 0,
  });
  assert.ok(Object.isFrozen(response));
  assert.deepEqual(Object.keys(data), Object.keys(created()));
  assert.equal(pkg.responseOf({ ...data }), undefined);
  assert.deepEqual(await get(client), retrieved());
  const refused = clientOf(busy(500), never);
  assert.equal((await failed(get(refused.client).withResponse())).status, 500);
});

test("an error as JSON has what helps, and no key, header or body", async () => {
  const body = { error: "Broken", secret: KEY };
  const headers = { "x-request-id": "r-1", "x-echo": KEY };
  const { client } = clientOf([answer(body, { status: 500, headers }), broken], never);
  const asJson = async (call) => JSON.parse(JSON.stringify(await failed(call)));
  const { message, ...others } = await asJson(create(client, { idempotencyKey: "order-1" }));
  assert.match(message, /500: Broken/);
  assert.deepEqual(others, {
    name: "ApiError",
    code: "api_error",
    status: 500,
    error: "Broken",
    requestId: "r-1",
    idempotencyKey: "order-1",
  });
  const invalid = await asJson(client.createPledgeTransaction({ pledges: Array(100).fill({}) }));
  assert.deepEqual([invalid.code, invalid.issues.length], ["invalid_request", 20]);
  assert.deepEqual(Object.keys(await asJson(get(client))), ["name", "code", "message"]);
});

test("a redirect is not followed: it would take the key along", async (t) => {
  const other = await clientOn(t, server.json(retrieved()));
  for (const status of [301, 302, 303, 307, 308]) {
    const headers = { location: `${other.baseUrl}/v2` };
    const { client } = await clientOn(t, server.text("", { status, headers }));
    const error = await failed(create(client));
    assertError(error, ApiError, "api_error", /redirect.*`baseUrl`/);
    assert.deepEqual([error.status, error.headers.get("location")], [status, headers.location]);
  }
  assert.equal(other.seen.length, 0);
});

/** Thrown by `fetch`, and whether a create may have been recorded all the same. */
const UNSENT = [
  ...["ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "UND_ERR_CONNECT_TIMEOUT"].map((code) => [
    coded(code),
    false,
  ]),
  [coded("ETIMEDOUT", { syscall: "connect" }), false],
  [coded("EHOSTUNREACH", { syscall: "connect" }), false],
  [new AggregateError([coded("ECONNREFUSED"), coded("ECONNREFUSED")]), false],
  // Both also of a request that was received, where `fetch` repeated it by itself: Bun before 1.4, and Deno.
  [coded("ConnectionRefused"), true],
  [new Error("client error (Connect): tcp connect error: Connection refused (os error 111)"), true],
  ...["ECONNRESET", "EPIPE", "UND_ERR_SOCKET", "UND_ERR_HEADERS_TIMEOUT", "ETIMEDOUT"].map(
    (code) => [coded(code), true],
  ),
  [new AggregateError([coded("ECONNREFUSED"), coded("ECONNRESET")]), true],
];

test("a connection that fails is a ConnectionError that says whether the request was sent", async (t) => {
  for (const [cause, mayBeSent] of UNSENT) {
    const fail = () => {
      throw new TypeError("fetch failed", { cause });
    };
    const { client } = clientOf(fail, never);
    const error = await failed(create(client));
    const message = mayBeSent ? /; the transaction may have been recorded$/ : /was not sent$/;
    assertError(error, ConnectionError, "connection_failed", message);
    assert.ok(error.cause instanceof Error);
  }
  // The first request may have been recorded, however the repeat ended; not so after a 429.
  for (const first of [broken, busy(503)]) {
    const { client } = clientOf([first, refused], { retryCreates: true, maxRetries: 1 });
    assert.match(
      (await failed(create(client))).message,
      /; the transaction may have been recorded$/,
    );
  }
  for (const first of [busy(429), busy(503), refused]) {
    const { client } = clientOf([first, refused], { maxRetries: 1 });
    assert.match((await failed(create(client))).message, /; the request was not sent$/);
  }
  const gone = await server.serve(server.silence);
  await gone.close();
  const alone = new PledgeClient({ apiKey: KEY, baseUrl: gone.baseUrl, ...never });
  assert.match((await failed(create(alone))).message, /was not sent$/);
  for (const cut of [server.hangUp, server.breakOff]) {
    const { client } = await clientOn(t, cut, never);
    const calls = [
      [create, /may have been recorded/],
      [get, /no response/],
    ];
    for (const [call, message] of calls)
      assertError(await failed(call(client)), ConnectionError, "connection_failed", message);
  }
});

test("a create that was received is not called unsent, though no other connection is taken", async () => {
  const { received, messages } = await ofLostCreates(PledgeClient);
  assert.deepEqual(received, ["GET", "POST"]);
  assert.match(messages[0], /may have been recorded$/);
  assert.match(messages[1], /was not sent$/);
});

test("silence is a TimeoutError, before the headers and behind them, even if `fetch` is deaf", async (t) => {
  const options = { ...never, timeoutMs: 100 };
  const clients = [
    await clientOn(t, server.silence, options),
    await clientOn(t, server.stall, options),
    clientOf(() => new Promise(() => {}), options),
  ];
  for (const { client, seen } of clients) {
    for (const call of [create, get]) {
      const error = await failed(call(client));
      assertError(error, TimeoutError, "timeout", /within 100 ms/);
      assert.ok(error instanceof ConnectionError);
    }
    assert.equal(seen.length, 2);
  }
  const { client } = clientOf(silent, { timeoutMs: 20_000 });
  const shorter = [
    [{ timeoutMs: 50, maxRetries: 0 }, /within 50 ms/],
    [{ deadlineMs: 60 }, /within 60 ms/],
  ];
  for (const [own, message] of shorter)
    assertError(await failed(get(client, own)), TimeoutError, "timeout", message);
});

// ---- Repeats ---------------------------------------------------------------------------------------

const safe = { retryCreates: true };
const off = { retryCreates: false };
const more = { maxRetries: 3 };
const proxy = answer("<html>", { status: 503, headers: { "retry-after": "0" } });
const slow = { timeoutMs: 30, maxRetries: 1 };
const withKey = (client) => create(client, { idempotencyKey: "order-1" });

/** By name: the answers, the call, the client's options, how many requests there are, and whether it ends well. */
const REPEATS = {
  "a get after each status that may pass": [
    [busy(408), busy(429), busy(599)],
    get,
    { maxRetries: 3 },
    4,
    true,
  ],
  "a get after a connection that broke": [[broken], get, {}, 2, true],
  "a get until the third time, by itself": [Array(3).fill(busy()), get, {}, 3, false],
  "a get as often as the client may": [Array(9).fill(busy()), get, { maxRetries: 4 }, 5, false],
  "a get as often as the call may": [
    Array(9).fill(busy()),
    (client) => get(client, { maxRetries: 1 }),
    { maxRetries: 5 },
    2,
    false,
  ],
  "a get after a refusal": [[busy(404)], get, {}, 1, false],
  "a get after a time out, each with its own time": [[silent, silent], get, slow, 2, false],
  "a get whose wait is left to the caller": [[busy(429, "61")], get, {}, 1, false],
  "a get that the deadline leaves no time for": [
    [busy(503, "30")],
    get,
    { deadlineMs: 5_000 },
    1,
    false,
  ],
  "a create that was certainly not recorded": [
    [busy(429), refused, busy(503)],
    create,
    more,
    4,
    true,
  ],
  "no create whose connection broke": [[broken], create, {}, 1, false],
  "no create after a status that leaves it open": [[busy(500)], create, {}, 1, false],
  "no create after a 503 of a proxy": [[proxy], create, {}, 1, false],
  "no create that timed out": [[silent], create, slow, 1, false],
  "a create with a key of the caller's": [[broken, busy(500)], withKey, {}, 3, true],
  "a create with retryCreates": [[broken, busy()], create, safe, 3, true],
  "a create with retryCreates and a key": [[busy(429)], withKey, safe, 2, true],
  "no create without retryCreates": [[busy(429)], create, off, 1, false],
  "no create with a key, but without retryCreates": [[busy(429)], withKey, off, 1, false],
  "a get without retryCreates": [[busy(429)], get, off, 2, true],
};

for (const [name, [failures, call, options, count, isGood]] of Object.entries(REPEATS)) {
  test(`what is repeated: ${name}`, async () => {
    const fine = (_url, { method }) => answer(method === "POST" ? created() : retrieved())();
    const { client, seen } = clientOf([...failures, fine], options);
    const ended = await call(client).then(
      (data) => ({ data }),
      (error) => ({ error }),
    );
    assert.equal(seen.length, count);
    assert.equal(ended.error === undefined, isGood, String(ended.error));
    if (isGood) assert.equal(pkg.responseOf(ended.data).retries, count - 1);
    else assert.ok(ended.error instanceof PledgeError);
    const keys = new Set(seen.map(({ headers }) => headers["idempotency-key"]));
    assert.equal(keys.size, 1);
    const [key] = keys;
    const own = options.retryCreates ? /^[0-9a-f]{32}$/ : /^undefined$/;
    assert.match(String(key), call === withKey ? /^"?order-1"?$/ : own);
    const shown = ended.error ?? pkg.responseOf(ended.data);
    assert.equal(shown.idempotencyKey, call === withKey ? "order-1" : key);
    assert.equal(new Set(seen.map(({ body }) => body)).size, 1);
  });
}

/** The failure, the options, and how the message of a create ends: which option would have repeated it, if one would. */
const NOT_REPEATED = [
  [broken, {}, /may have been recorded; it was not retried: set `retryCreates`, or pass an `i.*`$/],
  [busy(500), {}, /500: Busy; .*; it was not retried: set `retryCreates`, or pass an `i.*`$/],
  [silent, { timeoutMs: 30 }, /30 ms; .* recorded; it was not retried: set `retryCreates`, .*$/],
  [busy(429), off, /429: Busy; it was not retried: `retryCreates` is `false`$/],
  [refused, off, /was not sent; it was not retried: `retryCreates` is `false`$/],
  [silent, { deadlineMs: 30 }, /may have been recorded$/],
  [busy(500, "61"), {}, /address was [^;]*$/],
  [busy(400), {}, /400: Busy$/],
  [busy(429), { ...off, maxRetries: 0 }, /429: Busy$/],
];

test("an error says which option would have repeated the create", async () => {
  for (const [failure, options, message] of NOT_REPEATED) {
    const { client, seen } = clientOf(failure, options);
    assert.match((await failed(create(client))).message, message);
    assert.equal(seen.length, 1);
  }
});

test("each create with retryCreates has a key of its own", async () => {
  const { client, seen } = clientOf(answer(created()), safe);
  await create(client);
  await create(client);
  assert.notEqual(seen[0].headers["idempotency-key"], seen[1].headers["idempotency-key"]);
});

const inSeconds = (seconds) => () => new Date(Date.now() + seconds * 1_000).toUTCString();

/** What `Retry-After` says, and the least and most milliseconds of the wait. `tests/retry.rs` has the rest. */
const WAITS = [
  ["7", 7_000, 7_000],
  [inSeconds(30), 25_000, 30_000],
  [inSeconds(-30), 0, 0],
  [null, 250, 500],
  ["soon", 250, 500],
  ["Sun, 6 Nov 1994 08:49:37 GMT", 250, 500],
  ["Sunday, 06-Nov-94 08:49:37 GMT", 250, 500],
  ["2020-01-01", 250, 500],
];

test("a wait is as long as Retry-After says, in seconds or as a date", async () => {
  for (const [header, least, most] of WAITS) {
    const retryAfter = typeof header === "function" ? header() : header;
    const stop = new AbortController();
    const waits = [];
    const onRetry = ({ waitMs }) => {
      waits.push(waitMs);
      stop.abort();
    };
    const { client, seen } = clientOf(busy(503, retryAfter), { onRetry });
    await failed(get(client, { signal: stop.signal }));
    assert.deepEqual([waits.length, seen.length], [1, 1]);
    assert.ok(waits[0] >= least && waits[0] <= most, `${retryAfter}: ${waits[0]}`);
  }
});

test("a wait is waited for", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { client, seen } = clientOf([busy(503, "7"), answer(retrieved())]);
  const call = get(client);
  await turn();
  t.mock.timers.tick(6_999);
  await turn();
  assert.equal(seen.length, 1);
  t.mock.timers.tick(1);
  assert.deepEqual(await call, retrieved());
});

// ---- Signals ---------------------------------------------------------------------------------------

test("an abort rethrows the signal's reason, whatever that is", async (t) => {
  for (const reason of [new Error("mine"), 0, null, { custom: true }]) {
    const { client, seen } = clientOf(answer(retrieved()));
    assert.equal(await failed(get(client, { signal: AbortSignal.abort(reason) })), reason);
    assert.equal(seen.length, 0);
  }
  const clients = [
    await clientOn(t, server.silence),
    await clientOn(t, server.stall),
    clientOf(busy(503, "50")),
    clientOf(() => new Promise(() => {})),
  ];
  for (const { client, seen } of clients) {
    const stop = new AbortController();
    const error = failed(get(client, { signal: stop.signal }));
    while (seen.length === 0) await sleep(5);
    await sleep(20);
    stop.abort("enough");
    assert.equal(await error, "enough");
    assert.equal(seen.length, 1);
  }
  const { client } = clientOf(silent);
  assert.equal((await failed(create(client, { signal: AbortSignal.abort() }))).name, "AbortError");
  const timeout = await failed(create(client, { signal: AbortSignal.timeout(20) }));
  assert.ok(timeout instanceof DOMException && timeout.name === "TimeoutError");
});

test("a signal that misbehaves does no harm", async () => {
  const { client } = clientOf(answer(retrieved()));
  const signal = { aborted: false, addEventListener() {}, removeEventListener() {} };
  for (const own of [{}, { addEventListener: sealed }, { removeEventListener: sealed }])
    assert.deepEqual(await get(client, { signal: { ...signal, ...own } }), retrieved());
  const aborted = await failed(get(client, { signal: { ...signal, aborted: true } }));
  assert.equal(aborted.name, "AbortError");
});

test("1,000 calls at once leave no listener on their signal, beside a deadline or not", async () => {
  for (const options of [{}, { deadlineMs: 60_000 }]) {
    const good = clientOf([busy(), answer(retrieved())], options),
      quiet = clientOf(silent, options);
    const stop = new AbortController();
    const { signal } = stop;
    await Promise.all(Array.from({ length: 1_000 }, () => get(good.client, { signal })));
    assert.equal(getEventListeners(signal, "abort").length, 0);
    const errors = Array.from({ length: 1_000 }, () => failed(get(quiet.client, { signal })));
    await turn();
    stop.abort("enough");
    assert.deepEqual(new Set(await Promise.all(errors)), new Set(["enough"]));
    assert.equal(getEventListeners(signal, "abort").length, 0);
  }
});

// ---- Hooks and logs --------------------------------------------------------------------------------

test("hooks see each attempt, answer and repeat, and never the key", async (t) => {
  const events = [];
  const note = (name) => (event) => void events.push([name, event]);
  const hooks = {
    onRequest: note("request"),
    onResponse: note("response"),
    onError: note("error"),
    onRetry: note("retry"),
  };
  const echo = (response, { headers }) => {
    const shown = { "x-echo": headers.authorization, "x-request-id": "r-1" };
    response.writeHead(503, { "retry-after": "0", ...shown }).end();
  };
  const answers = [echo, server.hangUp, server.json(retrieved())];
  const { client } = await clientOn(t, answers, hooks);
  await get(client, { headers: { "x-own": "1" } });
  assert.deepEqual(
    events.map(([name, { attempt, status, reason }]) => [name, attempt, status ?? reason]),
    [
      ["request", 1, undefined],
      ["response", 1, 503],
      ["retry", 2, "the answer was 503"],
      ["request", 2, undefined],
      ["error", 2, "connection_failed"],
      ["retry", 3, "the connection failed"],
      ["request", 3, undefined],
      ["response", 3, 200],
    ],
  );
  const [[, sent], [, answered], [, repeated], , [, lost]] = events;
  for (const { method, url, requestHeaders } of [sent, answered, lost]) {
    assert.equal(method, "GET");
    assert.match(url, /\/v2\/pledge-transaction\/ptran_1$/);
    assert.deepEqual([requestHeaders.authorization, requestHeaders["x-own"]], ["[API key]", "1"]);
  }
  const { requestId, responseHeaders } = answered;
  assert.deepEqual([requestId, responseHeaders["x-echo"]], ["r-1", "Bearer [API key]"]);
  assert.equal(lost.error.message, "fetch failed");
  for (const ms of [answered.durationMs, lost.durationMs, repeated.waitMs])
    assert.ok(Number.isInteger(ms));
  assertNoKey(events);
  const callIds = () => new Set(events.map(([, { callId }]) => callId));
  assert.equal(callIds().size, 1);
  assert.match(sent.callId, /^[0-9a-z]{6,}$/);
  await get(client);
  assert.equal(callIds().size, 2);
});

/** By reason: what `fetch` does, the client's options and the call's, and the `error` of the event. */
const NO_ANSWER = [
  ["connection_failed", broken, never, {}, "fetch failed"],
  ["timeout", silent, { ...never, timeoutMs: 20 }, {}, undefined],
  ["timeout", () => new Promise(() => {}), { deadlineMs: 20 }, {}, undefined],
  ["aborted", silent, {}, { signal: () => AbortSignal.timeout(20) }, undefined],
];

test("a hook sees each attempt without an answer, and nothing of it afterwards", async () => {
  for (const [reason, fetch, options, own, error] of NO_ANSWER) {
    const events = [];
    const note = (name) => (event) => events.push([name, event.reason, event.error?.message]);
    const hooks = {
      onRequest: note("request"),
      onResponse: note("response"),
      onError: note("error"),
    };
    const { client } = clientOf(fetch, { ...options, ...hooks });
    await failed(get(client, { signal: own.signal?.() }));
    assert.deepEqual(events, [
      ["request", undefined, undefined],
      ["error", reason, error],
    ]);
  }
  // An answer that comes too late is no event, and a call that a hook aborts is not sent.
  const events = [];
  const note = ({ reason, status }) => events.push(reason ?? status);
  const late = () => sleep(60).then(answer(retrieved()));
  const deaf = clientOf(late, { ...never, timeoutMs: 20, onResponse: note, onError: note });
  await failed(get(deaf.client));
  await sleep(80);
  const stop = new AbortController();
  const hooks = { onRequest: () => stop.abort("enough"), onResponse: note, onError: note };
  const { client, seen } = clientOf(answer(retrieved()), hooks);
  assert.equal(await failed(get(client, { signal: stop.signal })), "enough");
  assert.deepEqual([events, seen.length], [["timeout", "aborted"], 0]);
});

test("OpenTelemetry: the recipe makes a span of each request, in the trace of the caller", async (t) => {
  const exporter = new InMemorySpanExporter();
  new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
  t.after(() => [trace, context, propagation].map((api) => api.disable()));
  const answers = [
    server.json({ error: "Busy" }, { status: 503, headers: { "retry-after": "0" } }),
  ];
  answers.push(server.hangUp, server.json(created()));
  const { client, seen, baseUrl } = await clientOn(t, answers, tracing());
  const order = (span) =>
    create(client, { idempotencyKey: "order-1", headers: traceHeaders() }).finally(() =>
      span.end(),
    );
  await trace.getTracer("shop").startActiveSpan("order", order);
  const [first, second, third, parent] = exporter.getFinishedSpans();
  const { traceId, spanId } = parent.spanContext();
  const url = new URL(`${baseUrl}${PATH}`);
  for (const [index, [span, outcome, isError]] of [
    [first, { "http.response.status_code": 503, "error.type": "503" }, true],
    [second, { "http.request.resend_count": 1, "error.type": "connection_failed" }, true],
    [third, { "http.request.resend_count": 2, "http.response.status_code": 200 }, false],
  ].entries()) {
    assert.deepEqual(
      [span.name, span.kind, span.spanContext().traceId],
      ["POST", SpanKind.CLIENT, traceId],
    );
    assert.equal(span.parentSpanContext.spanId, spanId);
    assert.equal(span.status.code === SpanStatusCode.ERROR, isError);
    assert.deepEqual(span.attributes, {
      "http.request.method": "POST",
      "server.address": "127.0.0.1",
      "server.port": Number(url.port),
      "url.full": url.href,
      ...outcome,
    });
    assert.equal(seen[index].headers.traceparent, `00-${traceId}-${spanId}-01`);
  }
  assert.equal(second.events[0].attributes["exception.message"], "fetch failed");
  assertNoKey([first, second, third].map(({ attributes, events }) => [attributes, events]));
});

test("OpenTelemetry: the recipe prints the spans of an order", async (t) => {
  const folder = join(project.folder, "opentelemetry");
  const root = join(import.meta.dirname, "..", "..");
  cpSync(join(root, "examples", "opentelemetry"), folder, { recursive: true });
  const installed = (where) => join(where, "node_modules", "@opentelemetry");
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  rmSync(installed(folder), { force: true });
  symlinkSync(installed(root), installed(folder), "junction");
  const { seen, baseUrl, close } = await server.serve(server.json(created()));
  t.after(close);
  const env = { ...process.env, PLEDGE_API_KEY: KEY, PLEDGE_BASE_URL: baseUrl };
  const { stdout } = await promisify(execFile)(process.execPath, ["order.js"], {
    cwd: folder,
    env,
  });
  assert.match(stdout, /name: 'POST'.*timeline\/ptran_1.*name: 'pledge for order-1'/s);
  assert.match(stdout, new RegExp(seen[0].headers.traceparent.split("-")[1]));
});

test("what hooks and loggers do harms no call", async () => {
  const bad = [
    sealed,
    async () => sealed(),
    () => new Promise(() => {}),
    (event) => (event.url = 5),
  ];
  const calls = bad.map((hook) => {
    const { client } = clientOf([broken, busy(), answer(retrieved())], {
      onRequest: hook,
      onResponse: hook,
      onError: hook,
      onRetry: hook,
      logger: { error: hook, warn: hook, info: hook, debug: hook },
      logLevel: "debug",
    });
    return get(client);
  });
  assert.deepEqual(await Promise.all(calls), Array(bad.length).fill(retrieved()));
});

const LOGS = {
  undefined: [],
  off: [],
  error: ["error", "error"],
  warn: ["warn", "error", "error"],
  info: ["warn", "error", "error"],
  debug: ["debug", "debug", "warn", "debug", "debug", "error", "error"],
};

test("a log has as much as its level asks for", async () => {
  for (const [level, expected] of Object.entries(LOGS)) {
    const lines = [];
    const noted = ["error", "warn", "info", "debug"].map((name) => [
      name,
      (...line) => lines.push([name, ...line]),
    ]);
    const { client } = clientOf([busy(503), broken], {
      logger: Object.fromEntries(noted),
      logLevel: level === "undefined" ? undefined : level,
      maxRetries: 1,
    });
    await failed(get(client));
    const [, , { callId } = {}] = lines[0] ?? [];
    assert.equal(typeof callId, expected.length > 0 ? "string" : "undefined");
    assert.ok(lines.every(([, , details]) => details.callId === callId));
    await failed(client.createPledgeTransaction({})); // not sent
    assert.deepEqual(
      lines.map(([name]) => name),
      expected,
    );
    for (const [, line] of lines) assert.match(line, /^impact-pledge: /);
    assertNoKey(lines);
  }
});

test("nothing keeps a process alive when its calls have ended", async (t) => {
  const { baseUrl } = await clientOn(t, server.json(retrieved()));
  const script = `
    import { PledgeClient } from "impact-pledge";
    const options = { apiKey: "${KEY}", baseUrl: "${baseUrl}", timeoutMs: 60_000 };
    await new PledgeClient(options).getPledgeTransaction("${ID}", { signal: new AbortController().signal });
    const silent = new PledgeClient({ ...options, fetch: () => new Promise(() => {}) });
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 50);
    await silent.getPledgeTransaction("${ID}", { signal: stop.signal }).catch(() => console.log("ended"));
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    process.on("exit", () => console.log("active", timers()));
  `;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: project.folder,
    stdio: ["ignore", "pipe", "inherit"],
    timeout: 30_000,
  });
  let output = "";
  child.stdout.on("data", (data) => (output += data));
  const [code] = await once(child, "close");
  assert.deepEqual([code, output], [0, "ended\nactive 0\n"]);
});
