/**
 * Sends orders of two shops to the service on workerd at a fixed rate, and checks that each is pledged once. Then compares how long
 * creates take alone and beside orders, on a service whose orders no other Worker of the process reads. `RATE`, `SECONDS` and
 * `ROUNDS` set another load.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { wrangler } from "../../../scripts/lib/cloudflare-packages.mjs";
import { duration, log, table } from "../../../scripts/lib/output.mjs";
import { tools } from "../../e2e/script.mjs";
import { sendOrder, startShops } from "../../server/shops.mjs";
import { median, noise } from "../bench/numbers.mjs";
import { create, orders, paced, summary } from "./load.mjs";

const { createTestHarness } = wrangler();

const { RATE = 50, SECONDS = 60, ROUNDS = 6 } = process.env;
const rate = Number(RATE);
const seconds = Number(SECONDS);
/** Creates a second, and how many seconds creates are measured before the load changes. */
const CREATES = 10;
const PART_SECONDS = Math.min(10, seconds);
/** How long the Workers may take to read all orders, in milliseconds. The cron runs every `CRON_MS`, as a deployed one does. */
const READ_MS = 10 * 60_000;
const CRON_MS = 60_000;
const COLUMNS = ["WHAT", "COUNT", "MEDIAN MS", "95 % MS", "MAX MS"];
const RULE = {
  offeringId: "tree",
  basis: { order: { amount: "1" } },
  detail: { nounSingular: "tree" },
};

let shops;
const connections = {};
before(async () => {
  shops = await startShops();
  for (const system of ["woocommerce", "shopify"])
    connections[system] = await shops.connect(system, "live", `${system}.example`, {
      rules: [RULE],
    });
});
after(() => shops?.dashboard.close());

/** Sends an order. Returns the status of the answer. */
const deliver = (service, { system, body }) =>
  sendOrder(service, connections[system], system, body, "");

test(`${rate} orders a second for ${seconds} s are pledged once each`, async () => {
  const { dashboard, service } = shops;
  const sent = orders(0, rate * seconds);
  const answers = await paced(rate, seconds, (index) => deliver(service, sent[index]));
  const refused = sent.filter((_, index) => answers[index].value !== 200);
  for (const order of refused) // as the shop systems do, later
    assert.equal(await deliver(service, order), 200);
  const readMs = await untilRead(dashboard, sent.length);
  await check(dashboard, sent.filter(({ isRepeated }) => !isRepeated).length);
  console.log(table(COLUMNS, [["orders", ...summary(answers.map(({ ms }) => ms))]]));
  console.log(
    `${refused.length} were sent again; all were read ${duration(readMs)} after the last`,
  );
});

test("creates beside orders", async () => {
  const { service, close } = await serviceAlone();
  try {
    const parts = [];
    for (let round = 0; round < Number(ROUNDS); round++) {
      const alone = await creates(service, `alone ${round}`);
      const sent = orders(round + 1, rate * PART_SECONDS);
      const sending = paced(rate, PART_SECONDS, (index) => deliver(service, sent[index]));
      const [beside, answers] = await Promise.all([creates(service, `beside ${round}`), sending]);
      assert.ok(answers.every(({ value }) => value === 200));
      parts.push({ alone, beside, orders: answers.map(({ ms }) => ms) });
    }
    compare(parts);
  } finally {
    await close();
  }
});

/** Starts a service of its own, with the records of the first. Nothing reads what it receives. */
async function serviceAlone() {
  const harness = createTestHarness({
    workers: [{ configPath: join(tools.root, "wrangler.toml") }],
  });
  await harness.listen();
  const service = harness.getWorker();
  const { PLEDGES: kv } = await service.getEnv();
  const { kv: first } = shops.dashboard;
  for (const prefix of ["key:", "connection:", "catalogue:", "secret", "profile:"])
    for (const name of await names(first, prefix))
      await kv.put(`${prefix}${name}`, await first.get(`${prefix}${name}`));
  return { service, close: () => harness.close() };
}

/** Sends creates, and returns how long each took, in milliseconds. */
async function creates(service, name) {
  const answers = await paced(CREATES, PART_SECONDS, (index) =>
    create(service, `${name} ${index}`),
  );
  return answers.map(({ ms }) => ms);
}

/** Prints how long creates took. The noise is the ratio that creates alone show by chance. */
function compare(parts) {
  const all = (what) => parts.flatMap((part) => part[what]);
  const row = (what, name) => [what, ...summary(all(name))];
  const rows = [
    row("creates alone", "alone"),
    row(`creates beside ${rate} orders a second`, "beside"),
    row("orders", "orders"),
  ];
  console.log(table(COLUMNS, rows));
  const ratios = parts.map(({ alone, beside }) => median(beside) / median(alone));
  const medians = parts.map(({ alone }) => median(alone));
  const [even, odd] = [0, 1].map((rest) => medians.filter((_, round) => round % 2 === rest));
  const each = ratios.map((ratio) => ratio.toFixed(2)).join(", ");
  const chance = noise(even, odd).toFixed(2);
  console.log(
    `creates beside orders take ${median(ratios).toFixed(2)} × as long (${each}); noise ${chance} ×`,
  );
}

/** Waits until all deliveries have an outcome. Returns how long that took, in milliseconds. */
async function untilRead({ db, scheduled }, count) {
  const started = Date.now();
  let cron = started;
  for (;;) {
    const sql = "SELECT count(*) AS count FROM received WHERE outcome <> 'waiting'";
    const { results } = await db.prepare(sql).all();
    const ms = Date.now() - started;
    if (results[0].count >= count) return ms;
    assert.ok(
      ms < READ_MS,
      `${results[0].count} of ${count} deliveries are read after ${duration(ms)}`,
    );
    if (Date.now() - cron > CRON_MS) {
      cron = Date.now();
      log(`${results[0].count} of ${count} deliveries are read after ${duration(ms)}`);
      await scheduled();
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** Checks that each order has one transaction in Workers KV, and that nothing is kept of its deliveries. */
async function check({ db, kv }, distinct) {
  const { results } = await db.prepare("SELECT store, number, state, id FROM shop_orders").all();
  assert.equal(results.length, distinct, "each order has a row");
  assert.ok(results.every(({ state }) => state === "pledged"));
  const ids = new Set(results.map(({ id }) => id));
  assert.equal(ids.size, distinct, "no two orders have one transaction");
  const stored = await names(kv, "transaction:");
  assert.deepEqual(new Set(stored), ids, "these are all transactions");
  assert.deepEqual(await names(kv, "received:"), [], "nothing is kept");
  const outcomes = await db
    .prepare("SELECT outcome, count(*) AS n FROM received GROUP BY outcome")
    .all();
  log(outcomes.results.map(({ outcome, n }) => `${n} ${outcome}`).join(", "));
}

async function names(kv, prefix) {
  const all = [];
  let cursor;
  do {
    const page = await kv.list({ prefix, cursor });
    all.push(...page.keys.map(({ name }) => name.slice(prefix.length)));
    cursor = page.list_complete ? undefined : page.cursor;
  } while (cursor);
  return all;
}
