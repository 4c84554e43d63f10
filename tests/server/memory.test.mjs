/**
 * The memory budget of an isolate, which has 128 MB: how far the worst requests make WebAssembly's memory grow, which
 * never shrinks.
 */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import test, { after, before } from "node:test";
import { send } from "../e2e/worker.mjs";
import { KEY, PATH, memoryOf, stall, startWorkerd } from "./workerd.mjs";

const MIB = 1024 * 1024;
const ONE_REQUEST = 24 * MIB;
const REQUESTS_AT_ONCE = 80 * MIB;
const AT_ONCE = 64;

const wrap = (pledges, more = "") =>
  `{"reference":"r","recipient":{"email":"a@b"${more}},"pledges":[${pledges}]}`;
const repeat = (item, count) => Array(count).fill(item).join(",");
const filling = (item, around = "") =>
  repeat(item, Math.floor((MIB - 200 - around.length) / (item.length + 1)));
const pledge = (offeringId = "t", detail = "") =>
  `{"impact":{"amount":1,"offeringId":"${offeringId}"}${detail && `,"detail":${detail}`}}`;
const link = `"image":"https://i.example/i","externalUrl":"https://i.example/e"`;

/** Bodies of at most 1 MiB, and how each is answered. */
const WORST = {
  "nothing but empty pledges": [400, `{"reference":1,"pledges":[${filling("{}")}]}`],
  "nothing but valid pledges, more than a record holds": [413, wrap(filling(pledge()))],
  "as many valid pledges as a record holds": [200, wrap(repeat(pledge(), 11_500))],
  "as many greatest amounts as a record holds": [
    200,
    wrap(repeat(`{"impact":{"amount":1.7976931348623157e308,"offeringId":"tree"}}`, 10_000)),
  ],
  "valid pledges, and a problem at the end": [400, `${wrap(filling(pledge())).slice(0, -2)},{}]}`],
  "5,000 pledges of 200 bytes": [
    200,
    wrap(
      repeat(
        pledge("tree", `{"name":"${"n".repeat(60)}","externalId":"${"i".repeat(40)}"}`),
        5_000,
      ),
    ),
  ],
  "a recipient's name, in each of many pledges": [
    200,
    wrap(repeat(pledge(), 9), `,"name":"${"n".repeat(300_000)}"`),
  ],
  "a name of escapes": [200, wrap(pledge("t", `{"name":"${"\\u00e9".repeat(160_000)}",${link}}`))],
  "a name that HTML escapes": [
    200,
    wrap(pledge("t", `{"name":"${"&".repeat(1_000_000)}",${link}}`)),
  ],
  "many names that HTML escapes": [
    200,
    wrap(
      repeat(
        pledge("t", `{"name":"${"&".repeat(200)}","description":"${"<".repeat(500)}",${link}}`),
        1_000,
      ),
    ),
  ],
  "unknown members": [
    400,
    `{${Array.from({ length: 90_000 }, (_, index) => `"${index}":0`).join(",")}}`,
  ],
  "unknown members with long names": [
    400,
    `{${Array.from({ length: 10 }, (_, index) => `"\\n${String(index).repeat(100_000)}":0`).join(",")}}`,
  ],
  "one member again and again": [400, `{${repeat(`"reference":0`, 65_000)}}`],
  "a number of a million digits": [
    200,
    wrap(`{"impact":{"amount":1.${"0".repeat(1_000_000)}1,"offeringId":"t"}}`),
  ],
  brackets: [400, "[".repeat(MIB)],
};

let server, close, idle;
before(async () => {
  ({ server, close } = await startWorkerd("build/worker.js"));
  assert.equal((await create(wrap(pledge()))).status, 200);
  idle = (await memoryOf(server)).wasm;
});
after(() => close?.());

function create(body, headers = {}) {
  return send(server.origin, {
    method: "POST",
    path: PATH,
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json", ...headers },
    body,
  });
}

const grown = async () => (await memoryOf(server)).wasm - idle;

/** Creates, and reads and shows what was created. */
async function walk(body, headers) {
  const answer = await create(body, headers);
  if (answer.status !== 200) return answer.status;
  const { id, timelineUrl } = JSON.parse(answer.text);
  const record = await send(server.origin, {
    method: "GET",
    path: `${PATH}/${id}`,
    headers: { authorization: `Bearer ${KEY}` },
  });
  const { pathname, search } = new URL(timelineUrl);
  const page = await send(server.origin, { method: "GET", path: pathname + search });
  assert.deepEqual([record.status, page.status], [200, 200]);
  return 200;
}

for (const [name, [status, body]] of Object.entries(WORST)) {
  test(`${name}: one request after the other, the memory grows by at most 24 MiB in all`, async (t) => {
    assert.ok(Buffer.byteLength(body) <= MIB, `${Buffer.byteLength(body)} bytes`);
    assert.equal(await walk(body), status);
    assert.equal(await walk(body, { "idempotency-key": name }), status);
    assert.equal(await walk(body, { "idempotency-key": name }), status);
    const bytes = await grown();
    t.diagnostic(`${(bytes / MIB).toFixed(1)} MiB`);
    assert.ok(bytes <= ONE_REQUEST, `${bytes} bytes`);
  });
}

for (const [name, [status, body]] of Object.entries(WORST)) {
  test(`${name}, ${AT_ONCE} at once: the memory grows by at most 80 MiB in all`, async (t) => {
    const statuses = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, index) =>
        create(body, { "idempotency-key": `${name} ${index}` }).then(({ status }) => status),
      ),
    );
    assert.deepEqual(
      [...new Set(statuses)].filter((seen) => seen !== status && seen !== 503),
      [],
    );
    assert.ok(statuses.includes(status), `all are ${statuses[0]}`);
    const bytes = await grown();
    t.diagnostic(
      `${(bytes / MIB).toFixed(1)} MiB, ${statuses.filter((seen) => seen === 503).length} times 503`,
    );
    assert.ok(bytes <= REQUESTS_AT_ONCE, `${bytes} bytes`);
  });
}

test("what has no room is refused with `Retry-After`, and afterwards there is room again", async () => {
  const [, body] = WORST["as many valid pledges as a record holds"];
  const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => create(body)));
  for (const { headers, text } of answers.filter(({ status }) => status === 503)) {
    assert.equal(headers["retry-after"], "1");
    assert.match(JSON.parse(text).message, /nothing was recorded/);
  }
  assert.equal((await create(body)).status, 200);
});

test("callers who hang up while they send leave nothing behind", async () => {
  const head = `POST ${PATH} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n`;
  for (const framing of [
    `Content-Length: ${MIB}\r\n\r\n{`,
    `Transfer-Encoding: chunked\r\n\r\n80000\r\n${"x".repeat(0x80000 - 1)}`,
  ]) {
    const callers = await Promise.all(
      Array.from({ length: 60 }, () => stall(server, head + framing)),
    );
    await sleep(500);
    for (const { hangUp } of callers) hangUp();
    await sleep(500);
    assert.equal(
      (await create(wrap(pledge("t", `{"name":"${"n".repeat(900_000)}"}`)))).status,
      200,
    );
  }
  assert.ok((await grown()) <= REQUESTS_AT_ONCE);
});
