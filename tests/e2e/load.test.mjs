/**
 * Many requests, large ones and hostile ones: every one is answered, and the service works after
 * each.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import test, { after, before } from "node:test";
import { create, get, send, startWorker } from "./worker.mjs";

const KEY = "service_sk_test_dev_unit";
const PATH = "/v2/pledge-transaction";
const PLEDGE = { impact: { amount: 3, offeringId: "tree" } };
const JSON_HEADERS = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };

/** @type {import("./worker.mjs").Worker} */
let worker;
before(async () => (worker = await startWorker()));
after(() => worker?.close());

const order = (reference, pledges = [PLEDGE]) => ({
  reference,
  recipient: { email: "ada@example.org" },
  pledges,
});

async function created(json) {
  const answer = await create(worker.origin, KEY, json);
  assert.equal(answer.status, 200, answer.text.slice(0, 300));
  return JSON.parse(answer.text);
}

async function read(id) {
  const answer = await get(worker.origin, KEY, id);
  assert.equal(answer.status, 200, answer.text.slice(0, 300));
  return JSON.parse(answer.text);
}

async function servesOn() {
  const { id } = await created(order("after"));
  assert.equal((await read(id)).reference, "after");
}

/** Works on all items, so many at a time. */
async function atATime(count, items, work) {
  const results = [];
  const queue = [...items.entries()];
  const one = async () => {
    for (let next = queue.shift(); next; next = queue.shift())
      results[next[0]] = await work(next[1]);
  };
  await Promise.all(Array.from({ length: count }, one));
  return results;
}

test("1,000 creates, 50 at a time: all distinct, all readable, none lost", async () => {
  const references = Array.from({ length: 1_000 }, (_, index) => `order-${index}`);
  const answers = await atATime(50, references, (reference) => created(order(reference)));
  assert.deepEqual(
    answers.map(({ reference }) => reference),
    references,
  );
  const distinct = (of) => new Set(answers.map(of)).size;
  assert.equal(
    distinct(({ id }) => id),
    1_000,
  );
  assert.equal(
    distinct(({ pledges }) => pledges[0].id),
    1_000,
  );
  assert.equal(
    distinct(({ timelineUrl }) => timelineUrl.split("edit_key=")[1]),
    1_000,
  );
  const records = await atATime(50, answers, ({ id }) => read(id));
  assert.deepEqual(
    records.map(({ reference }) => reference),
    references,
  );
  assert.deepEqual(
    records.map(({ pledges }) => pledges[0].id),
    answers.map(({ pledges }) => pledges[0].id),
  );
});

test("1,000 pledges in one create: all come back, in their order", async () => {
  const pledges = Array.from({ length: 1_000 }, (_, index) => ({
    impact: { amount: index + 1, offeringId: "tree" },
    detail: { externalId: `line-${index}` },
  }));
  const answer = await created(order("many", pledges));
  assert.deepEqual(
    answer.pledges.map(({ impact }) => impact),
    pledges.map(({ impact }) => impact),
  );
  assert.deepEqual(
    answer.pledges.map(({ detail }) => detail.externalId),
    pledges.map(({ detail }) => detail.externalId),
  );
  assert.equal(new Set(answer.pledges.map(({ id }) => id)).size, 1_000);
  assert.equal(answer.charge.amount, "250250.00");
  const record = await read(answer.id);
  assert.deepEqual(
    record.pledges.map(({ id, details }) => [id, details[0].externalId]),
    answer.pledges.map(({ id, detail }) => [id, detail.externalId]),
  );
  const page = await send(worker.origin, {
    method: "GET",
    path: answer.timelineUrl.slice(worker.origin.length),
  });
  assert.equal(page.status, 200);
});

test("one idempotency key, 40 repeats at once: one record", async () => {
  const headers = { "idempotency-key": randomBytes(16).toString("hex") };
  const answers = await atATime(40, Array(40).fill(order("once")), (json) =>
    create(worker.origin, KEY, json, headers),
  );
  assert.ok(answers.every(({ status }) => status === 200));
  const bodies = answers.map(({ text }) => JSON.parse(text));
  assert.equal(new Set(bodies.map(({ id }) => id)).size, 1);
  assert.equal(new Set(bodies.map(({ timelineUrl }) => timelineUrl)).size, 1);
  assert.equal((await read(bodies[0].id)).reference, "once");
});

// ---- Hostile bodies ----------------------------------------------------------------------------

const MB = 1_000_000;
const post = (body, more = {}) =>
  send(worker.origin, { method: "POST", path: PATH, headers: JSON_HEADERS, body, ...more });

/** An answer of ours: a status, and a JSON error. */
function refused(answer, status) {
  assert.equal(answer.status, status, answer.text.slice(0, 300));
  const { error, message } = JSON.parse(answer.text);
  assert.ok(error.length > 0 && message.length > 0);
  assert.ok(answer.text.length < 10_000, `an answer of ${answer.text.length} characters`);
}

const wrap = (inner) => `{"reference":"r","recipient":{"email":"a@b"},"pledges":[${inner}]}`;
const filling = (item, bytes = MB) =>
  wrap(
    Array(Math.floor(bytes / (item.length + 1)))
      .fill(item)
      .join(","),
  );

const HOSTILE = [
  ["30 MB of blanks, announced", 413, () => post(" ".repeat(30 * MB))],
  ["30 MB of blanks, in pieces", 413, () => post(" ".repeat(30 * MB), { chunked: true })],
  ["30 MB of a request, announced", 413, () => post(filling(JSON.stringify(PLEDGE), 30 * MB))],
  [
    "30 MB of a request, in pieces",
    413,
    () => post(filling(JSON.stringify(PLEDGE), 30 * MB), { chunked: true }),
  ],
  [
    "30 MB without a key",
    401,
    () => post("x".repeat(30 * MB), { headers: { "content-type": "application/json" } }),
  ],
  ["30 MB to an unknown path", 404, () => post("x".repeat(30 * MB), { path: "/v2/nothing" })],
  ["30 MB with PUT", 405, () => post("x".repeat(30 * MB), { method: "PUT" })],
  [
    "30 MB that are no JSON by their header",
    415,
    () => post("x".repeat(30 * MB), { headers: { ...JSON_HEADERS, "content-type": "text/plain" } }),
  ],
  [
    "a recipient's name of 300 KB, for 10,000 pledges",
    413,
    () =>
      post(
        wrap(Array(10_000).fill('{"impact":{"amount":1,"offeringId":"t"}}').join(",")).replace(
          "a@b",
          `a@b","name":"\\n${"n".repeat(300_000)}`,
        ),
      ),
  ],
  ["1 MB of opening brackets", 400, () => post("[".repeat(MB))],
  ["1 MB of opening braces", 400, () => post('{"a":'.repeat(200_000))],
  ["1 MB of brackets in an unknown member", 400, () => post(`{"x":${"[".repeat(MB)}`)],
  ["1 MB of brackets in a pledge", 400, () => post(wrap("[".repeat(MB / 2) + "]".repeat(MB / 2)))],
  ["1 MB of empty pledges", 400, () => post(filling("{}"))],
  ["1 MB of numbers for pledges", 400, () => post(filling("0"))],
  [
    "1 MB of one digit each: unknown members",
    400,
    () => post(`{${Array.from({ length: 90_000 }, (_, index) => `"${index}":0`).join(",")}}`),
  ],
  [
    "1 MB of one member again and again",
    400,
    () => post(`{${Array(65_000).fill('"reference":0').join(",")}}`),
  ],
  ["a member's name of 1 MB", 400, () => post(`{"${"x".repeat(MB)}":0}`)],
  [
    "amounts at the lower edge of a double",
    400,
    () => post(filling('{"impact":{"amount":2.4703282292062327208e-324,"offeringId":"tree"}}')),
  ],
  [
    "amounts at the upper edge of a double",
    400,
    () =>
      post(
        filling(
          '{"impact":{"amount":1.7976931348623158079e308,"offeringId":"tree"}},{"impact":{"amount":1.7976931348623158080e308,"offeringId":""}}',
        ),
      ),
  ],
  [
    "a number of 1 MB",
    400,
    () => post(wrap(`{"impact":{"amount":-${"9".repeat(MB)},"offeringId":"t"}}`)),
  ],
  [
    "a fraction of 1 MB",
    400,
    () => post(wrap(`{"impact":{"amount":-0.${"0".repeat(MB)}1,"offeringId":"t"}}`)),
  ],
  [
    "1 MB of escapes that end in half of a pair",
    400,
    () => post(`{"reference":"${"\\u0041".repeat(160_000)}\\ud800"}`),
  ],
  ["1 MB that are not UTF-8", 400, () => post(Buffer.alloc(MB, 0xff))],
  ["1 MB of random bytes", 400, () => post(randomBytes(MB))],
  ["an email of 1 MB", 400, () => post(`{"recipient":{"email":"${"a.".repeat(MB / 2)}@b"}}`)],
  [
    "an email that is one quoted text of 1 MB",
    400,
    () => post(`{"recipient":{"email":"\\"${"a".repeat(MB)}"}}`),
  ],
  [
    "a URI of 1 MB",
    400,
    () => post(`{"trigger":{"externalUrl":"https://${"a:".repeat(MB / 2)}"}}`),
  ],
  [
    "an Idempotency-Key of 10,000 characters",
    400,
    () => post("{}", { headers: { ...JSON_HEADERS, "idempotency-key": "k".repeat(10_000) } }),
  ],
  [
    "an ID of 10,000 characters",
    404,
    () => get(worker.origin, KEY, "a".repeat(10_000)),
    "no message",
  ],
];

for (const [name, status, attack, noMessage] of HOSTILE) {
  test(`${name}: ${status}, and the service serves on`, async () => {
    const answer = await attack();
    if (noMessage)
      assert.deepEqual(
        [answer.status, answer.text],
        [status, '{"error":"Pledge transaction not found"}'],
      );
    else refused(answer, status);
    await servesOn();
  });
}

// ---- Large bodies that are fine ----------------------------------------------------------------

const pledges = (count, item) => wrap(Array(count).fill(item).join(","));

const LARGE = [
  [
    "as many pledges as a record holds",
    () => pledges(11_000, '{"impact":{"amount":1,"offeringId":"tree"}}'),
    ({ charge, pledges }) => assert.equal(Number(charge.amount), pledges.length / 2),
  ],
  [
    "as many of the greatest and the least amounts as a record holds",
    () =>
      pledges(
        5_000,
        '{"impact":{"amount":1.7976931348623157e308,"offeringId":"tree"}},{"impact":{"amount":5e-324,"offeringId":"plastic-kg"}}',
      ),
    ({ charge }) => assert.match(charge.amount, /^[0-9]{300,}\.[0-9]{2}$/),
  ],
  [
    "a number of 1 MB",
    () => wrap(`{"impact":{"amount":1.${"0".repeat(MB)}1,"offeringId":"tree"}}`),
    ({ pledges }) => assert.equal(pledges[0].impact.amount, 1),
  ],
  [
    "a name of 1 MB",
    () =>
      wrap(
        `{"impact":{"amount":1,"offeringId":"tree"},"detail":{"name":"${"🌳".repeat(MB / 4)}"}}`,
      ),
    ({ pledges }) => assert.equal(pledges[0].detail.name.length, MB / 2),
  ],
  [
    "1 MB of escapes",
    () =>
      wrap(
        `{"impact":{"amount":1,"offeringId":"tree"},"detail":{"name":"${"\\u00e9".repeat(160_000)}"}}`,
      ),
    ({ pledges }) => assert.equal(pledges[0].detail.name, "é".repeat(160_000)),
  ],
];

for (const [name, body, check] of LARGE) {
  test(`${name}: created and read`, async () => {
    const answer = await post(body());
    assert.equal(answer.status, 200, answer.text.slice(0, 300));
    const transaction = JSON.parse(answer.text);
    check(transaction);
    const record = await read(transaction.id);
    assert.deepEqual(
      record.pledges.map(({ id }) => id),
      transaction.pledges.map(({ id }) => id),
    );
    const page = await send(worker.origin, {
      method: "GET",
      path: transaction.timelineUrl.slice(worker.origin.length),
    });
    assert.equal(page.status, 200);
    await servesOn();
  });
}

// ---- Connections that misbehave ----------------------------------------------------------------

const HEAD = `POST ${PATH} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n`;

/** Says this on a bare connection, then hangs up. */
async function hangUp(bytes) {
  const { hostname, port } = new URL(worker.origin);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write(bytes);
  await sleep(100);
  socket.destroy();
}

const CUT = [
  ["in the middle of an announced body", `${HEAD}Content-Length: 1000\r\n\r\n{"reference":`],
  ["in the middle of a piece", `${HEAD}Transfer-Encoding: chunked\r\n\r\nff\r\n{"reference":`],
  ["before a body", `${HEAD}Content-Length: 1000\r\n\r\n`],
  ["in the middle of the headers", HEAD],
  [
    "after an announced body of 30 MB has begun",
    `${HEAD}Content-Length: 30000000\r\n\r\n${" ".repeat(100_000)}`,
  ],
];

for (const [where, bytes] of CUT) {
  test(`ten callers hang up ${where}: the service serves on`, async () => {
    await Promise.all(Array.from({ length: 10 }, () => hangUp(bytes)));
    await servesOn();
  });
}

test("after all of this no panic and no failure stands in the log", () => {
  const bad = worker
    .logs()
    .filter(({ message }) => /panic|starts anew|"kv":|"status":5/.test(message));
  assert.deepEqual(bad, []);
});
