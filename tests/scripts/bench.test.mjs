/** The benchmarks' arithmetic, inputs and rivals. No figure of time is judged here. */
import assert from "node:assert/strict";
import test from "node:test";
import { KINDS, texts } from "../../bench/data.mjs";
import { figure, median, quantile, ratio, rotated } from "../../bench/numbers.mjs";
import { bars, lines } from "../../bench/plot.mjs";
import { callerOf, makeTransaction, toRetrieved } from "../../bench/service/workers/hono/domain.mjs";
import { duel } from "../../bench/validate/duel.mjs";

test("medians and quantiles lie where they should", () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 2, 3]), 2.5);
  assert.equal(quantile([10, 20, 30, 40, 50], 0.75), 40);
  assert.equal(quantile([7], 0.99), 7);
});

test("a ratio compares round by round: a slow moment of both changes nothing", () => {
  assert.equal(ratio([200, 20, 200], [100, 10, 100]), 2);
});

test("everybody begins once", () => {
  assert.deepEqual([0, 1, 2, 3].map((round) => rotated(["a", "b", "c"], round)[0]), ["a", "b", "c", "a"]);
  assert.deepEqual(rotated(["a", "b", "c"], 1), ["b", "c", "a"]);
});

test("figures have three digits", () => {
  const rows = [[0, "0.00"], [0.1234, "0.12"], [1.239, "1.24"], [45.67, "45.7"], [999.4, "999"], [12_345, "12,300"], [9_999_999, "10,000,000"], [null, "–"]];
  for (const [value, expected] of rows) assert.equal(figure(value), expected);
});

test("payloads are distinct, the same in every run, and have the pledges that they are to have", () => {
  for (const [kind, { pledges, count }] of Object.entries(KINDS)) {
    const made = texts(kind);
    assert.equal(new Set(made).size, count, kind);
    assert.deepEqual(texts(kind), made, kind);
    for (const text of made.slice(0, 3)) assert.equal(JSON.parse(text).pledges.length, pledges, kind);
  }
});

test("a duel gives every competitor as many rounds, on all inputs, and reads every problem", async () => {
  const seen = { a: new Set(), b: new Set() };
  let read = 0;
  const competitor = (name) => ({ name, check: (input) => (seen[name].add(input), [input, input]), touch: () => ((read += 1), 1) });
  const times = await duel([competitor("a"), competitor("b")], [1, 2, 3], { rounds: 4, batchMs: 1 });
  assert.deepEqual(Object.entries(times).map(([name, { length }]) => [name, length]), [["a", 4], ["b", 4]]);
  assert.deepEqual(Object.values(seen).map(({ size }) => size), [3, 3]);
  assert.ok(read > 0);
});

test("pictures are whole SVG and keep markup in names out", () => {
  const plain = { label: "n", format: String };
  const pictures = [
    bars("a < b", [{ label: "x & y", bars: [{ name: "<ours>", value: 2, note: "2" }, { name: "theirs", value: 1, note: "½" }] }]),
    lines("a < b", { ...plain, logarithmic: true }, plain, [{ name: "<ours>", points: [[1, 5], [100, 50]] }]),
  ];
  for (const svg of pictures) {
    assert.match(svg, /^<svg .*<\/svg>\n$/s);
    assert.doesNotMatch(svg, /NaN|undefined|<ours>/);
    assert.match(svg, /a &lt; b/);
  }
});

test("the rival's charges are exact too", () => {
  const catalogue = { currencyCode: "USD", unitPrices: { tree: "0.50", odd: "0.005", big: "1.25" } };
  const charge = (...amounts) => {
    const request = { reference: "r", recipient: { email: "a@example.org" }, pledges: amounts.map(([amount, offeringId]) => ({ impact: { amount, offeringId } })) };
    return makeTransaction(request, { origin: "http://localhost", isLive: false, catalogue }).transaction.charge.amount;
  };
  assert.equal(charge([3, "tree"]), "1.50");
  assert.equal(charge([0.1, "tree"], [0.2, "big"]), "0.30");
  assert.equal(charge([1, "odd"]), "0.01");
  assert.equal(charge([1, "unlisted"]), "0.00");
  assert.equal(charge([1e21, "big"]), "1250000000000000000000.00");
});

test("the rival's records have the contract's shape", () => {
  const request = { reference: "r", recipient: { email: "a@example.org" }, pledges: [{ impact: { amount: 1, offeringId: "tree" } }] };
  const { transaction } = makeTransaction(request, { origin: "http://localhost", isLive: true, catalogue: null });
  const retrieved = toRetrieved(transaction);
  assert.equal(retrieved.pledges[0].details.length, 1);
  assert.deepEqual(retrieved.pledges[0].recipient, { email: "a@example.org", firstName: null, name: null });
  assert.deepEqual(Object.keys(retrieved).sort(), ["charge", "createdAt", "isLive", "notifications", "pledges", "reference", "timelineUrl", "trigger"]);
  assert.equal(callerOf({ mode: "test", level: "team", unitIds: ["unit_a"] }, "unit_b"), undefined);
});
