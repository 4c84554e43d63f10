/** Waits that would never end: each has a deadline, and its request an answer. */
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import test, { after, before } from "node:test";
import { closeIdleConnections, create, get, send } from "../e2e/worker.mjs";
import { KEY, PATH, stall, startWorkerd } from "./workerd.mjs";

const TRANSACTION = {
  reference: "order-1",
  recipient: { email: "ada@example.org" },
  pledges: [{ impact: { amount: 1, offeringId: "tree" } }],
};
const HEAD = `POST ${PATH} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n`;

let server, close;
before(async () => ({ server, close } = await startWorkerd("tests/server/stand-ins.mjs")));
after(() => close?.());

const standIn = (name) => ({ "x-stand-in": name });

/** With each a key that no cache knows. */
const KV = [
  [
    "a get of KV that hangs",
    () => create(server.origin, "unknown-1", TRANSACTION, standIn("get hangs")),
    { kv: "get", record: "key", cause: "no answer in 5000 ms" },
  ],
  [
    "a value of KV that hangs",
    () => create(server.origin, "unknown-2", TRANSACTION, standIn("value hangs")),
    { kv: "read", record: "value", cause: "no answer in 5000 ms" },
  ],
  [
    "a put of KV that hangs",
    () => create(server.origin, KEY, TRANSACTION, standIn("put hangs")),
    { kv: "put", record: "transaction", cause: "no answer in 15000 ms" },
  ],
];

const UPLOADS = [
  ["an announced body", `${HEAD}Content-Length: 1000\r\n\r\n{"reference":`],
  ["a body in pieces", `${HEAD}Transfer-Encoding: chunked\r\n\r\nd\r\n{"reference":\r\n`],
];

test("waits end", { concurrency: true }, async (t) => {
  const waits = KV.map(([name, request, logged]) =>
    t.test(`${name}: 503, and the log names the operation`, async () => {
      const { status, text } = await request();
      assert.equal(status, 503, text);
      assert.equal(JSON.parse(text).error, "Service unavailable");
      const lines = server.output.match(/\{.*\}/g).map((line) => JSON.parse(line));
      assert.ok(
        lines.some((line) => isDeepStrictEqual(line, logged)),
        server.output,
      );
    }),
  );
  const uploads = UPLOADS.map(([name, bytes]) =>
    t.test(`${name} of a caller with a key that stalls: 400`, async (t) => {
      const { answer, hangUp } = await stall(server, bytes, (text) => text.endsWith("}"));
      t.after(hangUp);
      const text = await answer;
      assert.match(text, /^HTTP\/1\.1 400 /);
      assert.match(text, /The body broke off/);
    }),
  );
  await Promise.all([...waits, ...uploads]);
  assert.doesNotMatch(server.output, /[0-9a-f]{64}|ada@|transaction:/); // a key's hash, what was sent, a key of KV's
});

test("a profile that hangs is waited for briefly, and the page is without it", async () => {
  closeIdleConnections(); // they were idle for half a minute
  for (const [name, kv] of [
    ["a profile hangs", "get"],
    ["a profile's value hangs", "read"],
  ]) {
    const { timelineUrl } = JSON.parse((await create(server.origin, KEY, TRANSACTION)).text);
    const page = await send(server.origin, {
      method: "GET",
      path: timelineUrl.replace(/^https?:\/\/[^/]*/, ""),
      headers: standIn(name),
    });
    assert.equal(page.status, 200);
    assert.match(page.text, /<header><svg/);
    const lines = server.output.match(/\{.*\}/g).map((line) => JSON.parse(line));
    assert.ok(
      lines.some((line) => line.kv === kv && line.cause === "no answer in 1000 ms"),
      server.output,
    );
  }
});

test("afterwards the service serves on", async () => {
  const { status, text } = await create(server.origin, KEY, TRANSACTION);
  assert.equal(status, 200, text);
  assert.equal((await get(server.origin, KEY, JSON.parse(text).id)).status, 200);
  assert.equal((await send(server.origin, { method: "OPTIONS", path: PATH })).status, 204);
});
