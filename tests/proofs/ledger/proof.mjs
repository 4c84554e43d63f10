/** Runs a plan of create requests, erasures and kills, and then checks the ledger. */
import assert from "node:assert/strict";
import { duration, log, table } from "../../../scripts/lib/output.mjs";
import { run, tools } from "../../e2e/script.mjs";
import { factsOf, quantityViolations, sumViolations, violations } from "./rules.mjs";
import { play } from "./run.mjs";

const MOST_SHOWN = 10;

/**
 * Runs a plan, and tests whether the ledger is right at the end.
 * @param {import("node:test").TestContext} t
 * @param {import("./run.mjs").Plan} plan
 */
export async function prove(t, plan) {
  const started = Date.now();
  await play(tools, plan, async (history) => {
    const facts = await factsOf(history);
    log(summary(facts, Date.now() - started));
    const test = (name, check) => t.test(`${name} (SEED=${plan.seed})`, check);
    await test("the ledger equals KV, row by row", () => holds(violations(facts)));
    await test("the commands print the exact sums of KV", () => printsExactSums(facts));
    await test("the ledger says up to when it is complete", () => saysHowComplete(facts, plan));
    await test("everything was killed, and messages were lost", () => wasHarmed(facts, plan));
    await test("a row that is lost or changed is found", () => findsWhatIsPlanted(facts));
  });
}

/** @param {string[]} found */
const holds = (found) => assert.deepEqual([found.length, found.slice(0, MOST_SHOWN)], [0, []]);

/** @param {import("./rules.mjs").Facts} facts */
async function printsExactSums(facts) {
  const json = async (...args) => {
    const { code, out, problem } = await run("transactions", [...args, "--json"], { kv: facts.kv });
    assert.equal(code, 0, problem);
    return JSON.parse(out);
  };
  const { sums } = await json("usage");
  holds(sumViolations(facts, sums));
  for (const month of new Set(sums.map(({ month }) => month))) {
    const options = ["--month", month, "--mode", "both"];
    const { quantities } = await json("quantities", ...options);
    holds(quantityViolations(facts, month, quantities));
  }
}

/** @param {import("./rules.mjs").Facts} facts @param {import("./run.mjs").Plan} plan */
function saysHowComplete({ status, lastCreated }, { isTimely }) {
  assert.equal(status.problem, null);
  if (isTimely) assert.ok(Date.parse(status.completeUpTo) >= lastCreated, status.completeUpTo);
}

/** @param {import("./rules.mjs").Facts} facts @param {import("./run.mjs").Plan} plan */
function wasHarmed(facts, plan) {
  const { service, dashboard } = facts.kills;
  assert.ok(service > 0 && dashboard > 0 && service + dashboard >= plan.kills);
  assert.ok(facts.erased.length > facts.notErased.length);
  assert.ok(lostOf(facts) > 0 && deliveredOf(facts) > 0);
}

/**
 * Damages three rows of the ledger, and checks that the rules report all of them. This shows that the proof
 * can fail.
 * @param {import("./rules.mjs").Facts} facts
 */
async function findsWhatIsPlanted({ kv, ...facts }) {
  const [lost, cheap, shifted] = [...facts.rows.values()]
    .filter(({ cents, erased }) => cents !== null && erased === null)
    .map(({ id }) => id);
  const change = (sql, id) => kv.ledger.run([{ sql, parameter: JSON.stringify(id) }]);
  await change("DELETE FROM transactions WHERE id = ?1 ->> '$'", lost);
  await change("UPDATE transactions SET cents = cents + 1 WHERE id = ?1 ->> '$'", cheap);
  await change(
    "UPDATE transactions SET quantities = '[[\"tree\",1]]' WHERE id = ?1 ->> '$'",
    shifted,
  );
  const found = violations(await factsOf({ kv, ...facts }));
  const expected = [`${lost} has no row`, `${cheap}: \`cents\``, `${shifted}: \`quantities\``];
  assert.equal(found.length, expected.length, found.join("\n"));
  for (const text of expected)
    assert.ok(
      found.some((line) => line.includes(text)),
      text,
    );
}

// ---- Figures -------------------------------------------------------------------------------------

/**
 * Returns the number of rows that reconciliation wrote, because their messages were lost.
 * @param {import("./rules.mjs").Facts} facts
 */
const lostOf = ({ mended, checks: [first] }) => mended + first.missing;

/**
 * Returns the number of rows that the ledger wrote for messages from its queue.
 * @param {import("./rules.mjs").Facts} facts
 */
const deliveredOf = (facts) => facts.rows.size - facts.begun - lostOf(facts);

const count = (number) => number.toLocaleString("en-US");

/** Describes how many items there are of each kind. @param {(string | number)[]} items */
const tally = (items) =>
  [...Map.groupBy(items, String)].map(([name, all]) => `${count(all.length)} × ${name}`).join(", ");

/** @param {import("./rules.mjs").Facts} facts @param {number} milliseconds */
function summary(facts, milliseconds) {
  const { answers, records, kills, erased, notErased, mended, checks } = facts;
  const requests = answers.flatMap(({ outcomes }) => outcomes);
  const acknowledged = new Set(facts.acknowledged.map(({ id }) => id));
  return table(
    ["creates", count(answers.length)],
    [
      ["requests", count(requests.length)],
      ["answers", tally(requests.map(({ status }) => status ?? "none"))],
      ["acknowledged", `${count(acknowledged.size)} transactions`],
      ["records", count(records.size)],
      ["erased", `${count(erased.length)}, ${count(notErased.length)} not: ${notErased[0] ?? ""}`],
      ["kills", `${kills.service} of the service, ${kills.dashboard} of the dashboard`],
      ["rows of messages", count(deliveredOf(facts))],
      ["passes", `${count(mended)} rows during the load: ${tally(facts.crons)}`],
      [
        "lost messages",
        `${count(checks[0].missing)} rows missing, ${checks[0].wrong} wrong at the end`,
      ],
      ["duration", duration(milliseconds)],
    ],
  );
}
