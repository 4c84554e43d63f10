/** `impact-pledge/testing`: what a test controls, and what it sees. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { getEventListeners } from "node:events";
import test from "node:test";
import { setImmediate as turn } from "node:timers/promises";
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
  NOON = "2026-01-31T12:00:00.000Z";

/** A service, and a client of it. */
function start(options, clientOptions) {
  const service = createTestService(options);
  return {
    service,
    client: new PledgeClient({
      apiKey: KEY,
      baseUrl: service.baseUrl,
      fetch: service.fetch,
      ...clientOptions,
    }),
  };
}

const post = (service, init = {}) =>
  service.fetch(`${service.baseUrl}/v2/pledge-transaction`, {
    method: "POST",
    body: JSON.stringify(REQUEST),
    ...init,
    headers: {
      authorization: `Bearer ${KEY}`,
      "content-type": "application/json",
      ...init.headers,
    },
  });

async function isPending(promise) {
  await turn();
  return (await Promise.race([promise, "pending"])) === "pending";
}

// ---- What is recorded ---------------------------------------------------------------------------------

test("a client creates and reads a transaction, and the test sees it", async () => {
  const { service, client } = start({ now: NOON });
  const created = await client.createPledgeTransaction(REQUEST);
  assert.equal(created.charge.amount, "0.50");
  assert.equal(created.createdAt, NOON);
  assert.equal(created.timelineUrl.split("?")[0], `${service.baseUrl}/timeline/${created.id}`);
  const got = await client.getPledgeTransaction(created.id);
  assert.deepEqual(service.transactions(), [
    { id: created.id, unitId: "unit_dev", mode: "test", ...got },
  ]);
  const page = await service.fetch(created.timelineUrl);
  assert.equal(page.headers.get("content-type"), "text/html; charset=utf-8");
  assert.match(await page.text(), /Ada/);
});

test("keys and prices of one's own: of a unit, and of a team", async () => {
  const keys = [
    { key: "k1", mode: "live", unitId: "shop" },
    { key: "k2", mode: "test", teamId: "team", unitIds: ["a", "b"], label: "the team's" },
  ];
  const { service, client } = start(
    { keys, catalogue: { currencyCode: "EUR", unitPrices: { tree: "1.005" } } },
    { apiKey: "k1" },
  );
  const { charge, isLive } = await client.createPledgeTransaction(REQUEST);
  assert.deepEqual([charge, isLive], [{ amount: "1.01", currencyCode: "EUR", paidAt: null }, true]);
  await client.with({ apiKey: "k2", unitId: "b" }).createPledgeTransaction(REQUEST);
  await assert.rejects(
    client.with({ apiKey: "k2" }).createPledgeTransaction(REQUEST),
    AuthenticationError,
  );
  await assert.rejects(
    client.with({ apiKey: KEY }).createPledgeTransaction(REQUEST),
    AuthenticationError,
  );
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

test("the requests are shown with their bodies and without their keys, as copies", async () => {
  const { service, client } = start();
  await client.createPledgeTransaction(REQUEST, { idempotencyKey: "order-1" });
  await client.getPledgeTransaction("ptran_1").catch(() => {});
  await service.fetch("/else?x=1", {
    method: "PUT",
    body: "not JSON",
    headers: { authorization: `Basic ${KEY}` },
  });
  await service.fetch("/else", { headers: { authorization: KEY } });
  const [create, get, other, bare] = service.requests();
  assert.deepEqual(
    [create.method, create.path, create.status, create.body],
    ["POST", "/v2/pledge-transaction", 200, REQUEST],
  );
  assert.equal(create.headers["idempotency-key"], "order-1");
  assert.deepEqual(
    [get.method, get.path, get.status, get.body],
    ["GET", "/v2/pledge-transaction/ptran_1", 404, undefined],
  );
  assert.deepEqual(
    [other.method, other.path, other.status, other.body],
    ["PUT", "/else?x=1", 404, "not JSON"],
  );
  assert.deepEqual(
    [create, other, bare].map(({ headers }) => headers.authorization),
    ["Bearer development", "Basic development", "[API key]"],
  );
  assert.ok(!JSON.stringify(service.requests()).includes(KEY));
  create.body.reference = create.headers.accept = "changed";
  service.transactions()[0].reference = "changed";
  assert.deepEqual(
    [
      service.requests()[0].body.reference,
      service.requests()[0].headers.accept,
      service.transactions()[0].reference,
    ],
    ["order-1", undefined, "order-1"],
  );
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

// ---- Clock and randomness -----------------------------------------------------------------------------

test("the same seed gives the same ids, another gives others, and none gives random ones", async () => {
  const idsOf = async (options) => {
    const { service, client } = start(options);
    for (let i = 0; i < 20; i++) await client.createPledgeTransaction(REQUEST);
    const all = service
      .transactions()
      .flatMap(({ id, timelineUrl, pledges }) => [id, timelineUrl.split("=")[1], pledges[0].id]);
    assert.equal(new Set(all).size, 60);
    return all;
  };
  const first = await idsOf({ seed: "a" });
  assert.deepEqual(await idsOf({ seed: "a" }), first);
  const others = [
    await idsOf({ seed: "b" }),
    await idsOf({ seed: 1 }),
    await idsOf({ seed: 2 }),
    await idsOf(),
    await idsOf(),
  ];
  assert.equal(new Set([first, ...others].flat()).size, 60 * 6);
});

test("a clock that stands still moves only by `advance`", async () => {
  for (const now of [NOON, new Date(NOON), Date.parse(NOON), "2026-01-31T13:00:00+01:00"]) {
    const { service, client } = start({ now });
    assert.equal(service.now(), Date.parse(NOON));
    service.advance(90_000);
    assert.equal(
      (await client.createPledgeTransaction(REQUEST)).createdAt,
      "2026-01-31T12:01:30.000Z",
    );
  }
});

test("without `now` the real time runs, and can be moved, too", async () => {
  const { service, client } = start();
  const before = Date.now();
  service.advance(3_600_000);
  const { createdAt } = await client.createPledgeTransaction(REQUEST);
  assert.ok(
    Date.parse(createdAt) >= before + 3_600_000 && Date.parse(createdAt) <= Date.now() + 3_600_000,
  );
});

test("a test runner's own clock is the real time, too", async (t) => {
  const { service, client } = start();
  t.mock.timers.enable({ apis: ["Date", "setTimeout"], now: 0 });
  const { id, createdAt } = await client.createPledgeTransaction(REQUEST);
  assert.equal(createdAt, "1970-01-01T00:00:00.000Z");
  service.fail({ fault: "slow", delayMs: 5_000 });
  const slow = client.getPledgeTransaction(id);
  assert.ok(await isPending(slow));
  t.mock.timers.tick(4_999);
  assert.ok(await isPending(slow));
  t.mock.timers.tick(1);
  assert.equal((await slow).reference, "order-1");
});

test("an idempotent replay lives as long as the service's clock says, not the test's", async () => {
  const { service, client } = start({ now: NOON });
  const first = await client.createPledgeTransaction(REQUEST, { idempotencyKey: "order-1" });
  service.advance(86_400_000);
  assert.deepEqual(
    await client.createPledgeTransaction(REQUEST, { idempotencyKey: "order-1" }),
    first,
  );
  assert.equal(service.transactions().length, 1);
  await assert.rejects(
    client.createPledgeTransaction(
      { ...REQUEST, reference: "order-2" },
      { idempotencyKey: "order-1" },
    ),
    { status: 422 },
  );
});

test("an upload that stands still is given up when the service's clock says so", async () => {
  const { service } = start({ now: NOON });
  const answer = post(service, { body: new ReadableStream({}), duplex: "half" });
  assert.ok(await isPending(answer));
  service.advance(29_999);
  assert.ok(await isPending(answer));
  service.advance(1);
  assert.equal((await answer).status, 400);
});

// ---- Faults -------------------------------------------------------------------------------------------

test("statuses, as the service answers them", async () => {
  const { service, client } = start({}, { maxRetries: 0 });
  const { id } = await client.createPledgeTransaction(REQUEST, { idempotencyKey: "x" });
  const fails = (status, Kind, message, call = () => client.getPledgeTransaction(id)) => {
    service.fail({ status });
    return assert.rejects(
      call,
      (error) => error instanceof Kind && error.status === status && message.test(error.body),
    );
  };
  await fails(
    503,
    ApiError,
    /^\{"error":"Service unavailable","message":"The records could not be read, and nothing was recorded/,
  );
  await fails(503, ApiError, /nothing was recorded/, () =>
    client.createPledgeTransaction(REQUEST, { idempotencyKey: "x" }),
  );
  await fails(401, AuthenticationError, /^\{"error":"Authentication failed"/);
  await fails(401, AuthenticationError, /^\{"error":"true"/, () =>
    client.createPledgeTransaction(REQUEST),
  );
  await fails(404, NotFoundError, /^\{"error":"Pledge transaction not found"\}$/);
  await fails(500, ApiError, /made to fail/);
  await fails(429, RateLimitError, /made to fail/);
  assert.equal((await client.getPledgeTransaction(id)).reference, "order-1");
  assert.deepEqual(
    service.requests().map(({ status }) => status),
    [200, 503, 503, 401, 401, 404, 500, 429, 200],
  );
  assert.equal(service.transactions().length, 1);
});

test("headers of a status, such as how long to wait", async () => {
  const { service, client } = start({}, { maxRetries: 0 });
  service.fail({ status: 429, headers: { "Retry-After": "7", "X-Request-Id": "r1" } });
  await assert.rejects(client.getPledgeTransaction("ptran_1"), {
    retryAfterMs: 7_000,
    requestId: "r1",
  });
});

test("`times` and `operation` say which requests fail, and `restore` ends it", async () => {
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
    create = () => statusOf(client.createPledgeTransaction(REQUEST));
  assert.deepEqual(
    [await get(), await create(), await create(), await get(), await get(), await get()],
    [502, 500, 200, 502, 504, 504],
  );
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

test("reads are repeated until the service answers", async () => {
  const { service, client } = start();
  const { id } = await client.createPledgeTransaction(REQUEST);
  service.fail({ operation: "get", times: 2, status: 429, headers: { "retry-after": "0" } });
  assert.equal((await client.getPledgeTransaction(id)).reference, "order-1");
  assert.equal(service.requests().length, 4);
});

test("a lost answer: with safe repeats one transaction, without them an error and one transaction", async () => {
  const { service, client } = start({}, { safeRepeats: true });
  service.fail({ operation: "create", fault: "lost answer", times: 2 });
  const { id } = await client.createPledgeTransaction(REQUEST);
  const requests = service.requests();
  assert.deepEqual(
    requests.map(({ status }) => status),
    [200, 200, 200],
  );
  assert.equal(new Set(requests.map(({ headers }) => headers["idempotency-key"])).size, 1);
  assert.deepEqual(
    service.transactions().map((transaction) => transaction.id),
    [id],
  );

  service.fail({ fault: "lost answer" });
  await assert.rejects(
    client.with({ safeRepeats: false }).createPledgeTransaction(REQUEST),
    (error) =>
      error instanceof ConnectionError &&
      error.cause.name === "TypeError" &&
      /may have been recorded/.test(error.message),
  );
  assert.equal(service.transactions().length, 2);
});

test("a lost write is the 503 that leaves open whether it was recorded", async () => {
  const { service, client } = start({}, { safeRepeats: true });
  service.fail({ operation: "create", fault: "lost write" });
  await client.createPledgeTransaction(REQUEST);
  assert.deepEqual(
    service.requests().map(({ status }) => status),
    [503, 200],
  );
  assert.equal(service.transactions().length, 1);
  service.fail({ fault: "lost write" });
  await assert.rejects(
    client.with({ safeRepeats: false }).createPledgeTransaction(REQUEST),
    ({ status, body }) => status === 503 && /may have been recorded/.test(body),
  );
  assert.equal(service.transactions().length, 1);
});

test("no answer: the client gives up, and nothing is recorded", async () => {
  const { service, client } = start({}, { maxRetries: 0, timeoutMs: 50 });
  service.fail({ fault: "timeout" });
  await assert.rejects(client.createPledgeTransaction(REQUEST), TimeoutError);
  assert.deepEqual(service.transactions(), []);
  assert.deepEqual(
    service.requests().map(({ status, body }) => [status, body]),
    [[null, REQUEST]],
  );
  service.fail({ fault: "timeout" });
  const reason = new Error("changed my mind"),
    controller = new AbortController();
  const call = service.fetch("/v2/pledge-transaction/x", { signal: controller.signal });
  assert.ok(await isPending(call));
  controller.abort(reason);
  await assert.rejects(call, (error) => error === reason);
});

test("a slow answer is recorded at once and comes by the service's clock", async () => {
  const { service, client } = start({ now: NOON });
  service.fail({ fault: "slow", delayMs: 5_000 });
  const call = client.createPledgeTransaction(REQUEST);
  assert.ok(await isPending(call));
  assert.equal(service.transactions().length, 1);
  service.advance(4_999);
  assert.ok(await isPending(call));
  service.advance(1);
  assert.equal((await call).id, service.transactions()[0].id);

  const real = start();
  real.service.fail({ fault: "slow", delayMs: 1 });
  await real.client.createPledgeTransaction(REQUEST);
  real.service.fail({ fault: "slow", delayMs: 3_600_000 });
  const slow = real.service.fetch("/v2/pledge-transaction/x");
  assert.ok(await isPending(slow));
  real.service.advance(3_600_000);
  assert.equal((await slow).status, 401);
});

// ---- As a fetch ---------------------------------------------------------------------------------------

test("it takes what a `fetch` takes", async () => {
  const { service } = start();
  const address = `${service.baseUrl}/v2/pledge-transaction`,
    headers = { Authorization: `Bearer ${KEY}`, "Content-Type": "application/json" };
  const body = JSON.stringify(REQUEST),
    bytes = new TextEncoder().encode(body);
  const calls = [
    [address, { method: "post", headers, body }],
    [new URL(address), { method: "POST", headers: new Headers(headers), body: bytes }],
    [new Request(address, { method: "POST", headers, body })],
    [new Request(address, { method: "POST", headers, body: "x" }), { body }],
    [
      address,
      {
        method: "POST",
        headers: Object.entries(headers),
        body: new Blob([bytes]).stream(),
        duplex: "half",
      },
    ],
    ["/v2/pledge-transaction", { method: "POST", headers, body: bytes.buffer }],
  ];
  for (const call of calls) assert.equal((await service.fetch(...call)).status, 200);
  assert.equal(service.transactions().length, calls.length);
  assert.deepEqual(
    service.requests().map((request) => request.body),
    calls.map(() => REQUEST),
  );
  await assert.rejects(service.fetch(address, { body }), TypeError);
  await assert.rejects(service.fetch("https://[broken"), TypeError);
  await assert.rejects(service.fetch(address, { headers: { "a b": "c" } }), TypeError);
  await assert.rejects(service.fetch(address, { signal: AbortSignal.abort() }), {
    name: "AbortError",
  });
  await assert.rejects(service.fetch(new Request(address, { signal: AbortSignal.abort() })), {
    name: "AbortError",
  });
  const options = await service.fetch(address, { method: "OPTIONS" });
  assert.deepEqual(
    [options.status, options.body, options.headers.get("allow")],
    [204, null, "POST, OPTIONS"],
  );
});

test("1,000 calls at once on one signal leave no listener, ended or not", async () => {
  const { service } = start();
  const { signal } = new AbortController();
  const answers = await Promise.all(Array.from({ length: 1_000 }, () => post(service, { signal })));
  assert.ok(answers.every(({ status }) => status === 200));
  assert.equal(service.transactions().length, 1_000);
  await turn();
  assert.equal(getEventListeners(signal, "abort").length, 0);
});

test("two services do not see each other, and `reset` makes one as it was created", async () => {
  const [one, two] = [start({ seed: 1, now: NOON }), start({ seed: 1, now: NOON })];
  const { id } = await one.client.createPledgeTransaction(REQUEST);
  one.service.advance(1_000);
  one.service.fail({ status: 503 });
  assert.deepEqual(
    [two.service.transactions(), two.service.requests(), two.service.now()],
    [[], [], Date.parse(NOON)],
  );
  await assert.rejects(two.client.getPledgeTransaction(id), NotFoundError);
  one.service.reset();
  assert.deepEqual(
    [one.service.transactions(), one.service.requests(), one.service.now()],
    [[], [], Date.parse(NOON)],
  );
  assert.equal((await one.client.createPledgeTransaction(REQUEST)).id, id);
});

test("nothing of the process is changed, and no code is made of text", () => {
  const script = `
    import assert from "node:assert/strict";
    const shown = () => Reflect.ownKeys(globalThis).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name).value]);
    process.on("warning", (warning) => assert.fail(warning));
    new Response(new Request("http://x").body); // Node makes a global of its own with the first
    const listeners = () => process.eventNames().map((name) => [name, process.listenerCount(name)]);
    const [globals, before] = [shown(), listeners()];
    const { createTestService } = await import("impact-pledge/testing");
    const service = createTestService();
    const response = await service.fetch("/v2/pledge-transaction", { method: "POST", body: ${JSON.stringify(JSON.stringify(REQUEST))}, headers: { authorization: "Bearer ${KEY}", "content-type": "application/json" } });
    assert.equal(response.status, 200);
    assert.deepEqual(shown().map(([name]) => name), globals.map(([name]) => name));
    for (const [index, [name, value]] of shown().entries()) assert.ok(Object.is(value, globals[index][1]), String(name));
    assert.deepEqual(listeners(), before);`;
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--disallow-code-generation-from-strings", "--input-type=module", "--eval", script],
    { cwd: project.folder, encoding: "utf8" },
  );
  assert.equal(status, 0, stderr);
});

// ---- Options ------------------------------------------------------------------------------------------

const KEYS = { key: "k", mode: "test", unitId: "u" };
const WRONG = [
  [null, /must be an object, not null/],
  [{ seeds: 1 }, /`seeds` is not an option here; did you mean `seed`\?/],
  [{ keys: KEYS }, /`keys` must be an array/],
  [{ keys: [{ ...KEYS, keys: "" }] }, /did you mean `key`/],
  [{ keys: [{ ...KEYS, key: "" }] }, /`key` must be/],
  [{ keys: [{ ...KEYS, mode: "prod" }] }, /`mode` must be one of `test`, `live`/],
  [{ keys: [{ ...KEYS, unitId: "a,b" }] }, /`unitId` must be/],
  [{ keys: [{ ...KEYS, teamId: "t" }] }, /either a `unitId`, or a `teamId`/],
  [
    { keys: [{ key: "k", mode: "test", teamId: "t", unitIds: [] }] },
    /either a `unitId`, or a `teamId`/,
  ],
  [{ keys: [{ ...KEYS, label: "a\nb" }] }, /`label` must be/],
  [{ catalogue: { currencyCode: "CHF", unitPrices: {} } }, /`currencyCode` must be one of/],
  [{ catalogue: { currencyCode: "USD", unitPrices: { tree: 0.5 } } }, /a plain decimal in quotes/],
  [
    { catalogue: { currencyCode: "USD", unitPrices: { tree: "1e3" } } },
    /a plain decimal in quotes/,
  ],
  [{ catalogue: { currencyCode: "USD" } }, /`unitPrices` must be an object/],
  ...["today", "12", NaN, -1, 8e15, {}, true].map((now) => [
    { now },
    /`now` must be a time from 1970 to 9999/,
  ]),
  ...[NaN, true, "x".repeat(1_001)].map((seed) => [{ seed }, /`seed` must be/]),
  [{ allowedOrigins: "https://a.example" }, /must be an array/],
  [{ allowedOrigins: ["*"] }, /must be an origin/],
  [{ publicOrigin: "https://a.example/path" }, /must be an origin/],
];

test("an option that is wrong is named", () => {
  for (const [options, message] of WRONG)
    assert.throws(
      () => createTestService(options),
      { code: "invalid_argument", message },
      JSON.stringify(options),
    );
  for (const options of [
    undefined,
    {},
    { keys: undefined, now: null, seed: null },
    { keys: [] },
    { now: 0 },
  ])
    assert.ok(createTestService(options));
});

const WRONG_FAULTS = [
  [undefined, /must be an object/],
  [{}, /has a `status` or a `fault`/],
  [{ status: 503, fault: "slow", delayMs: 1 }, /has a `status` or a `fault`/],
  [{ status: 200 }, /`status` must be a whole number from 400 to 599/],
  [{ fault: "lost" }, /`fault` must be one of `timeout`, `lost answer`, `lost write`, `slow`/],
  [{ status: 503, times: 0 }, /`times` must be/],
  [{ status: 503, operation: "delete" }, /`operation` must be one of `create`, `get`, `timeline`/],
  [{ fault: "slow" }, /`delayMs` says/],
  [{ status: 503, delayMs: 5 }, /`delayMs` says/],
  [{ fault: "timeout", headers: {} }, /`headers` are those of a `status`/],
  [{ status: 503, headers: { "a b": "c" } }, /`headers` has a name or value/],
  [{ status: 503, operations: "get" }, /did you mean `operation`/],
];

test("an invalid fault is refused, and so are too many", () => {
  const { service } = start({ now: NOON });
  for (const [fault, message] of WRONG_FAULTS)
    assert.throws(
      () => service.fail(fault),
      { code: "invalid_argument", message },
      JSON.stringify(fault),
    );
  for (const ms of [-1, 1.5, NaN, "1", 9e15])
    assert.throws(() => service.advance(ms), /`ms` must be a whole number/);
  for (let i = 0; i < 1_000; i++) service.fail({ status: 503 });
  assert.throws(() => service.fail({ status: 503 }), /1000 faults already/);
});

test("the CommonJS module is the same", async () => {
  const service = project.require("impact-pledge/testing").createTestService({ seed: 1 });
  assert.equal((await post(service)).status, 200);
  const same = createTestService({ seed: 1 });
  await post(same);
  assert.equal(service.transactions()[0].id, same.transactions()[0].id);
});
