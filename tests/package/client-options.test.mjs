/**
 * Options for a server's developer: keys that change, headers, deadlines, hooks and logs, and the
 * errors of each status.
 */
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import test from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { REQUEST, created, hangUp, json, retrieved, serve, silence } from "./mock-server.mjs";
import { packed } from "./packed.mjs";

const project = await packed();
const {
  ApiError,
  ConflictError,
  ConnectionError,
  PledgeClient,
  PledgeError,
  RateLimitError,
  TimeoutError,
  UnprocessableEntityError,
} = await project.load();
const { version } = project.require("impact-pledge/package.json");

const KEY = "service_sk_test_Zm9vYmFy";
const ID = "ptran_1";
const busy = (status, headers = { "retry-after": "0" }) =>
  json({ error: "Busy" }, { status, headers });
const get = (client, options) => client.getPledgeTransaction(ID, options);
const failed = (call) =>
  call.then(
    () => assert.fail("it did not fail"),
    (error) => error,
  );

/** A client of a service that answers so, closed with the test. */
async function clientOf(t, answers, options = {}) {
  const service = await serve(...[answers].flat());
  t.after(service.close);
  return {
    seen: service.seen,
    client: new PledgeClient({ apiKey: KEY, baseUrl: service.baseUrl, ...options }),
  };
}

// ---- Keys ------------------------------------------------------------------------------------------

test("a function gives the key, for each call anew", async (t) => {
  const keys = ["service_sk_test_first", "service_sk_test_second"];
  const { client, seen } = await clientOf(t, json(retrieved()), {
    apiKey: async () => keys.shift(),
  });
  await get(client);
  await get(client);
  assert.deepEqual(
    seen.map(({ headers }) => headers.authorization),
    ["Bearer service_sk_test_first", "Bearer service_sk_test_second"],
  );
});

test("a function that gives no key: nothing is sent", async (t) => {
  const rows = [
    [
      () => {
        throw new Error("vault is sealed");
      },
      "api_key_failed",
      /vault is sealed/,
    ],
    [async () => Promise.reject(new Error("vault is sealed")), "api_key_failed", /vault is sealed/],
    [() => undefined, "api_key_failed", /must give a string/],
    [async () => "two words", "invalid_argument", /`apiKey`/],
    [() => new Promise(() => {}), "api_key_failed", /longer than 50 ms/],
  ];
  for (const [apiKey, code, message] of rows) {
    const { client, seen } = await clientOf(t, json(retrieved()), { apiKey, timeoutMs: 50 });
    const error = await failed(get(client));
    assert.ok(error instanceof PledgeError);
    assert.deepEqual([error.code, seen.length], [code, 0]);
    assert.match(error.message, message);
  }
});

test("a live key that a function gives is as well guarded", async () => {
  const client = new PledgeClient({
    apiKey: () => "service_sk_live_x",
    baseUrl: "http://pledges.example.org",
  });
  assert.equal((await failed(get(client))).code, "live_key_over_http");
});

test("a caller who ends a call ends the wait for its key", async () => {
  const stop = new AbortController();
  const client = new PledgeClient({
    apiKey: () => new Promise(() => {}),
    baseUrl: "http://127.0.0.1:9",
  });
  const error = failed(get(client, { signal: stop.signal }));
  stop.abort(new Error("enough"));
  assert.equal((await error).message, "enough");
  assert.equal(getEventListeners(stop.signal, "abort").length, 0);
});

// ---- Headers ---------------------------------------------------------------------------------------

test("headers of the client and of the call are added", async (t) => {
  for (const fetch of [undefined, (url, init) => globalThis.fetch(url, init)]) {
    const { client, seen } = await clientOf(t, json(retrieved()), {
      headers: { "X-Shop": "one", "x-both": "client" },
      fetch,
    });
    await get(client, { headers: new Headers({ traceparent: "00-1-2-03", "X-Both": "call" }) });
    const { headers } = seen[0];
    assert.deepEqual(
      [headers["x-shop"], headers["x-both"], headers.traceparent],
      ["one", "call", "00-1-2-03"],
    );
    assert.equal(headers.authorization, `Bearer ${KEY}`);
  }
});

test("headers that cannot be set are refused by name", async (t) => {
  const { client, seen } = await clientOf(t, json(retrieved()));
  const rows = [
    [{ Authorization: "x" }, /`authorization`: that is what `apiKey` is for/],
    [{ "Idempotency-Key": "x" }, /`idempotencyKey` is for/],
    [{ "content-type": "text/plain" }, /can't set `content-type`$/],
    [{ "a b": "x" }, /name or value/],
    [{ a: "x\r\nb: y" }, /name or value/],
    [{ a: 1 }, /name or value/],
    [[["a"]], /name or value/],
    ["a: b", /an object/],
    [
      Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`x-${index}`, ""])),
      /at most 100/,
    ],
    [
      {
        get a() {
          throw new Error("no");
        },
      },
      /can't be read/,
    ],
  ];
  for (const [headers, message] of rows)
    assert.match((await failed(get(client, { headers }))).message, message);
  assert.equal(seen.length, 0);
});

test("the user agent names the package and the application", async (t) => {
  const appInfo = { name: "coffee-shop", version: "1.2.3", url: "https://coffee.example" };
  const { client, seen } = await clientOf(t, json(retrieved()));
  await get(client);
  await get(client.with({ appInfo }));
  await get(client.with({ appInfo }).with({ maxRetries: 0 }));
  const full = `impact-pledge/${version} coffee-shop/1.2.3 (https://coffee.example)`;
  assert.deepEqual(
    seen.map(({ headers }) => headers["user-agent"]),
    [`impact-pledge/${version}`, full, full],
  );
  for (const bad of [
    { name: "two words" },
    { version: "1" },
    { name: "x", url: "a)b" },
    { name: "x", version: 1 },
    5,
  ])
    assert.throws(() => client.with({ appInfo: bad }), /`appInfo`/);
});

// ---- Deadlines and retries -------------------------------------------------------------------------

test("a call has its own number of retries", async (t) => {
  const { client, seen } = await clientOf(t, busy(503), { maxRetries: 5 });
  await failed(get(client, { maxRetries: 1 }));
  assert.equal(seen.length, 2);
});

test("the deadline ends a call in the middle of an attempt", async (t) => {
  const { client } = await clientOf(t, silence, { timeoutMs: 20_000 });
  const error = await failed(get(client, { deadlineMs: 60 }));
  assert.ok(error instanceof TimeoutError, error);
  assert.match(error.message, /within 60 ms/);
});

test("the deadline ends the wait for a key, however late the wait begins", async (t) => {
  let now = 0;
  t.mock.method(Date, "now", () => (now += 10));
  const client = new PledgeClient({
    apiKey: () => new Promise(() => {}),
    baseUrl: "http://127.0.0.1:9",
    deadlineMs: 60,
  });
  const error = await failed(get(client));
  assert.ok(error instanceof TimeoutError, error);
  assert.match(error.message, /`apiKey` took too long/);
});

test("a repeat that the deadline leaves no time for is not waited for: the last answer counts", async (t) => {
  const { client, seen } = await clientOf(t, busy(503, { "retry-after": "30" }), {
    deadlineMs: 5_000,
  });
  const error = await failed(get(client));
  assert.deepEqual([error.status, seen.length], [503, 1]);
});

test("the caller's signal counts beside a deadline, and is left without listeners", async (t) => {
  const { client } = await clientOf(t, silence, { deadlineMs: 60_000 });
  const stop = new AbortController();
  const errors = Array.from({ length: 1_000 }, () => failed(get(client, { signal: stop.signal })));
  await sleep(50);
  stop.abort(new Error("enough"));
  for (const error of await Promise.all(errors)) assert.equal(error.message, "enough");
  assert.equal(getEventListeners(stop.signal, "abort").length, 0);
});

test("1,000 calls at once that succeed leave no listener", async (t) => {
  const { client } = await clientOf(t, json(retrieved()), { deadlineMs: 60_000 });
  const { signal } = new AbortController();
  await Promise.all(Array.from({ length: 1_000 }, () => get(client, { signal })));
  assert.equal(getEventListeners(signal, "abort").length, 0);
});

// ---- Hooks and logs --------------------------------------------------------------------------------

test("hooks see each attempt, answer and repeat, and never the key", async (t) => {
  const events = [];
  const note = (name) => (event) => void events.push([name, event]);
  const hooks = {
    onRequest: note("request"),
    onResponse: note("response"),
    onRetry: note("retry"),
  };
  const echo = (response, { headers }) =>
    response
      .writeHead(503, {
        "retry-after": "0",
        "x-echo": headers.authorization,
        "x-request-id": "r-1",
      })
      .end();
  const { client } = await clientOf(t, [echo, hangUp, json(retrieved())], hooks);
  await get(client);
  assert.deepEqual(
    events.map(([name, { attempt, status, reason }]) => [name, attempt, status ?? reason]),
    [
      ["request", 1, undefined],
      ["response", 1, 503],
      ["retry", 2, "the answer was 503"],
      ["request", 2, undefined],
      ["retry", 3, "the connection failed"],
      ["request", 3, undefined],
      ["response", 3, 200],
    ],
  );
  const [, { method, url, headers }] = events[0];
  assert.equal(method, "GET");
  assert.match(url, /\/v2\/pledge-transaction\/ptran_1$/);
  assert.equal(headers.authorization, "[API key]");
  assert.deepEqual(
    [events[1][1].requestId, events[1][1].headers["x-echo"]],
    ["r-1", "Bearer [API key]"],
  );
  assert.ok(Number.isInteger(events[1][1].durationMs) && Number.isInteger(events[2][1].waitMs));
  assert.ok(!JSON.stringify(events).includes(KEY));
});

test("what hooks and loggers do harms no call", async (t) => {
  const bad = [
    () => {
      throw new Error("no");
    },
    async () => Promise.reject(new Error("no")),
    () => new Promise(() => {}),
    (event) => (event.url = 5),
  ];
  for (const hook of bad) {
    const logger = { error: hook, warn: hook, info: hook, debug: hook };
    const { client } = await clientOf(t, [busy(503), json(retrieved())], {
      onRequest: hook,
      onResponse: hook,
      onRetry: hook,
      logger,
      logLevel: "debug",
    });
    assert.deepEqual(await get(client), retrieved());
  }
});

test("a log has as much as its level asks for", async (t) => {
  for (const [logLevel, expected] of [
    [undefined, []],
    ["off", []],
    ["error", ["error"]],
    ["warn", ["warn", "error"]],
    ["info", ["warn", "error"]],
    ["debug", ["debug", "debug", "warn", "debug", "debug", "error"]],
  ]) {
    const lines = [];
    const logger = Object.fromEntries(
      ["error", "warn", "info", "debug"].map((level) => [
        level,
        (...line) => lines.push([level, ...line]),
      ]),
    );
    const { client } = await clientOf(t, [busy(503), busy(500)], {
      logger,
      logLevel,
      maxRetries: 1,
    });
    await failed(get(client));
    assert.deepEqual(
      lines.map(([level]) => level),
      expected,
    );
    for (const [, line] of lines) assert.match(line, /^impact-pledge: /);
    assert.ok(!JSON.stringify(lines).includes(KEY));
  }
});

test("hooks, loggers and levels that cannot be used are refused by name", () => {
  const good = { apiKey: KEY, baseUrl: "https://pledges.example.org" };
  for (const [option, value] of [
    ["onRequest", 5],
    ["onRetry", "x"],
    ["logger", {}],
    ["logger", "console"],
    ["logLevel", "all"],
    ["deadlineMs", 0],
    ["apiKey", 5],
  ]) {
    assert.throws(
      () => new PledgeClient({ ...good, [option]: value }),
      new RegExp(`\`${option}\``),
    );
  }
  for (const [option, meant] of [
    ["timeout", "timeoutMs"],
    ["retries", "maxRetries"],
    ["baseURL", "baseUrl"],
    ["apikey", "apiKey"],
    ["onretry", "onRetry"],
    ["logger_level", "logLevel"],
  ]) {
    assert.throws(
      () => new PledgeClient({ ...good, [option]: 1 }),
      new RegExp(`\`${option}\` is not an option here; did you mean \`${meant}\`\\?`),
    );
  }
  assert.throws(
    () => new PledgeClient({ ...good, ["x".repeat(1_000_000)]: 1 }),
    /the options are `apiKey`/,
  );
});

// ---- Clients from clients, and from the environment ------------------------------------------------

test("a client with some other options", async (t) => {
  const { client, seen } = await clientOf(t, json(retrieved()), {
    unitId: "unit_1",
    headers: { "x-shop": "one" },
  });
  await get(client.with({ unitId: "unit_2" }));
  await get(client);
  assert.deepEqual(
    seen.map(({ headers }) => [headers["x-service-unit-id"], headers["x-shop"]]),
    [
      ["unit_2", "one"],
      ["unit_1", "one"],
    ],
  );
  assert.throws(() => client.with({ unit: "x" }), /did you mean `unitId`/);
});

test("a client of the environment", async (t) => {
  const { seen, client } = await clientOf(t, json(retrieved()));
  assert.equal(client.constructor, PledgeClient);
  const service = await serve(json(retrieved()));
  t.after(service.close);
  const env = { PLEDGE_API_KEY: KEY, PLEDGE_BASE_URL: service.baseUrl, PLEDGE_UNIT_ID: "unit_1" };
  await get(PledgeClient.fromEnv({}, env));
  await get(PledgeClient.fromEnv({ unitId: "unit_2" }, env));
  Object.assign(process.env, env);
  t.after(() => {
    for (const name of Object.keys(env)) delete process.env[name];
  });
  await get(PledgeClient.fromEnv());
  assert.deepEqual(
    service.seen.map(({ headers }) => headers["x-service-unit-id"]),
    ["unit_1", "unit_2", "unit_1"],
  );
  assert.throws(
    () => PledgeClient.fromEnv({}, { PLEDGE_BASE_URL: "https://pledges.example.org" }),
    /`PLEDGE_API_KEY` is not set/,
  );
  assert.throws(() => PledgeClient.fromEnv({ apiKey: KEY }, {}), /`PLEDGE_BASE_URL` is not set/);
  PledgeClient.fromEnv({ apiKey: KEY, baseUrl: "https://pledges.example.org" }, {});
  assert.ok(client && seen.length === 0);
});

// ---- What comes back -------------------------------------------------------------------------------

test("a call has its response beside its transaction", async (t) => {
  const { client } = await clientOf(
    t,
    [json(created(), { headers: { "x-request-id": "r-1" } }), json(retrieved()), busy(500)],
    { maxRetries: 0 },
  );
  const { data, response } = await client
    .createPledgeTransaction(REQUEST, { idempotencyKey: "order-1" })
    .withResponse();
  assert.deepEqual(
    [data, response.status, response.requestId, response.idempotencyKey],
    [created(), 200, "r-1", "order-1"],
  );
  const call = get(client);
  assert.deepEqual([(await call.withResponse()).response.status, await call], [200, retrieved()]);
  assert.equal((await failed(get(client).withResponse())).status, 500);
});

test("409, 422 and 429 have classes of their own", async (t) => {
  for (const [status, type, code] of [
    [409, ConflictError, "conflict"],
    [422, UnprocessableEntityError, "unprocessable"],
    [429, RateLimitError, "rate_limited"],
  ]) {
    const { client } = await clientOf(t, busy(status, {}), { maxRetries: 0 });
    const error = await failed(get(client));
    assert.ok(error instanceof type && error instanceof ApiError && error instanceof PledgeError);
    assert.deepEqual(
      [error.name, error.code, error.status, error.error],
      [type.name, code, status, "Busy"],
    );
  }
});

test("a rate limit says how long to wait, where the service does", async (t) => {
  const inAMinute = new Date(Date.now() + 60_000).toUTCString();
  for (const [header, from, to] of [
    ["3600", 3_600_000, 3_600_000],
    ["0", 0, 0],
    [inAMinute, 50_000, 60_000],
    ["Thu, 01 Jan 1970 00:00:00 GMT", 0, 0],
    ["9".repeat(400), Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  ]) {
    const { client } = await clientOf(t, busy(429, { "retry-after": header }), { maxRetries: 0 });
    const { retryAfterMs } = await failed(get(client));
    assert.ok(retryAfterMs >= from && retryAfterMs <= to, `${header}: ${retryAfterMs}`);
  }
  for (const header of ["soon", "-1", "2026-01-01"]) {
    const { client } = await clientOf(t, busy(429, { "retry-after": header }), { maxRetries: 0 });
    assert.equal((await failed(get(client))).retryAfterMs, undefined);
  }
});

test("an error as JSON has what helps, and no key, header or body", async (t) => {
  const echo = (response, { headers }) =>
    response
      .writeHead(500, { "x-request-id": "r-1", "x-echo": headers.authorization })
      .end(JSON.stringify({ error: "Broken", secret: headers.authorization }));
  const { client } = await clientOf(t, echo, { maxRetries: 0 });
  const logged = JSON.parse(
    JSON.stringify(
      await failed(client.createPledgeTransaction(REQUEST, { idempotencyKey: "order-1" })),
    ),
  );
  assert.deepEqual(Object.keys(logged), [
    "name",
    "code",
    "message",
    "status",
    "error",
    "requestId",
    "idempotencyKey",
  ]);
  assert.deepEqual(
    [logged.name, logged.code, logged.status, logged.requestId, logged.idempotencyKey],
    ["ApiError", "api_error", 500, "r-1", "order-1"],
  );
  const invalid = JSON.parse(
    JSON.stringify(await failed(client.createPledgeTransaction({ pledges: Array(100).fill({}) }))),
  );
  assert.deepEqual([invalid.code, invalid.issues.length], ["invalid_request", 20]);
  const refused = await failed(
    get(new PledgeClient({ apiKey: KEY, baseUrl: "http://127.0.0.1:9", maxRetries: 0 })),
  );
  assert.ok(refused instanceof ConnectionError);
  assert.deepEqual(Object.keys(JSON.parse(JSON.stringify(refused))), ["name", "code", "message"]);
});
