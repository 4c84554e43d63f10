/**
 * The shipped Worker on workerd, over a KV that fails, killed and trapped: nothing is lost, nothing
 * is doubled.
 */
import assert from "node:assert/strict";
import test, { before } from "node:test";
import { tools } from "../../tests/e2e/script.mjs";
import { Client } from "./client.mjs";
import { violations } from "./oracle.mjs";
import { play } from "./run.mjs";
import { summary } from "./summary.mjs";

const MIB = 1024 * 1024;
/** With more faults than `npm run faults` has, so that a short run meets each of them. */
const PLAN = {
  requests: 3_000,
  connections: 64,
  seed: Number(process.env.SEED ?? 1),
  share: 0.04,
  kills: 2,
  traps: 2,
  crowds: 1,
  repeats: 500,
};
const FAULTS = [
  "ErrorBefore",
  "ErrorAfter",
  "Hang",
  "HangKept",
  "DamagedValue",
  "DamagedMetadata",
  "BrokenValue",
  "HangingValue",
  "RateLimited",
  "Slow",
];

/** @type {import("./run.mjs").History} */
let history;
before(async () => (history = await play(tools, PLAN)));

test("nothing is lost, nothing is doubled, and every answer is right", (t) => {
  const found = violations(history);
  t.diagnostic(summary(history, found, PLAN));
  assert.deepEqual(found, [], `SEED=${PLAN.seed}`);
});

test("each kind of fault was injected, and each kind of request sent", () => {
  assert.deepEqual([...new Set([...history.faults.values()].flat())].sort(), FAULTS.toSorted());
  const kinds = Map.groupBy(history.exchanges, ({ ask }) => ask.kind);
  for (const kind of [
    "keyed",
    "repeat",
    "other",
    "foreign",
    "timeline",
    "aborted",
    "hangUp",
    "slow",
    "huge",
    "crowd",
  ])
    assert.ok(kinds.has(kind), kind);
  assert.equal(history.kills.length, PLAN.kills + 1);
});

test("a trap answers all that wait, and the next request is served", () => {
  const traps = history.exchanges.filter(({ ask }) => ask.kind === "trap");
  assert.equal(traps.length, PLAN.traps);
  for (const { begun, ended, outcome } of traps) {
    assert.deepEqual([outcome.status, JSON.parse(outcome.text).error], [500, "Internal error"]);
    const others = history.exchanges.filter(({ ask }) => ask.kind !== "trap");
    assert.ok(
      others.some(
        (other) => other.outcome.status === 500 && other.begun <= ended && begun <= other.ended,
      ),
      "no request waited",
    );
    assert.ok(
      others.some(
        (other) =>
          other.outcome.status === 200 && ended < other.begun && other.begun < ended + 5_000,
      ),
      "no request was served",
    );
  }
});

test("the memory that a crowd of large bodies takes is seen", () => {
  const { idle, peak } = history.memory;
  assert.ok(peak.wasm > idle.wasm + 8 * MIB, `${peak.wasm} bytes`);
});

for (const way of ["whole", "slow", "chunked", "aborted", "hangs up"]) {
  test(`a request ends with an error where no server listens: ${way}`, async () => {
    const client = new Client(1);
    const { error } = await client.send("http://127.0.0.1:9", {
      method: "POST",
      path: "/",
      headers: {},
      body: "{}",
      way,
    }); // the port of `discard`
    client.close();
    assert.equal(error, "ECONNREFUSED");
  });
}

// ---- The oracle itself -------------------------------------------------------------------------

/** A history in which one item of a list is another. */
const replaced = (history, list, item, by) => ({
  ...history,
  [list]: history[list].map((each) => (each === item ? { ...each, ...by } : each)),
});

const answered = (exchange, outcome) => (history) =>
  replaced(history, "exchanges", exchange, { outcome: { ...exchange.outcome, ...outcome } });
const edited = (text, edit) => JSON.stringify(edit(JSON.parse(text)));
const charged = (json) => ({ ...json, charge: { ...json.charge, amount: "0.01" } });
const find = (kind, status, more = () => true) => {
  const found = history.exchanges.find(
    (each) =>
      each.ask.kind === kind &&
      each.outcome.status === status &&
      !history.faults.has(each.ask.number) &&
      more(each),
  );
  return found ?? assert.fail(`no ${kind} was answered ${status}`);
};
const idOf = ({ outcome }) => JSON.parse(outcome.text).id;
const recordOf = (exchange) =>
  history.writes.find(
    ({ name, number }) =>
      name === `transaction:${idOf(exchange)}` && number === exchange.ask.number,
  );
const isFinal = ({ ask }) => ask.isFinal;
/**
 * A final repeat of a create that was answered the first time and whose transaction was written
 * once.
 */
const isPlainReplay = (each) =>
  each.ask.isFinal &&
  each.outcome.replayed &&
  history.exchanges.some(
    (first) => first.ask.kind === "keyed" && first.outcome.text === each.outcome.text,
  ) &&
  history.writes.filter(({ name }) => name === `transaction:${idOf(each)}`).length === 1;
const isLater = ({ ask, begun }) =>
  history.exchanges.some(
    (first) =>
      first.ask.kind === "keyed" &&
      first.ask.idempotencyKey === ask.idempotencyKey &&
      first.outcome.status === 200 &&
      first.ended < begun,
  );
const without = (list, item) => ({
  ...history,
  [list]: history[list].filter((each) => each !== item),
});
const record = (write, by) => replaced(history, "writes", write, by);
const added = (write) => ({ ...history, writes: [...history.writes, write] });

/**
 * Broken histories: the name of the defect, the rule that it breaks, and how the history is changed
 * to have it.
 */
const DOCTORED = [
  [
    "a record that is gone in the end",
    "can be read in the end",
    () =>
      answered(find("get", 200, isFinal), {
        status: 404,
        text: `{"error":"Pledge transaction not found"}`,
      }),
  ],
  [
    "a record that is not read in the end",
    "can be read in the end",
    () => () => without("exchanges", find("get", 200, isFinal)),
  ],
  [
    "an answer before the write",
    "was kept before",
    () => () => without("writes", recordOf(find("create", 200))),
  ],
  [
    "a second record",
    "one create has one record",
    () => () => added({ ...recordOf(find("create", 200)), name: "transaction:ptran_second" }),
  ],
  [
    "an edit key of another's",
    "no ID or edit key is another's",
    () => () =>
      record(recordOf(find("create", 200)), {
        value: edited(recordOf(find("create", 200)).value, (json) => ({
          ...json,
          timelineUrl: JSON.parse(find("keyed", 200).outcome.text).timelineUrl,
        })),
      }),
  ],
  [
    "a changed amount in an answer",
    "exact charge",
    () =>
      answered(find("create", 200), { text: edited(find("create", 200).outcome.text, charged) }),
  ],
  [
    "a changed amount in a record",
    "has its content",
    () => () =>
      record(recordOf(find("create", 200)), {
        value: edited(recordOf(find("create", 200)).value, charged),
      }),
  ],
  [
    "a wrong time",
    "exact charge",
    () =>
      answered(find("create", 200), {
        text: edited(find("create", 200).outcome.text, (json) => ({
          ...json,
          createdAt: "2020-01-01T00:00:00.000Z",
        })),
      }),
  ],
  [
    "a changed amount in a get",
    "a get shows",
    () => answered(find("get", 200), { text: edited(find("get", 200).outcome.text, charged) }),
  ],
  [
    "an answer of another shape",
    "exact charge",
    () => answered(find("create", 200), { text: "{}" }),
  ],
  [
    "too much memory",
    "within the budget",
    () => (history) => ({
      ...history,
      memory: { ...history.memory, peak: { wasm: 90 * MIB, heap: 0 } },
    }),
  ],
  [
    "a leak across units",
    "a status is",
    () => answered(find("foreign", 404), find("get", 200).outcome),
  ],
  [
    "a timeline without its edit key",
    "a status is",
    () => answered(find("wrongTimeline", 404), find("timeline", 200).outcome),
  ],
  [
    "an e-mail address in a timeline",
    "e-mail address",
    () => answered(find("timeline", 200), { text: find("timeline", 200).ask.target.email }),
  ],
  [
    "a 503 without a fault",
    "a status is",
    () => answered(find("get", 200, isFinal), { status: 503 }),
  ],
  [
    "a 500 without a trap",
    "a status is",
    () => answered(find("get", 200, isFinal), { status: 500 }),
  ],
  [
    "a cut connection without a kill",
    "a status is",
    () => answered(find("get", 200, isFinal), { status: undefined, error: "ECONNRESET" }),
  ],
  [
    "no answer",
    "a status is",
    () => answered(find("slow", 200), { status: undefined, error: "no answer" }),
  ],
  [
    "an answer that is no JSON",
    "is JSON",
    () => answered(find("missing", 404), { type: "text/plain", text: "Not Found" }),
  ],
  [
    "a record of an upload that broke off",
    "belongs to a create",
    () => () =>
      added({
        ...recordOf(find("create", 200)),
        number: history.exchanges.find(({ ask }) => ask.kind === "aborted").ask.number,
      }),
  ],
  [
    "a record that belongs to no request",
    "belongs to a create",
    () => () => added({ ...recordOf(find("create", 200)), number: null }),
  ],
  [
    "another byte in a replay",
    "byte for byte",
    () =>
      answered(find("repeat", 200, isPlainReplay), {
        text: `${find("repeat", 200, isPlainReplay).outcome.text} `,
      }),
  ],
  [
    "a repeat that is made anew",
    "byte for byte",
    () => answered(find("repeat", 200, isPlainReplay), { replayed: false }),
  ],
  [
    "a repeat that writes",
    "not written once more",
    () => () =>
      added({ ...history.writes.at(-1), number: find("repeat", 200, isPlainReplay).ask.number }),
  ],
  [
    "another's record in an answer",
    "record of its own create",
    () =>
      answered(find("create", 200), {
        text: edited(find("create", 200).outcome.text, (json) => ({
          ...json,
          id: idOf(find("keyed", 200)),
        })),
      }),
  ],
  [
    "a 422 for what was acknowledged",
    "another payload is refused",
    () => answered(find("repeat", 200, isPlainReplay), { status: 422 }),
  ],
  [
    "a 422 without another payload",
    "another payload is refused",
    () => answered(find("crowd", 200), { status: 422 }),
  ],
  [
    "another payload under the same key",
    "another payload is refused",
    () => answered(find("other", 422, isLater), find("create", 200).outcome),
  ],
];

for (const [name, rule, doctor] of DOCTORED) {
  test(`the oracle reports ${name}`, () => {
    const found = violations(doctor()(history));
    assert.ok(
      found.some((each) => each.rule.includes(rule)),
      JSON.stringify(found.slice(0, 3)),
    );
  });
}
