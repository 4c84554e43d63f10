/**
 * Counts what a transaction costs, prints what 1 million, 100 million and 1 billion creates a month cost, and which part reaches its limit
 * first. Fails if the documents were computed from other counts. `UPDATE=1` writes them anew.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { tools } from "../../e2e/script.mjs";
import { count } from "./count.mjs";
import { costTable, keep, limitTable, stored } from "./report.mjs";

/** The part by which rows and bytes may differ: batches are not the same in each run. */
const SLACK = 0.02;

test("a transaction costs what the documents say", async () => {
  const counted = await count();
  console.log(JSON.stringify(counted));
  console.log(`${costTable(counted)}\n\n${limitTable(counted)}`);
  if (process.env.UPDATE) keep(tools.root, counted);
  const documented = stored();
  assert.deepEqual(counted.calls, documented.calls);
  for (const part of ["ledger", "bytes", "pass"])
    for (const [name, value] of Object.entries(documented[part]))
      assert.ok(
        Math.abs(counted[part][name] - value) <= SLACK * value,
        `${part}.${name}: ${counted[part][name]}, documented ${value}`,
      );
});
