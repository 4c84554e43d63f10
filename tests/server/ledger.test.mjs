/**
 * Tests which messages the Worker sends to the ledger's queue, and how create requests end while that queue
 * fails or hangs.
 */
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { create, get, send } from "../e2e/worker.mjs";
import { until } from "../support/until.mjs";
import { KEY, startWorkerd } from "./workerd.mjs";

const TREE = { impact: { amount: 3, offeringId: "tree" } };
const ORDER = {
  reference: "canary-order",
  recipient: { email: "canary@example.org", name: "Ada Canary" },
  pledges: [TREE, { impact: { amount: 1e-7, offeringId: "plastic-kg" } }],
};
/**
 * Headers that make the Worker's timers run ten times as fast. The log still shows the durations that the
 * code has set.
 */
const FAST = { "x-speed": "10" };
/** Headers that make the Worker's timers so slow that no deadline passes while a test runs. */
const SLOW = { "x-speed": "0.001" };
/** The maximum number of messages that an isolate sends at once: `MAX_SENDING` in `src/doors/cloudflare/ledger_queue.rs`. */
const AT_ONCE = 128;

let server, close;
/** The complete log so far. `server.output` drops lines when many requests are sent at once. */
let output = "";
before(async () => {
  ({ server, close } = await startWorkerd("tests/server/stand-ins.mjs"));
  for (const stream of [server.child.stdout, server.child.stderr])
    stream.on("data", (text) => (output += text));
});
after(() => close?.());

async function created(ledger, { headers = {}, body = ORDER } = {}) {
  const { status, text } = await create(server.origin, KEY, body, {
    "x-ledger": ledger,
    ...headers,
  });
  assert.equal(status, 200, text);
  return JSON.parse(text);
}

/** Returns what the queue has received since the last call. */
const taken = async () =>
  JSON.parse((await send(server.origin, { method: "GET", path: "/taken" })).text);

/** Whether the message of a transaction is marked as unsent. */
async function isMarked(id) {
  const path = `/${encodeURIComponent(`ledger-unsent:${id}`)}`;
  const { status } = await send(`http://127.0.0.1:${server.ports.kv}`, { method: "GET", path });
  return status === 200;
}

/** Returns the causes of failures of the ledger's queue that were logged after this position in the log. */
const causes = (from) =>
  [...output.slice(from).matchAll(/^\{"queue":"LEDGER","cause":(".*")\}$/gm)].map(([, cause]) =>
    JSON.parse(cause),
  );

// ---- What the queue takes ------------------------------------------------------------------------

test("a create puts one message into the queue, without reference, name and address", async () => {
  const { id, createdAt } = await created("the queue works", {
    headers: { "idempotency-key": "1" },
  });
  const [{ message: text, options }, ...others] = await taken();
  assert.deepEqual([options, others], [{ contentType: "text" }, []]);
  const message = JSON.parse(text);
  const { lookup, key, ...summary } = message.summary;
  assert.deepEqual(
    { ...message, summary },
    {
      id,
      mode: "test",
      unit: "unit_dev",
      summary: {
        createdAt,
        amount: "1.50",
        currencyCode: "USD",
        quantities: [
          ["plastic-kg", "1e-7"],
          ["tree", 3_000_000],
        ],
      },
    },
  );
  assert.deepEqual(Object.keys(lookup), ["order", "email"]);
  assert.match(
    `${lookup.order} ${lookup.email} ${key}`,
    /^[0-9a-f]{32} [0-9a-f]{32} [0-9a-f]{12}$/,
  );
  await created("the queue works", { headers: { "idempotency-key": "1" } });
  assert.deepEqual(await taken(), [], "a repeat that was answered before");
  assert.equal(await isMarked(id), false);
});

test("a create of 1 MiB puts a message into the queue that has less than 128 KB", async () => {
  for (const [count, hasQuantities] of [
    [2_000, true],
    [10_000, false],
  ]) {
    const pledges = Array.from({ length: count }, (_, index) => ({
      impact: { amount: 1.5, offeringId: `offering-${String(index).padStart(16, "0")}` },
    }));
    await created("the queue works", { body: { ...ORDER, pledges } });
    const [{ message }] = await taken();
    assert.equal("quantities" in JSON.parse(message).summary, hasQuantities);
    assert.ok(message.length < 128_000);
  }
});

// ---- What it does not take -----------------------------------------------------------------------

for (const [ledger, cause] of [
  ["the queue fails", /^Error: at once$/],
  ["the queue fails later", /^JsValue\("later"\)$/],
  ["the queue answers nothing", /^TypeError/],
  ["the queue is none", /^TypeError/],
  ["the queue hangs", /^no answer in 2000 ms$/],
])
  test(`${ledger}: the create succeeds, and its message is marked as unsent`, async () => {
    const from = output.length;
    const { id } = await created(ledger, { headers: FAST });
    assert.equal((await get(server.origin, KEY, id, FAST)).status, 200);
    await until(() => isMarked(id));
    assert.equal(causes(from).length, 1);
    assert.match(causes(from)[0], cause);
    assert.deepEqual(await taken(), []);
  });

const crowd = (headers) =>
  Promise.all(Array.from({ length: 2 * AT_ONCE }, () => created("the queue hangs", { headers })));

test("while the queue hangs, many creates are recorded and marked, and then messages are sent again", async () => {
  const from = output.length;
  for (const { id } of await crowd(FAST)) await until(() => isMarked(id));
  assert.equal(causes(from).length, 2 * AT_ONCE);
  await created("the queue works");
  assert.equal((await taken()).length, 1, "the slots are free again");
});

test("a mark that cannot be written only causes a line in the log", async () => {
  const from = output.length;
  const { id } = await created("the queue fails", {
    headers: { "x-stand-in": "a mark is refused" },
  });
  const line = '{"kv":"put","record":"unsent message to the ledger","cause":"Error: no"}';
  await until(() => output.slice(from).includes(line));
  assert.equal(await isMarked(id), false);
});

test("a queue that hangs delays no answer, and few messages are sent at once; after the instance breaks, the next creates succeed", async () => {
  const from = output.length;
  const waiting = await crowd(SLOW);
  await until(() => causes(from).length === AT_ONCE);
  assert.deepEqual([...new Set(causes(from))], ["too many messages are being sent"]);
  const answer = await get(server.origin, "unknown", "ptran_1", { "x-stand-in": "metadata traps" });
  assert.equal(answer.status, 500);
  for (const { id } of waiting) assert.equal((await get(server.origin, KEY, id)).status, 200);
  await created("the queue works");
  assert.equal((await taken()).length, 1);
});

test("no address, name, reference or edit key is in a log line", () => {
  assert.doesNotMatch(output, /canary|edit_key/i);
});
