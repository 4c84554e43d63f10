/**
 * Tests the memory of an isolate, which has 128 MB. Measures how much memory refused callers hold, and how far
 * the worst requests make WebAssembly's memory grow, because it never shrinks. By default, a third of the
 * requests of each kind are sent. `CROWDS=all` sends all of them.
 */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import test, { after, before } from "node:test";
import { send } from "../e2e/worker.mjs";
import { until } from "../support/until.mjs";
import { KEY, PATH, memoryOf, stall, startWorkerd } from "./workerd.mjs";

const MB = 1_000_000;
const MIB = 1024 * 1024;
const ONE_REQUEST = 24 * MIB;
const REQUESTS_AT_ONCE = 60 * MIB;
const AT_ONCE = 64;
const LARGE = "x".repeat(30 * MB);
/** Headers that make the Worker's timers so slow that no deadline passes while a test runs. */
const SLOW = { "x-speed": "0.001" };
/** The number of refused bodies that are discarded at the same time: `MAX_DRAINS` in `src/doors/cloudflare/request.rs`. */
const DRAINS = 32;

let server, close, idle;
/** The complete log so far. `server.output` drops lines when many requests are sent at once. */
let output = "";
before(async () => {
  ({ server, close } = await startWorkerd("tests/server/stand-ins.mjs"));
  server.child.stdout.on("data", (text) => (output += text));
  assert.equal((await create(wrap(pledge()))).status, 200);
  assert.equal((await refused()).status, 401); // loads everything that is loaded once
  idle = await memoryOf(server);
});
after(() => close?.());

const post = (body, headers) => send(server.origin, { method: "POST", path: PATH, headers, body });
const refused = () => post(LARGE, { "content-type": "application/json", ...SLOW });
const create = (body, headers = {}) =>
  post(body, {
    authorization: `Bearer ${KEY}`,
    "content-type": "application/json",
    "x-ledger": "the queue hangs", // so that messages are held for the longest time
    ...SLOW,
    ...headers,
  });
const grown = async () => (await memoryOf(server)).wasm - idle.wasm;

// ---- Callers who hang up or stall ----------------------------------------------------------------

const HEAD = `POST ${PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
const STALLS = {
  announced: `${HEAD}Content-Length: ${30 * MB}\r\n\r\n{`,
  "in pieces": `${HEAD}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`,
};
const stallAll = (count, bytes, at = server) =>
  Promise.all(Array.from({ length: count }, () => stall(at, bytes)));

// This test runs first: a leak would fit into memory that a larger test has freed.
test("callers who hang up while they wait leave nothing behind", async () => {
  const head = `GET ${PATH}/ptran_${"a".repeat(42)} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${KEY}\r\n`;
  const reads = (call) => output.split(`{"${call}":"transaction"`).length - 1;
  let left = 0;
  const leave = async () => {
    left += 100;
    const callers = await stallAll(100, `${head}X-Stand-In: KV is slow\r\n\r\n`);
    await until(() => reads("asked") === left);
    for (const { hangUp } of callers) hangUp();
    await until(() => reads("answers") === left);
  };
  await leave();
  const before = await grown();
  for (let times = 0; times < 10; times += 1) await leave();
  assert.equal(await grown(), before);
});

for (const [kind, bytes] of Object.entries(STALLS))
  test(`500 callers without a key who stall in a large body, ${kind}: all but ${DRAINS} get their 401 at once, and memory stays bounded`, async (t) => {
    const { server: own, close } = await startWorkerd("tests/server/stand-ins.mjs"); // another may have the memory already
    assert.equal((await send(own.origin, { method: "POST", path: PATH })).status, 401);
    const before = await memoryOf(own);
    const slow = bytes.replace("\r\n", `\r\nX-Speed: ${SLOW["x-speed"]}\r\n`);
    const callers = await stallAll(500, slow, own);
    t.after(() => {
      for (const { hangUp } of callers) hangUp();
      return close(); // waits for requests that have not ended
    });
    const statuses = [];
    for (const { answer } of callers)
      answer.then((text) => void statuses.push(text.slice(0, "HTTP/1.1 401".length)));
    await until(() => statuses.length >= 500 - DRAINS);
    const busy = await memoryOf(own);
    assert.deepEqual(statuses, Array(500 - DRAINS).fill("HTTP/1.1 401"));
    t.diagnostic(JSON.stringify({ before, busy }));
    assert.ok(busy.heap - before.heap < 16 * MB, "what JavaScript holds");
    assert.ok(busy.wasm - before.wasm < 4 * MB, "wasm's memory");
    assert.ok(busy.resident === null || busy.resident - before.resident < 64 * MB, "the process");
  });

test("callers who stall get their 401 after a while, and make room for callers who send a large body completely", async (t) => {
  const callers = await stallAll(
    2 * DRAINS,
    STALLS.announced.replace("\r\n", "\r\nX-Speed: 10\r\n"),
  );
  t.after(() => {
    for (const { hangUp } of callers) hangUp();
  });
  for (const { answer } of callers) assert.match(await answer, /^HTTP\/1\.1 401/);
  await until(async () => {
    const answer = await refused().catch(() => null); // broken while no slot is free
    return answer?.status === 401 && answer.text.includes("Check the API key");
  });
});

// ---- The worst requests --------------------------------------------------------------------------

const wrap = (pledges, more = "") =>
  `{"reference":"r","recipient":{"email":"a@b"${more}},"pledges":[${pledges}]}`;
const repeat = (item, count) => Array(count).fill(item).join(",");
const filling = (item) => repeat(item, Math.floor((MIB - 200) / (item.length + 1)));
const pledge = (offeringId = "t", detail = "") =>
  `{"impact":{"amount":1,"offeringId":"${offeringId}"}${detail && `,"detail":${detail}`}}`;
const numbered = (count, item) => Array.from({ length: count }, (_, index) => item(index)).join();
const link = `"image":"https://i.example/i","externalUrl":"https://i.example/e"`;
const named = (name) => pledge("t", `{"name":"${name}",${link}}`);
const greatest = `{"impact":{"amount":1.7976931348623157e308,"offeringId":"tree"}}`;
const amounts = (offeringId) =>
  [1e308, 5e-324].map((amount) => JSON.stringify({ impact: { amount, offeringId } })).join();
const described = pledge("t", `{"name":"${"&".repeat(200)}","description":"${"<".repeat(500)}"}`);

/** Request bodies of at most 1 MiB, each with the expected status. */
const WORST = {
  "nothing but valid pledges, more than a record holds": [413, wrap(filling(pledge()))],
  "as many valid pledges as a record holds": [200, wrap(repeat(pledge(), 11_500))],
  "as many greatest amounts as a record holds": [200, wrap(repeat(greatest, 10_000))],
  "as many offerings as a record holds": [
    200,
    wrap(numbered(11_000, (index) => pledge(`offering-${index}`))),
  ],
  "offerings whose sums have hundreds of digits": [
    200,
    wrap(numbered(5_500, (index) => amounts(`${index}`))),
  ],
  "nothing but empty pledges": [400, `{"reference":1,"pledges":[${filling("{}")}]}`],
  "valid pledges, and a problem at the end": [400, `${wrap(filling(pledge())).slice(0, -2)},{}]}`],
  "5,000 pledges with texts": [
    200,
    wrap(repeat(pledge("t", `{"name":"${"n".repeat(99)}"}`), 5_000)),
  ],
  "a recipient's name, in each of many pledges": [
    200,
    wrap(repeat(pledge(), 9), `,"name":"${"n".repeat(300_000)}"`),
  ],
  "a name of escapes": [200, wrap(named("\\u00e9".repeat(160_000)))],
  "a name that HTML escapes": [200, wrap(named("&".repeat(1_000_000)))],
  "many names that HTML escapes": [200, wrap(repeat(described, 1_000))],
  "unknown members": [400, `{${numbered(90_000, (index) => `"${index}":0`)}}`],
  "unknown members with long names": [
    400,
    `{${numbered(10, (index) => `"\\n${String(index).repeat(100_000)}":0`)}}`,
  ],
  "one member again and again": [400, `{${repeat(`"reference":0`, 65_000)}}`],
  "a number of a million digits": [
    200,
    wrap(`{"impact":{"amount":1.${"0".repeat(1_000_000)}1,"offeringId":"t"}}`),
  ],
  brackets: [400, "[".repeat(MIB)],
};
const ALL = process.env.CROWDS === "all";
const CROWDS = Object.entries(WORST).slice(0, ALL ? undefined : 1);
/** Returns a third of a number, rounded up. With `CROWDS=all`, returns the number itself. */
const parts = (count) => Math.ceil(count / (ALL ? 1 : 3));

/** Creates a transaction, reads it, and opens its page. */
async function walk(body, headers) {
  const answer = await create(body, headers);
  if (answer.status !== 200) return answer.status;
  const { id, timelineUrl } = JSON.parse(answer.text);
  const { pathname, search } = new URL(timelineUrl);
  const shown = async (path, headers) =>
    (await send(server.origin, { method: "GET", path, headers })).status;
  const record = await shown(`${PATH}/${id}`, { authorization: `Bearer ${KEY}` });
  assert.deepEqual([record, await shown(pathname + search)], [200, 200]);
  return 200;
}

test("one request after the other, the memory grows by at most 24 MiB in all", async (t) => {
  for (const [name, [status, body]] of Object.entries(WORST))
    await t.test(name, async (t) => {
      assert.ok(Buffer.byteLength(body) <= MIB, `${Buffer.byteLength(body)} bytes`);
      for (const headers of [{}, { "idempotency-key": name }, { "idempotency-key": name }])
        assert.equal(await walk(body, headers), status);
      const bytes = await grown();
      t.diagnostic(`${(bytes / MIB).toFixed(1)} MiB`);
      assert.ok(bytes <= ONE_REQUEST, `${bytes} bytes`);
    });
});

/** Sends many requests at once. Each gets the expected answer, or a temporary refusal that says when to retry. */
async function crowd(t, name, allowed, bodyOf) {
  const answers = await Promise.all(
    Array.from({ length: AT_ONCE }, (_, index) =>
      create(bodyOf(index), { "idempotency-key": `${name} ${index}` }),
    ),
  );
  const full = answers.filter(({ status }) => status === 503);
  for (const { headers, text } of full) {
    assert.equal(headers["retry-after"], "1");
    assert.match(JSON.parse(text).message, /nothing was recorded/);
  }
  const statuses = new Set(answers.map(({ status }) => status));
  assert.deepEqual([...statuses.difference(new Set([...allowed, 503]))], []);
  assert.ok(full.length < AT_ONCE, "all are refused");
  const bytes = await grown();
  t.diagnostic(`${(bytes / MIB).toFixed(1)} MiB, ${full.length} times 503`);
  assert.ok(bytes <= REQUESTS_AT_ONCE, `${bytes} bytes`);
}

test(`${AT_ONCE} at once: the memory grows by at most 60 MiB in all`, async (t) => {
  const all = Object.values(WORST);
  const kinds = new Set(all.map(([status]) => status));
  await t.test("of all kinds", (t) => crowd(t, "all", kinds, (at) => all[at % all.length][1]));
  for (const [name, [status, body]] of CROWDS)
    await t.test(name, (t) => crowd(t, name, [status], () => body));
});

const [, LARGEST] = WORST["as many valid pledges as a record holds"];

/** Creates a transaction, and returns the path of its page. */
async function pageOf(body) {
  const { pathname, search } = new URL(JSON.parse((await create(body)).text).timelineUrl);
  return pathname + search;
}
const show = (path, headers = {}) => send(server.origin, { method: "GET", path, headers });

/**
 * Headers that make KV slow, as if KV were far away. Many requests with these headers wait for KV at the same
 * time.
 */
const FAR = { "x-stand-in": "KV is slow", ...SLOW };
const STALLING = "service_sk_live_dev_unit";
const REPEATING = { key: "service_sk_live_dev_team", "x-service-unit-id": "unit_dev_two" };
const OTHER = "service_sk_test_dev_unit_two";
const createFar = (body, { key = KEY, ...headers } = {}) =>
  create(body, { ...FAR, authorization: `Bearer ${key}`, ...headers });
const many = (count, one) => Promise.all(Array.from({ length: count }, one));
const statuses = (answers) => [...new Set(answers.map(({ status }) => status))].sort();

test(`${parts(96)} pages of the largest record, ${parts(256)} repeats, ${parts(64)} bodies of 1 MiB and ${parts(500)} callers who stall, at once: the creates of another unit are served, in 64 MiB`, async (t) => {
  const page = await pageOf(LARGEST);
  const head = `${HEAD}Authorization: Bearer ${STALLING}\r\n`;
  const stalled = await Promise.all([
    stallAll(parts(200), `${head}Content-Length: ${MIB}\r\n\r\n{`),
    stallAll(parts(200), `${head}Content-Length: 65536\r\n\r\n{`),
    stallAll(parts(100), `${head}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`),
  ]);
  t.after(() => {
    for (const { hangUp } of stalled.flat()) hangUp();
  });
  let isOver = false;
  const crowds = Promise.all([
    many(parts(96), () => show(page, FAR)),
    many(parts(256), () => createFar(LARGEST, { ...REPEATING, "idempotency-key": "repeated" })),
    many(parts(64), () => createFar(wrap(named("n".repeat(MIB - 300))))),
  ]).finally(() => {
    isOver = true;
  });
  const small = [pledge(), named("n".repeat(64_000)), repeat(pledge(), 1_500)];
  const served = [];
  while (!isOver || served.length < 30)
    served.push(
      ...(await Promise.all(small.map((pledges) => createFar(wrap(pledges), { key: OTHER })))),
    );
  const { wasm } = await memoryOf(server);
  t.diagnostic(`${(wasm / MIB).toFixed(1)} MiB, ${served.length} served`);
  assert.deepEqual(statuses(served), [200]);
  for (const answers of await crowds) {
    assert.ok(answers.some(({ status }) => status === 200));
    assert.deepEqual([...new Set(statuses(answers)).difference(new Set([200, 503]))], []);
  }
  assert.ok(wasm <= 64 * MIB, `${wasm} bytes`);
  assert.doesNotMatch(server.output, /broke and restarts/);
});

/**
 * Stores an old transaction of a month that is marked as paid. The answer to a get request for this transaction
 * is streamed, so the caller decides how much of the record is read.
 */
async function paidRecord(reference) {
  const created = await create(wrap(repeat(pledge(), 2_000)));
  const { id } = JSON.parse(created.text);
  const name = `transaction:${id}`;
  const { value, metadata } = await server.record(name);
  const record = JSON.stringify({ ...JSON.parse(value), reference });
  metadata.summary.createdAt = "2020-01-15T12:00:00.000Z";
  await server.seed([
    { key: name, value: record, metadata: { ...metadata, bytes: record.length } },
    {
      key: "settlement:test:unit_dev:2020-01",
      value: JSON.stringify({ paidAt: "2020-02-05T00:00:00.000Z" }),
    },
  ]);
  return { path: `${PATH}/${id}`, record };
}

test("a large paid record has its date of payment, wherever it is cut into pieces", async () => {
  const PIECE = 16 * 1024;
  for (const length of [1, PIECE - 130, PIECE - 125, PIECE - 120, PIECE - 115, 200_000]) {
    const quoted = `","paidAt":null,"`;
    const { path, record } = await paidRecord("r".repeat(length) + quoted);
    const answer = await show(path, { authorization: `Bearer ${KEY}` });
    const paid = record.replace(`"paidAt":null}`, `"paidAt":"2020-02-05T00:00:00.000Z"}`);
    assert.equal(answer.status, 200);
    assert.ok(answer.text === paid, `${length}: ${answer.text.slice(0, 300)}`);
  }
});

/** What callers with a valid API key send before they stop sending. */
const HELD = {
  "a small body, its first byte": "Content-Length: 65536\r\n\r\n{",
  "a small body, nothing": "Content-Length: 65536\r\n\r\n",
  "a body of 1 MiB, nothing": `Content-Length: ${MIB}\r\n\r\n`,
  "a body in pieces, half of 64 KiB": `Transfer-Encoding: chunked\r\n\r\n8000\r\n${"x".repeat(0x8000)}\r\n`,
};

test("the keys of one team, of both modes, hold what they can: the creates of others are served", async (t) => {
  for (const [what, bytes] of Object.entries(HELD))
    await t.test(what, async (t) => {
      const heads = ["live", "test"].flatMap((mode) =>
        ["unit_dev", "unit_dev_two"].map(
          (unit) =>
            `${HEAD}Authorization: Bearer service_sk_${mode}_dev_team\r\nX-Service-Unit-Id: ${unit}\r\n${bytes}`,
        ),
      );
      const stalled = (await Promise.all(heads.map((head) => stallAll(120, head)))).flat();
      t.after(() => {
        for (const { hangUp } of stalled) hangUp();
      });
      await sleep(300);
      const served = await many(8, () => create(wrap(named("n".repeat(60_000)))));
      served.push(await create(LARGEST));
      assert.deepEqual(statuses(served), [200]);
    });
});

test("callers who hang up while they send leave nothing behind", async () => {
  const head = `${HEAD}Authorization: Bearer ${KEY}\r\n`;
  for (const framing of [
    `Content-Length: ${MIB}\r\n\r\n{`,
    `Transfer-Encoding: chunked\r\n\r\n80000\r\n${"x".repeat(0x80000 - 1)}`,
  ]) {
    const callers = await stallAll(60, head + framing);
    await sleep(500);
    for (const { hangUp } of callers) hangUp();
    await until(async () => (await create(wrap(named("n".repeat(900_000))))).status === 200);
  }
  assert.ok((await grown()) <= REQUESTS_AT_ONCE);
});
