/**
 * A short run of `npm run faults`: the shipped Worker runs on workerd with a KV whose calls fail. Meanwhile,
 * the Worker is killed, and some requests make it panic.
 *
 * A call that hangs takes longer than the service's deadline for reads, but less time than its deadline for
 * writes. `tests/server/failures.test.mjs` tests the deadline for writes.
 */
import assert from "node:assert/strict";
import test, { before } from "node:test";
import { tools } from "../../e2e/script.mjs";
import { violations } from "./oracle.mjs";
import { play } from "./run.mjs";

const MIB = 1024 * 1024;
/** A plan with a larger share of faults than a long run has, so that each kind of fault occurs. */
const PLAN = {
  requests: 700,
  connections: 64,
  seed: Number(process.env.SEED ?? 1),
  share: 0.1,
  hangMs: 5_500,
  kills: 1,
  traps: 1,
  crowds: 1,
  repeats: 50,
};
const FAULTS =
  "BrokenValue DamagedMetadata DamagedValue ErrorAfter ErrorBefore Hang HangKept HangingValue RateLimited Slow";
const KINDS = "aborted create crowd get hangUp huge invalid keyed other repeat slow trap";

/** @type {import("./run.mjs").History} */
let history;
before(async () => (history = await play(tools, PLAN)));

test("nothing is lost, nothing is doubled, and every answer is right", () =>
  assert.deepEqual(violations(history), [], `SEED=${PLAN.seed}`));

test("each kind of fault was injected, each kind of request sent, and workerd killed", () => {
  const sorted = (names) => [...new Set(names)].sort().join(" ");
  assert.equal(sorted([...history.faults.values()].flat()), FAULTS);
  assert.equal(sorted(history.exchanges.map(({ ask }) => ask.kind)), KINDS);
  assert.equal(history.kills.length, PLAN.kills + 1);
});

test("a trap answers all that wait, and the next request is served", () => {
  const trap = history.exchanges.find(({ ask }) => ask.kind === "trap");
  assert.ok(trap);
  const { begun, ended, outcome } = trap;
  assert.deepEqual([outcome.status, JSON.parse(outcome.text ?? "").error], [500, "Internal error"]);
  const [waiting, next] = [500, 200].map((status) =>
    history.exchanges.filter(({ ask, outcome }) => outcome.status === status && ask !== trap.ask),
  );
  assert.ok(waiting.some((other) => other.begun <= ended && begun <= other.ended));
  assert.ok(next.some((other) => ended < other.begun && other.begun < ended + 5_000));
});

test("the memory that a crowd of large bodies takes is seen", () => {
  const { idle, peak } = history.memory;
  assert.ok((peak.wasm ?? 0) > (idle.wasm ?? 0) + MIB, `${peak.wasm} bytes`);
});
