/**
 * Tests the Worker while the platform fails or hangs, and after an instance of the Worker has broken. Also
 * tests how the Worker reads Workers KV.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import test, { after, before } from "node:test";
import { closeIdleConnections, create, get, send } from "../e2e/worker.mjs";
import { KEY, PATH, stall, startWorkerd } from "./workerd.mjs";

const TRANSACTION = {
  reference: "order-1",
  recipient: { email: "ada@example.org" },
  pledges: [{ impact: { amount: 1, offeringId: "tree" } }],
};

let server, close;
before(async () => ({ server, close } = await startWorkerd("tests/server/stand-ins.mjs")));
after(() => close?.());

const order = (headers, key = KEY) => create(server.origin, key, TRANSACTION, headers);
let last = 0;
/** Sends a request with a new API key. No cache knows that key, so the Worker must read KV. */
function ask(standIn, more = {}) {
  last += 1;
  return order({ "x-stand-in": standIn, ...more }, `unknown-${last}`);
}

async function servesOn() {
  const { status, text } = await order();
  assert.equal(status, 200, text);
  assert.equal((await get(server.origin, KEY, JSON.parse(text).id)).status, 200);
}

function isOurs({ status, headers, text }, expected, error) {
  assert.equal(status, expected, text);
  assert.equal(headers["content-type"], "application/json");
  assert.equal(headers["cache-control"], "no-store");
  assert.equal(headers["x-content-type-options"], "nosniff");
  const body = JSON.parse(text);
  assert.equal(body.error, error);
  const named = ` The request's ID is \`${headers["x-request-id"]}\`.`;
  assert.ok(body.message.endsWith(named), text);
}

/** Returns the JSON lines of the Worker's log. */
const lines = () => server.output.match(/^\{.*\}$/gm).map((line) => JSON.parse(line));
const isLogged = (expected) =>
  assert.ok(
    lines().some((line) => isDeepStrictEqual(line, expected)),
    server.output,
  );

test("keys are read with a cache TTL of 30 s, and other records with the default", async () => {
  await order({ "x-stand-in": "its calls are noted", "idempotency-key": "1" }, `${KEY}_two`);
  for (const line of [
    { get: "key", options: { type: "stream", cacheTtl: 30 } },
    { get: "catalogue", options: "stream" },
    { get: "idempotency", options: "stream" },
    { put: "transaction", options: ["metadata"] },
  ])
    isLogged(line);
});

test("a request is served to its end though its caller hangs up", async () => {
  const headers = { "x-stand-in": "its calls are noted" };
  const timeline = "/timeline/ptran_1";
  await send(server.origin, { method: "GET", path: timeline, headers });
  for (const key of ["unknown", KEY, KEY]) await get(server.origin, key, "ptran_1", headers); // the last one finds the key in the cache
  const noted = () => lines().flatMap(({ waitUntil }) => waitUntil ?? []);
  const transaction = `GET ${PATH}/ptran_1`;
  const expected = [`POST ${PATH}`, `GET ${timeline}`, ...Array(3).fill(transaction)]; // the first is the one above
  while (noted().length < expected.length) await sleep(1);
  assert.deepEqual(noted(), expected);
});

// ---- Failures ------------------------------------------------------------------------------------

const FAILURES = [
  "get throws an Error",
  "get is rejected with a string",
  "get is rejected with undefined",
  "value breaks off",
  "there is none",
];

test("KV fails: 503, and no instance breaks", async (t) => {
  const stuck = ask("get hangs");
  for (const failure of FAILURES)
    await t.test(failure, async () => {
      isOurs(await ask(failure), 503, "Service unavailable");
      await servesOn();
    });
  isOurs(await stuck, 503, "Service unavailable"); // by its own deadline: not disturbed
});

/** A shop system stops to wait after 5 s. */
test("an order that KV does not take in 4 s is answered 503 without a body", async () => {
  const path = `/orders/${"a".repeat(26)}`;
  const headers = { "content-type": "application/json", "x-stand-in": "get hangs" };
  const start = performance.now();
  const { status, text } = await send(server.origin, { method: "POST", path, headers, body: "{}" });
  const ms = performance.now() - start;
  assert.deepEqual([status, text], [503, ""]);
  assert.ok(ms > 3_900 && ms < 5_000, `${ms} ms`);
});

test("a limit of refused keys that does not say `false` is none", async () => {
  const refused = (limit) => ask(limit, { "cf-connecting-ip": "203.0.113.7" });
  for (const limit of [
    "the limit is no limit",
    "the limit answers nothing",
    "the limit answers undefined",
    "the limit answers null",
    "the limit answers {}",
    "the limit's answer throws",
  ])
    assert.equal((await refused(limit)).status, 401, limit);
  assert.equal((await refused("the limit is over")).status, 429);
});

/**
 * Starts requests that hang. Returns each request with the error message that it must get if the instance
 * breaks. For a create request, the message says that the request may have been recorded.
 */
const waiting = () => [
  [ask("get hangs"), /may have been recorded, and a repeat .* send an Idempotency-Key/],
  [
    ask("get hangs", { "idempotency-key": "1" }),
    /may have been recorded. Repeat the request with the same Idempotency-Key/,
  ],
  [
    get(server.origin, "unknown", "ptran_1", { "x-stand-in": "get hangs" }),
    /wrong on our side. Send the request again later/,
  ],
];
async function isHeard(stuck) {
  for (const [request, message] of stuck) {
    const answer = await request;
    isOurs(answer, 500, "Internal error");
    assert.match(JSON.parse(answer.text).message, message);
    assert.ok(JSON.parse(answer.text).message.includes(answer.headers["x-request-id"]));
  }
}

for (const breaks of [
  "metadata throws an Error",
  "metadata throws undefined",
  "metadata exhausts the stack",
  "metadata traps",
  "method throws an Error",
  "method throws an Error, by HTTPS",
])
  test(`${breaks}: all requests in flight get our 500, and the next is served`, async () => {
    const stuck = waiting();
    const answer = await ask(breaks);
    isOurs(answer, 500, "Internal error");
    const policy = breaks.endsWith("by HTTPS") ? "max-age=31536000" : undefined;
    assert.equal(answer.headers["strict-transport-security"], policy);
    await isHeard(stuck);
    await servesOn();
  });

test("a panic, and the trap that it ends in: all requests in flight get our 500, and the next is served", async () => {
  for (const _ of [1, 2]) {
    const stuck = waiting();
    isOurs(await order({ "x-stand-in": "body makes it panic" }), 500, "Internal error");
    await isHeard(stuck);
    await servesOn();
  }
  assert.match(server.output, /Rust panic: [\s\S]*capacity overflow/);
});

test("requests in flight are not disturbed by the remains of a broken instance", async () => {
  for (let round = 0; round < 10; round += 1) {
    const broken = [ask("get hangs"), ask("metadata throws an Error")];
    const fine = Array.from({ length: 10 }, () => order());
    for (const answer of await Promise.all(broken)) isOurs(answer, 500, "Internal error");
    for (const { status, text } of await Promise.all(fine))
      assert.ok([200, 500].includes(status), text);
    await servesOn();
  }
});

// ---- A read that requests share ------------------------------------------------------------------

const PAID_ID = `ptran_${"a".repeat(42)}`;
const settlements = () => lines().filter((line) => line.get === "settlement").length;
const asPaid = (headers) => get(server.origin, KEY, PAID_ID, headers);

test("many requests at once read a settlement once, even if the first caller hangs up, and each answers its own request", async () => {
  const [late, before] = [{ "x-stand-in": "a settlement comes late" }, settlements()];
  const head = `GET ${PATH}/${PAID_ID} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${KEY}\r\n`;
  const first = await stall(server, `${head}X-Stand-In: ${late["x-stand-in"]}\r\n\r\n`);
  while (settlements() === before) await sleep(1);
  first.hangUp();
  for (const { status, text } of await Promise.all(Array.from({ length: 100 }, () => asPaid(late))))
    assert.deepEqual([status, text], [200, '{"paidAt":"2025-11-05T00:00:00.000Z"}']);
  assert.equal(settlements() - before, 1);
  await servesOn();
});

// ---- Deadlines -----------------------------------------------------------------------------------

/**
 * Headers that make the Worker's timers run ten times as fast. The log still shows the durations that the
 * code has set.
 */
const FAST = { "x-speed": "10" };
const HEAD = `POST ${PATH} HTTP/1.1\r\nHost: localhost\r\nX-Speed: 10\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n`;

const WAITS = {
  "get hangs": [
    () => ask("get hangs", FAST),
    { kv: "get", record: "key", cause: "no answer in 5000 ms" },
  ],
  "value hangs": [
    () => ask("value hangs", FAST),
    { kv: "read", record: "value", cause: "no answer in 5000 ms" },
  ],
  "a settlement hangs": [
    async () => {
      const [first, second] = [1, 2].map(() =>
        asPaid({ "x-stand-in": "a settlement hangs", ...FAST }),
      );
      isOurs(await second, 503, "Service unavailable");
      return first;
    },
    { kv: "get", record: "settlement", cause: "no answer in 5000 ms" },
  ],
  "put hangs": [
    () => order({ "x-stand-in": "put hangs", ...FAST }),
    { kv: "put", record: "transaction", cause: "no answer in 15000 ms" },
  ],
};
const UPLOADS = {
  "an announced body": `${HEAD}Content-Length: 1000\r\n\r\n{"reference":`,
  "an announced body of which nothing comes": `${HEAD}Content-Length: 50000\r\n\r\n`,
  "a body in pieces": `${HEAD}Transfer-Encoding: chunked\r\n\r\nd\r\n{"reference":\r\n`,
  "a large announced body": `${HEAD}Content-Length: 100000\r\n\r\n${" ".repeat(20_000)}`,
  "a large body in pieces": `${HEAD}Transfer-Encoding: chunked\r\n\r\n11170\r\n${" ".repeat(70_000)}\r\n`,
};

/**
 * Sends a body of 100 KB at 20 KB/s, as slowly as a phone. This takes as long as one piece of a body may take.
 */
async function upload(framing) {
  const body = JSON.stringify(TRANSACTION).padEnd(100_000);
  const headers = {
    ...framing,
    authorization: `Bearer ${KEY}`,
    "content-type": "application/json",
  };
  const sent = request(new URL(PATH, server.origin), { method: "POST", headers });
  const answered = once(sent, "response");
  for (let start = 0; start < body.length; start += 2_000) {
    sent.write(body.slice(start, start + 2_000));
    await sleep(100);
  }
  sent.end();
  const [response] = await answered;
  response.resume();
  return response.statusCode;
}

test("every wait has a deadline", { concurrency: true }, async (t) => {
  const waits = Object.entries(WAITS).map(([name, [request, logged]]) =>
    t.test(`${name}: 503, and the log names the operation`, async () => {
      isOurs(await request(), 503, "Service unavailable");
      isLogged(logged);
    }),
  );
  const uploads = Object.entries(UPLOADS).map(([name, bytes]) =>
    t.test(`${name} of a caller with a key that stalls: 408`, async (t) => {
      const { answer, hangUp } = await stall(server, bytes, (text) => text.endsWith("}"));
      t.after(hangUp);
      assert.ok((await answer).startsWith("HTTP/1.1 408 Request Timeout"), await answer);
      assert.match(await answer, /The body came too slowly, and nothing was recorded/);
    }),
  );
  await Promise.all([...waits, ...uploads]);
  for (const timer of [5_000, 15_000]) isLogged({ timer });
  assert.doesNotMatch(server.output, /[0-9a-f]{64}|ada@|transaction:/); // a key's hash, what was sent, a key of KV's
});

test("a large body that comes slowly, but comes: 200", async () => {
  const framings = [{ "content-length": "100000" }, { "transfer-encoding": "chunked" }];
  assert.deepEqual(await Promise.all(framings.map(upload)), [200, 200]);
});

test("the page waits only briefly for a profile that hangs, and is shown without it", async () => {
  closeIdleConnections(); // the connections were idle for some time
  for (const [name, kv] of [
    ["a profile hangs", "get"],
    ["a profile's value hangs", "read"],
  ]) {
    const { timelineUrl } = JSON.parse((await order()).text);
    const page = await send(server.origin, {
      method: "GET",
      path: timelineUrl.replace(/^https?:\/\/[^/]*/, ""),
      headers: { "x-stand-in": name, ...FAST },
    });
    assert.equal(page.status, 200);
    assert.match(page.text, /<header><svg/);
    const isIt = (line) => line.kv === kv && line.cause === "no answer in 1000 ms";
    assert.ok(lines().some(isIt), server.output);
  }
  await servesOn();
});
