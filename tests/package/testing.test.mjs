/**
 * Tests `impact-pledge/testing`: what a test can control and see. `testing-http.test.mjs` sends the requests
 * of tests/fixtures/http to it.
 */
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import test from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { closeIdleConnections, send } from "../support/http-rows.mjs";
import { onLoopback } from "../support/loopback.mjs";
import { REQUEST } from "./mock-server.mjs";
import { packed } from "./packed.mjs";

const project = await packed();
const { createTestService } = await project.load("impact-pledge/testing");
const {
  ApiError,
  AuthenticationError,
  ConnectionError,
  NotFoundError,
  PledgeClient,
  RateLimitError,
  TimeoutError,
} = await project.load();

const KEY = "service_sk_test_dev_unit",
  NOON = "2026-01-31T12:00:00.000Z",
  PATH = "/v2/pledge-transaction";

/** Returns a service, and a client of it. */
function start(options, clientOptions) {
  const service = createTestService(options);
  const { baseUrl, fetch } = service;
  return { service, client: new PledgeClient({ apiKey: KEY, baseUrl, fetch, ...clientOptions }) };
}

const create = (client, options) => client.createPledgeTransaction(REQUEST, options);
const HEADERS = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
const post = (service, init = {}) =>
  service.fetch(PATH, {
    method: "POST",
    body: JSON.stringify(REQUEST),
    headers: HEADERS,
    ...init,
  });
const statuses = (service) => service.requests().map(({ status }) => status);

async function isPending(promise) {
  await turn();
  return (await Promise.race([promise, "pending"])) === "pending";
}

/** Asserts that a promise settles after this time on the service's clock, and not before. */
async function endsAfter(service, promise, ms) {
  assert.ok(await isPending(promise));
  service.advance(ms - 1);
  assert.ok(await isPending(promise));
  service.advance(1);
  return promise;
}

// ---- What is recorded ------------------------------------------------------------------------------

test("a client creates and reads a transaction, and the test sees it", async () => {
  const { service, client } = start({ now: NOON });
  const { id, timelineUrl, createdAt, charge } = await create(client);
  assert.deepEqual([charge.amount, createdAt], ["0.50", NOON]);
  assert.equal(timelineUrl.split("?")[0], `${service.baseUrl}/timeline/${id}`);
  const got = await client.getPledgeTransaction(id);
  assert.deepEqual(service.transactions(), [{ id, unitId: "unit_dev", mode: "test", ...got }]);
  assert.match(await (await service.fetch(timelineUrl)).text(), /Ada/);
});

test("each answer has a request ID of its own", async () => {
  const { service } = start();
  const paths = ["/healthz", "/healthz", `${PATH}/ptran_1`, "/healthz", "/else", "/else"];
  const answers = await Promise.all(paths.map((path) => service.fetch(path, { headers: HEADERS })));
  const ids = new Set(answers.map(({ headers }) => headers.get("x-request-id")));
  assert.equal(ids.size, paths.length);
});

test("custom keys and prices, of a unit and of a team", async () => {
  const keys = [
    { key: "k1", mode: "live", unitId: "shop" },
    { key: "k2", mode: "test", teamId: "team", unitIds: ["a", "b"], label: "the team's" },
  ];
  const catalogue = { currencyCode: "EUR", unitPrices: { tree: "1.005" } };
  const { service, client } = start({ keys, catalogue }, { apiKey: "k1" });
  const { charge, isLive } = await create(client);
  assert.deepEqual([charge, isLive], [{ amount: "1.01", currencyCode: "EUR", paidAt: null }, true]);
  await create(client.with({ apiKey: "k2", unitId: "b" }));
  await assert.rejects(create(client.with({ apiKey: "k2" })), AuthenticationError);
  await assert.rejects(create(client.with({ apiKey: KEY })), AuthenticationError);
  assert.deepEqual(
    service.transactions().map(({ unitId, mode }) => [unitId, mode]),
    [
      ["shop", "live"],
      ["b", "test"],
    ],
  );
  assert.deepEqual(
    service.requests().map(({ headers }) => headers.authorization),
    ["Bearer [API key]", "Bearer the team's", "Bearer the team's", "Bearer [API key]"],
  );
});

test("a live key by plain HTTP: `fetch` answers as the service does, and `handler` serves it by any host", async (t) => {
  const { service } = start();
  const live = { ...HEADERS, authorization: "Bearer service_sk_live_dev_unit" };
  const body = JSON.stringify(REQUEST);
  const statusAt = async (origin) =>
    (await service.fetch(origin + PATH, { method: "POST", headers: live, body })).status;
  assert.equal(await statusAt("http://pledges.example"), 403);
  for (const origin of [service.baseUrl, "http://localhost:8787", "http://127.0.0.1"])
    assert.equal(await statusAt(origin), 200, origin);
  const { origin, close } = await onLoopback(createServer(service.handler));
  t.after(close);
  const headers = { ...live, host: "pledges:8787" }; // of another container
  const { status } = await send(origin, { method: "POST", path: PATH, headers, body });
  assert.equal(status, 200);
  closeIdleConnections();
  assert.deepEqual(statuses(service), [403, 200, 200, 200, 200]);
});

test("the requests are returned as copies, with their bodies and without their keys", async () => {
  const { service, client } = start();
  await create(client, { idempotencyKey: "order-1" });
  await client.getPledgeTransaction("ptran_1").catch(() => {});
  const headers = { authorization: `Basic ${KEY}` };
  await service.fetch("/else?x=1", { method: "PUT", body: "not JSON", headers });
  await service.fetch("/else", { headers: { authorization: KEY } });
  const shown = service.requests();
  assert.deepEqual(
    shown.map(({ method, path, status, body }) => [method, path, status, body]),
    [
      ["POST", PATH, 200, REQUEST],
      ["GET", `${PATH}/ptran_1`, 404, undefined],
      ["PUT", "/else?x=1", 404, "not JSON"],
      ["GET", "/else", 404, undefined],
    ],
  );
  assert.deepEqual(
    shown.map(({ headers }) => headers.authorization),
    ["Bearer development", "Bearer development", "Basic development", "[API key]"],
  );
  assert.equal(shown[0].headers["idempotency-key"], "order-1");
  assert.ok(!JSON.stringify(shown).includes(KEY));
  shown[0].body.reference = shown[0].headers.accept = "changed";
  service.transactions()[0].reference = "changed";
  const [again] = service.requests(),
    [transaction] = service.transactions();
  assert.deepEqual([again.body.reference, transaction.reference], ["order-1", "order-1"]);
  assert.equal(again.headers.accept, undefined);
});

test("the last 1,000 requests are kept, and fewer with long bodies", async () => {
  const { service } = start();
  for (let i = 0; i < 1_005; i++) await service.fetch(`/${i}`);
  assert.equal(service.requests().length, 1_000);
  assert.equal(service.requests()[0].path, "/5");
  const body = JSON.stringify({ ...REQUEST, trigger: { phrase: "x".repeat(1_000_000) } });
  for (let i = 0; i < 20; i++) assert.equal((await post(service, { body })).status, 200);
  assert.equal(service.requests().length, 16);
  assert.equal((await post(service, { body: body + " ".repeat(100_000) })).status, 413);
  assert.equal(service.requests().at(-1).body, undefined);
});

test("two services are independent, and `reset` restores the initial state of one", async () => {
  const [one, two] = [start({ seed: 1, now: NOON }), start({ seed: 1, now: NOON })];
  const { id } = await create(one.client);
  one.service.advance(1_000);
  one.service.fail({ status: 503 });
  const state = ({ service }) => [service.transactions(), service.requests(), service.now()];
  const fresh = [[], [], Date.parse(NOON)];
  assert.deepEqual(state(two), fresh);
  await assert.rejects(two.client.getPledgeTransaction(id), NotFoundError);
  one.service.reset();
  assert.deepEqual(state(one), fresh);
  assert.equal((await create(one.client)).id, id);
});

// ---- Clock and randomness --------------------------------------------------------------------------

test("the same seed gives the same IDs, another seed other IDs, and no seed random IDs", async () => {
  const idsOf = async (seed) => {
    const { service, client } = start({ seed });
    for (let i = 0; i < 20; i++) await create(client);
    return service
      .transactions()
      .flatMap(({ id, timelineUrl, pledges }) => [id, timelineUrl.split("=")[1], pledges[0].id]);
  };
  assert.deepEqual(await idsOf("a"), await idsOf("a"));
  const all = await Promise.all(["a", "b", 1, 2, undefined, undefined].map(idsOf));
  assert.equal(new Set(all.flat()).size, 60 * 6);
});

test("a clock that stands still moves only by `advance`, and without `now` the real time runs", async () => {
  for (const now of [NOON, new Date(NOON), Date.parse(NOON), "2026-01-31T13:00:00+01:00"]) {
    const { service, client } = start({ now });
    assert.equal(service.now(), Date.parse(NOON));
    service.advance(90_000);
    assert.equal((await create(client)).createdAt, "2026-01-31T12:01:30.000Z");
  }
  const { service, client } = start();
  const before = Date.now();
  service.advance(3_600_000);
  const passed = Date.parse((await create(client)).createdAt) - before;
  assert.ok(passed >= 3_600_000 && passed <= 3_600_000 + Date.now() - before, `${passed}`);
});

test("a test runner's fake clock counts as real time", async (t) => {
  const { service, client } = start();
  t.mock.timers.enable({ apis: ["Date", "setTimeout"], now: 0 });
  const { id, createdAt } = await create(client);
  assert.equal(createdAt, "1970-01-01T00:00:00.000Z");
  service.fail({ fault: "slow", delayMs: 5_000 });
  const slow = client.getPledgeTransaction(id);
  assert.ok(await isPending(slow));
  t.mock.timers.tick(4_999);
  assert.ok(await isPending(slow));
  t.mock.timers.tick(1);
  assert.equal((await slow).reference, "order-1");
});

test("`received` waits in real time for what a shop sends later", async (t) => {
  const { service, client } = start({ now: NOON });
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const first = service.received(1);
  assert.ok(await isPending(first));
  await create(client);
  assert.deepEqual(await first, service.requests());
  assert.equal(service.transactions().length, 1);
  service.fail({ fault: "timeout" });
  service.fail({ operation: "create", fault: "lost answer" });
  for (const ended of [post(service), post(service)]) ended.catch(() => {});
  const seen = (await service.received(3)).map(({ status }) => status);
  assert.deepEqual(seen, [200, null, 200]);
  assert.deepEqual(await service.received(2), service.requests(), "they are there already");
  const message = "the service received 3 of 4 requests in 20 ms";
  await assert.rejects(service.received(4, { deadlineMs: 20 }), { name: "Error", message });
  service.reset();
  await assert.rejects(service.received(1, { deadlineMs: 1 }), /received 0 of 1 requests/);
});

test("the service's timeouts and caches follow its own clock", async () => {
  const { service, client } = start({ now: NOON });
  const first = await create(client, { idempotencyKey: "order-1" });
  const stalled = post(service, { body: new ReadableStream({}), duplex: "half" });
  assert.equal((await endsAfter(service, stalled, 5_000)).status, 408);
  service.fail({ fault: "slow", delayMs: 5_000 });
  const slow = create(client);
  await turn();
  assert.equal(service.transactions().length, 2, "it is recorded at once");
  assert.equal((await endsAfter(service, slow, 5_000)).id, service.transactions()[1].id);
  service.advance(86_400_000);
  assert.deepEqual(await create(client, { idempotencyKey: "order-1" }), first);
});

// ---- Faults ----------------------------------------------------------------------------------------

/**
 * Each row has the status of the injected failure, the operation, and the client's error: its class, and a
 * pattern for its body.
 */
const STATUSES = [
  [503, "get", ApiError, /^\{"error":"Service unavailable","message":"The records could not be re/],
  [503, "create", ApiError, /nothing was recorded/],
  [401, "get", AuthenticationError, /^\{"error":"Authentication failed"/],
  [401, "create", AuthenticationError, /^\{"error":"true"/],
  [404, "get", NotFoundError, /^\{"error":"Pledge transaction not found"\}$/],
  [500, "get", ApiError, /made to fail/],
  [429, "get", RateLimitError, /made to fail/],
];

test("faults answer with statuses as the service does, with headers such as `Retry-After`", async () => {
  const { service, client } = start({}, { maxRetries: 0 });
  const { id } = await create(client);
  const calls = { create: () => create(client), get: () => client.getPledgeTransaction(id) };
  const headers = { "Retry-After": "7", "X-Request-Id": "r1" };
  for (const [status, operation, Kind, body] of STATUSES) {
    service.fail({ status, headers });
    await assert.rejects(calls[operation], (error) => {
      assert.ok(error instanceof Kind, error);
      assert.deepEqual([error.status, error.requestId], [status, "r1"]);
      assert.equal(error.retryAfterMs, status === 429 ? 7_000 : undefined);
      assert.match(error.body, body);
      return true;
    });
  }
  await calls.get();
  assert.deepEqual(statuses(service), [200, ...STATUSES.map(([status]) => status), 200]);
  assert.equal(service.transactions().length, 1);
});

test("`times` and `operation` choose the requests that fail, and `restore` ends the fault", async () => {
  const { service, client } = start({}, { maxRetries: 0 });
  const statusOf = (call) =>
    call.then(
      () => 200,
      ({ status }) => status,
    );
  service.fail({ operation: "get", times: 2, status: 502 });
  service.fail({ operation: "create", status: 500 });
  service.fail({ operation: "get", times: Infinity, status: 504 });
  const get = () => statusOf(client.getPledgeTransaction("ptran_1")),
    post = () => statusOf(create(client));
  const seen = [await get(), await post(), await post(), await get(), await get(), await get()];
  assert.deepEqual(seen, [502, 500, 200, 502, 504, 504]);
  service.restore();
  assert.equal(await get(), 404);
  service.fail({ operation: "timeline", status: 503 });
  assert.equal(await get(), 404);
  const page = await service.fetch(`/timeline/ptran_${"a".repeat(42)}`);
  assert.equal(page.status, 503);
  assert.equal(page.headers.get("content-type"), "text/html; charset=utf-8");
  service.fail({ status: 503 });
  assert.equal((await service.fetch("/else")).status, 404, "no operation");
  assert.equal(await get(), 503);
});

/**
 * Faults that lose the answer or the write of a create request. Each row has:
 *
 * - the fault
 * - the statuses of the client's requests with `retryCreates`
 * - a check of the client's error without `retryCreates`
 * - the number of transactions that were recorded without `retryCreates`
 */
const LOST = [
  [
    "lost answer",
    [200, 200],
    (error) => error instanceof ConnectionError && /may have been recorded/.test(error.message),
    2,
  ],
  ["lost write", [503, 200], ({ body }) => /may have been recorded/.test(body), 1],
];

for (const [fault, seen, isExpected, count] of LOST) {
  test(`a ${fault}: with retryCreates one transaction, without them an error`, async () => {
    const { service, client } = start({}, { retryCreates: true });
    service.fail({ operation: "create", fault });
    const { id } = await create(client);
    assert.deepEqual(statuses(service), seen);
    const keys = service.requests().map(({ headers }) => headers["idempotency-key"]);
    assert.equal(new Set(keys).size, 1);
    assert.deepEqual(
      service.transactions().map((transaction) => transaction.id),
      [id],
    );
    service.fail({ fault });
    await assert.rejects(create(client.with({ retryCreates: false })), isExpected);
    assert.equal(service.transactions().length, count);
  });
}

test("no answer: the client gives up, and nothing is recorded", async () => {
  const { service, client } = start({}, { maxRetries: 0, timeoutMs: 50 });
  service.fail({ fault: "timeout", times: 2 });
  await assert.rejects(create(client), TimeoutError);
  assert.deepEqual(service.transactions(), []);
  const [{ status, body }] = service.requests();
  assert.deepEqual([status, body], [null, REQUEST]);
  const reason = new Error("changed my mind"),
    controller = new AbortController();
  const call = service.fetch(`${PATH}/x`, { signal: controller.signal });
  assert.ok(await isPending(call));
  controller.abort(reason);
  await assert.rejects(call, (error) => error === reason);
});

// ---- As a fetch ------------------------------------------------------------------------------------

test("its `fetch` accepts the arguments of the platform's", async () => {
  const { service } = start();
  const address = `${service.baseUrl}${PATH}`,
    body = JSON.stringify(REQUEST),
    bytes = new TextEncoder().encode(body),
    init = { method: "POST", headers: HEADERS, body };
  const stream = { body: new Blob([bytes]).stream(), duplex: "half" };
  const calls = [
    [address, { ...init, method: "post" }],
    [new URL(address), { ...init, headers: new Headers(HEADERS), body: bytes }],
    [new Request(address, init)],
    [new Request(address, { ...init, body: "x" }), { body }],
    [address, { ...init, headers: Object.entries(HEADERS), ...stream }],
    [PATH, { ...init, body: bytes.buffer }],
  ];
  for (const call of calls) assert.equal((await service.fetch(...call)).status, 200);
  assert.equal(service.transactions().length, calls.length);
  for (const request of service.requests()) assert.deepEqual(request.body, REQUEST);
  const signal = AbortSignal.abort();
  const refused = [
    [[address, { body }], { name: "TypeError" }],
    [["https://[broken"], { name: "TypeError" }],
    [[address, { headers: { "a b": "c" } }], { name: "TypeError" }],
    [[address, { signal }], { name: "AbortError" }],
    [[new Request(address, { signal })], { name: "AbortError" }],
  ];
  for (const [call, error] of refused) await assert.rejects(service.fetch(...call), error);
  const options = await service.fetch(address, { method: "OPTIONS" });
  assert.deepEqual([options.status, options.body], [204, null]);
  assert.equal(options.headers.get("allow"), "POST, OPTIONS");
});

test("1,000 calls at once on one signal leave no listener", async () => {
  const { service } = start();
  const { signal } = new AbortController();
  const answers = await Promise.all(Array.from({ length: 1_000 }, () => post(service, { signal })));
  assert.ok(answers.every(({ status }) => status === 200));
  assert.equal(service.transactions().length, 1_000);
  await turn();
  assert.equal(getEventListeners(signal, "abort").length, 0);
});

// ---- As a listener of Node's server ----------------------------------------------------------------

async function listening(t) {
  const service = createTestService();
  const { origin, close } = await onLoopback(createServer(service.handler));
  t.after(close);
  return { service, origin };
}

test("a listener of Node's server: the client, with and without faults", async (t) => {
  const { service, origin } = await listening(t);
  const client = new PledgeClient({ apiKey: KEY, baseUrl: origin, retryCreates: true });
  const { id, timelineUrl } = await create(client);
  assert.ok(timelineUrl.startsWith(`${origin}/timeline/`));
  service.fail({ fault: "lost answer" });
  await create(client);
  service.fail({ fault: "timeout" });
  const stop = new AbortController();
  const unanswered = client.getPledgeTransaction(id, { signal: stop.signal });
  await service.received(4);
  stop.abort();
  await assert.rejects(unanswered, { name: "AbortError" });
  service.fail({ status: 503 });
  await client.getPledgeTransaction(id);
  assert.deepEqual(statuses(service), [200, 200, 200, null, 503, 200]);
  assert.equal(service.transactions().length, 2);
});

/** Sends a text on a connection, and returns the answer; `isCut` closes the connection after the text. */
async function exchange(origin, text, { isCut = false } = {}) {
  const socket = connect(new URL(origin).port, "127.0.0.1");
  let answer = "";
  socket.setEncoding("latin1").on("error", () => {});
  socket.on("data", (data) => (answer += data));
  socket.write(text);
  if (isCut) socket.destroySoon();
  await new Promise((resolve) => socket.on("close", resolve));
  return answer;
}

const AUTHORIZED = `Authorization: Bearer ${KEY}`;
const head = (...lines) => `${lines.join("\r\n")}\r\nConnection: close\r\n\r\n`;
const upload = (...lines) =>
  head(`POST ${PATH} HTTP/1.1`, "Host: a.example", "Content-Type: application/json", ...lines);

/**
 * Raw requests by description. Each has its text, and a pattern for the status of the answer. If the service
 * may close the connection without an answer, the pattern also matches an empty text.
 */
const TEXTS = {
  "an address with two slashes": [head("GET //other.example/x HTTP/1.1", "Host: a.example"), /404/],
  "a host that is none": [head("GET / HTTP/1.1", "Host: a b"), /400/],
  "two keys, which are none": [
    head(`GET ${PATH}/x HTTP/1.1`, "Host: a.example", AUTHORIZED, AUTHORIZED),
    /401/,
  ],
  "a body that is too long": [
    upload(AUTHORIZED, "Content-Length: 2000000") + "x".repeat(2_000_000),
    /413/,
  ],
  "a refused body of 40 MB": [
    upload("Transfer-Encoding: chunked") + `100000\r\n${"x".repeat(2 ** 20)}\r\n`.repeat(40),
    /401|^$/,
  ],
  "a connection that is cut": [`${upload(AUTHORIZED, "Content-Length: 100")}{`, /^$/, true],
};

test("a listener of Node's server: requests that our client never sends", async (t) => {
  const { service, origin } = await listening(t);
  for (const [name, [text, status, isCut]] of Object.entries(TEXTS))
    assert.match((await exchange(origin, text, { isCut })).slice(0, 12), status, name);
  assert.equal(service.requests()[0].path, "//other.example/x");
  const init = { method: "POST", body: JSON.stringify(REQUEST), headers: HEADERS };
  assert.equal((await fetch(origin + PATH, init)).status, 200, "and it goes on");
  assert.equal(service.transactions().length, 1);
});

// ---- Options ---------------------------------------------------------------------------------------

const UNIT = { key: "k", mode: "test", unitId: "u" };
const WRONG = [
  [null, /must be an object, not null/],
  [{ seeds: 1 }, /`seeds` is not an option here; did you mean `seed`\?/],
  [{ keys: UNIT }, /`keys` must be an array/],
  ...[
    [{ ...UNIT, keys: "" }, /did you mean `key`/],
    [{ ...UNIT, key: "" }, /`key` must be/],
    [{ ...UNIT, mode: "prod" }, /`mode` must be one of `test`, `live`/],
    [{ ...UNIT, unitId: "a,b" }, /`unitId` must be/],
    [{ ...UNIT, teamId: "t" }, /either a `unitId`, or a `teamId`/],
    [{ key: "k", mode: "test", teamId: "t", unitIds: [] }, /either a `unitId`, or a `teamId`/],
    [{ ...UNIT, label: "a\nb" }, /`label` must be/],
  ].map(([key, message]) => [{ keys: [key] }, message]),
  ...[
    [{ currencyCode: "CHF", unitPrices: {} }, /`currencyCode` must be one of/],
    [{ currencyCode: "USD", unitPrices: { tree: 0.5 } }, /a plain decimal in quotes/],
    [{ currencyCode: "USD", unitPrices: { tree: "1e3" } }, /a plain decimal in quotes/],
    [{ currencyCode: "USD" }, /`unitPrices` must be an object/],
  ].map(([catalogue, message]) => [{ catalogue }, message]),
  ...["today", "12", NaN, -1, 8e15, {}, true].map((now) => [
    { now },
    /`now` must be a time from 1970 to 9999/,
  ]),
  ...[NaN, true, "x".repeat(1_001)].map((seed) => [{ seed }, /`seed` must be/]),
  [{ allowedOrigins: "https://a.example" }, /must be an array/],
  [{ allowedOrigins: ["*"] }, /must be an origin/],
  [{ publicOrigin: "https://a.example/path" }, /must be an origin/],
];
const WRONG_FAULTS = [
  [undefined, /must be an object/],
  [{}, /pass either a `status` or a `fault`/],
  [{ status: 503, fault: "slow", delayMs: 1 }, /pass either a `status` or a `fault`/],
  [{ status: 200 }, /`status` must be a whole number from 400 to 599/],
  [{ fault: "lost" }, /`fault` must be one of `timeout`, `lost answer`, `lost write`, `slow`/],
  [{ status: 503, times: 0 }, /`times` must be/],
  [{ status: 503, operation: "delete" }, /`operation` must be one of `create`, `get`, `timeline`/],
  [{ fault: "slow" }, /`delayMs` says/],
  [{ status: 503, delayMs: 5 }, /`delayMs` says/],
  [{ fault: "timeout", headers: {} }, /`headers` can be set only together with a `status`/],
  [{ status: 503, headers: { "a b": "c" } }, /`headers` has a name or value/],
  [{ status: 503, operations: "get" }, /did you mean `operation`/],
];

test("an invalid option or fault is named in the error, and too many faults are refused", async () => {
  const { service } = start({ now: NOON });
  const doors = [
    [createTestService, WRONG],
    [service.fail, WRONG_FAULTS],
  ];
  for (const [door, rows] of doors)
    for (const [given, message] of rows)
      assert.throws(() => door(given), { code: "invalid_argument", message }, String(message));
  for (const options of [undefined, { keys: undefined, now: null, seed: null }, { keys: [] }])
    assert.ok(createTestService(options));
  for (const ms of [-1, 1.5, NaN, "1", 9e15])
    assert.throws(() => service.advance(ms), /`ms` must be a whole number/);
  const waits = [
    [[0], "`count` must be a whole number"],
    [["1"], "`count` must be a whole number"],
    [[1, { deadline: 1 }], "did you mean `deadlineMs`?"],
    [[1, { deadlineMs: 0 }], "`deadlineMs` must be a whole number"],
  ];
  for (const [args, part] of waits) {
    const isNamed = ({ code, message }) => code === "invalid_argument" && message.includes(part);
    await assert.rejects(service.received(...args), isNamed, part);
  }
  for (let i = 0; i < 1_000; i++) service.fail({ status: 503 });
  assert.throws(() => service.fail({ status: 503 }), /1000 faults already/);
});
