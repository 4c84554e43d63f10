/** Refused bodies: their callers get an answer, and they can't fill an isolate's memory. */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import test, { after, before } from "node:test";
import { send } from "../e2e/worker.mjs";
import { PATH, memoryOf, stall, startWorkerd } from "./workerd.mjs";

const MB = 1_000_000;
const HEAD = `POST ${PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
const ANNOUNCED = `${HEAD}Content-Length: ${30 * MB}\r\n\r\n{`;
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`;
/** How long the answers may take that used not to come in a minute. */
const GENEROUS_MS = 30_000;

let server, close;
before(async () => ({ server, close } = await startWorkerd("build/worker.js")));
after(() => close?.());

const uploads = () =>
  send(server.origin, {
    method: "POST",
    path: PATH,
    headers: { "content-type": "application/json" },
    body: "x".repeat(30 * MB),
  });
const stallAll = (count, bytes) =>
  Promise.all(Array.from({ length: count }, () => stall(server, bytes)));
const late = () => sleep(GENEROUS_MS, "no answer", { ref: false });

for (const [kind, bytes] of [
  ["announced", ANNOUNCED],
  ["in pieces", CHUNKED],
]) {
  test(`500 callers without a key who stall in a large body, ${kind}: each gets its 401, and memory stays bounded`, async (t) => {
    assert.equal((await uploads()).status, 401); // what is loaded once is loaded
    const idle = await memoryOf(server);
    const callers = await stallAll(500, bytes);
    t.after(() => {
      for (const { hangUp } of callers) hangUp();
    });
    const answers = Promise.all(callers.map(({ answer }) => Promise.race([answer, late()])));
    await sleep(1_000);
    const busy = await memoryOf(server);
    const statuses = Map.groupBy(await answers, (answer) => answer.slice(0, 12));
    assert.deepEqual(
      [...statuses].map(([status, { length }]) => [status, length]),
      [["HTTP/1.1 401", 500]],
    );
    t.diagnostic(JSON.stringify({ idle, busy }));
    assert.ok(
      busy.heap - idle.heap < 16 * MB,
      `JavaScript holds ${busy.heap - idle.heap} bytes more`,
    );
    assert.ok(busy.wasm - idle.wasm < 4 * MB, `wasm grew by ${busy.wasm - idle.wasm} bytes`);
    assert.ok(
      busy.resident === null || busy.resident - idle.resident < 64 * MB,
      `the process grew by ${busy.resident - idle.resident} bytes`,
    );
  });
}

test("callers who stalled and hung up leave a place to those who send all of a large body", async () => {
  for (const { hangUp } of await stallAll(20, ANNOUNCED)) hangUp();
  await sleep(4_000); // a drain's time
  const { status, text } = await uploads();
  assert.equal(status, 401);
  assert.match(text, /Check the API key/);
});
