/** Tests the costs by size in docs/limits-and-costs.md. `npm run prove -- scale` counts what they are computed from. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { tools } from "../e2e/script.mjs";
import { CRON, SIZES, costs, limits } from "../proofs/scale/model.mjs";
import { section, stored, written } from "../proofs/scale/report.mjs";

test("the documented costs are those of the model", () =>
  assert.equal(written(tools.root), section(stored())));

test("the model's limits of the cron are those of the code", () => {
  const source = (...path) => readFileSync(join(tools.root, ...path), "utf8");
  const [, calls] =
    source("src/doors/dashboard_worker/cron.rs").match(/Limits \{ calls: (\d+),/) ?? [];
  const [, minutes] = source("wrangler.dashboard.toml").match(/^crons = \["\*\/(\d+) /m) ?? [];
  assert.deepEqual({ calls: Number(calls), minutes: Number(minutes) }, CRON);
});

test("a month costs the plan and the sum of its parts, and more creates cost more", () => {
  const all = SIZES.map((creates) => costs(stored(), creates));
  for (const { total, ...parts } of all)
    assert.equal(
      total,
      Object.values(parts).reduce((sum, cost) => sum + cost, 0),
    );
  assert.ok(all.every(({ total }, index) => index === 0 || total > all[index - 1].total));
  assert.equal(costs(stored(), 0).total, 5);
});

test("a database holds the same number of transactions, however many a month brings", () => {
  const held = SIZES.map((creates) => Math.round(creates * limits(stored(), creates).database));
  assert.equal(new Set(held).size, 1);
});
