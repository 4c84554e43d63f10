/**
 * Tests the orders of shop systems on workerd: the service receives them, and the dashboard's Worker pledges them through the
 * service. The rows are those of the native tests, except those in which a part of the platform fails.
 */
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { fixturesIn } from "../support/fixtures.mjs";
import { until } from "../support/until.mjs";
import { askedHosts, openShop } from "./shop-api.mjs";
import { startShops } from "./shops.mjs";

let dashboard, connect, fetch, deliver;
before(async () => {
  ({ dashboard, connect, fetch, deliver } = await startShops());
});
after(() => dashboard?.close());

/** Returns a value with changes by JSON Pointer. */
function changed(value, changes = {}) {
  const copy = structuredClone(value);
  for (const [pointer, change] of Object.entries(changes)) {
    const names = pointer.split("/").slice(1);
    const last = names.pop();
    const parent = names.reduce((at, name) => at[name], copy);
    parent[last] = change;
  }
  return copy;
}

/** Returns an order with copies of its first line, with IDs from 1. `cycle` has members of one line after the other. */
function withLines(order, lines) {
  if (!lines) return order;
  const { at, times, cycle } = lines;
  const name = at.slice(1);
  const line = (_, index) => ({
    ...order[name][0],
    id: index + 1,
    ...cycle[index % cycle.length],
  });
  return { ...order, [name]: Array.from({ length: times }, line) };
}

/** Returns what became of a connection's deliveries, oldest first. */
async function received(connection) {
  const { results } = await dashboard.db
    .prepare(
      "SELECT outcome, detail, id FROM received WHERE connection = ? ORDER BY at, outcome <> 'pledged', delivery",
    )
    .bind(connection)
    .all();
  return results;
}

/** Returns the address of a shop in its system. */
const STORES = {
  shopify: (number) => `shop-${number}.myshopify.com`,
  bigcommerce: (number) => `abcde${number}`,
};
const storeOf = (system, number) => STORES[system]?.(number) ?? `shop-${number}.${system}.example`;

/** Sends what a step sends. Each delivery is read before the next one is sent. */
async function sendAll(connection, { system, order }, step) {
  const { send: changes, lines, body, text, times = 1, sign = "", status = 200 } = step;
  if (!(changes ?? body ?? text)) return;
  const json = text ?? JSON.stringify(body ?? withLines(changed(order, changes), lines));
  const more = Number(status === 200 && text !== "webhook_id=3");
  for (let time = 0; time < times; time++) {
    const { length } = await received(connection);
    assert.equal(await deliver(connection, system, json, sign), status);
    await until(async () => {
      const found = await received(connection);
      return found.length === length + more && found.every(({ outcome }) => outcome !== "waiting");
    });
  }
}

/** Runs one row. */
async function run(file, row, number) {
  const { system, order, settings } = file;
  const token = row.token ? `${row.token}${number}` : "";
  const shop = openShop(system, token);
  const made = Math.floor(Date.now() / 1_000);
  const mode = row.mode ?? "live";
  const own = changed(settings, row.settings);
  const connection = await connect(system, mode, storeOf(system, number), own, token);
  for (const step of row.steps) {
    const orders = step.shop?.map((it) => [
      made + it.at,
      it.body ?? withLines(changed(order, it.order), it.lines),
    ]);
    shop.orders = orders ?? shop.orders;
    shop.status = step.answers ?? shop.status;
    await sendAll(connection, file, step);
    if ("since" in step) await fetch(connection, step.since);
    if ("fetch" in step) await dashboard.scheduled();
  }
  return connection;
}

/** Returns the sums of a transaction's pledges by offering. */
async function quantities(id) {
  const { pledges } = JSON.parse(await dashboard.kv.get(`transaction:${id}`));
  const sums = {};
  for (const { impact } of pledges)
    sums[impact.offeringId] = (sums[impact.offeringId] ?? 0) + impact.amount;
  return sums;
}

/** Rows in which a part of the platform fails, or an hour passes, are run natively alone. */
const canRun = ({ steps }) =>
  steps.every(({ down, read, cron, fetch = 0 }) => !(down || read || cron) && fetch < 59);

for (const file of fixturesIn("intake"))
  for (const [number, row] of file.rows.filter(canRun).entries())
    test(`${file.system}: ${row.name}`, async () => {
      const connection = await run(file, row, number);
      const found = await received(connection);
      const { shows } = row;
      assert.deepEqual(
        found.map(({ outcome }) => outcome),
        shows.outcomes,
      );
      for (const [index, part] of (shows.details ?? []).entries())
        assert.ok((found[index].detail ?? "").includes(part.trim()), found[index].detail);
      const ids = [...new Set(found.flatMap(({ id }) => id ?? []))];
      assert.deepEqual(await Promise.all(ids.map(quantities)), shows.pledged ?? []);
      const { results: credits } = await dashboard.db
        .prepare("SELECT cents FROM credits WHERE id = ? ORDER BY number")
        .bind(ids[0] ?? "")
        .all();
      const cents = (shows.credits ?? []).map((credit) => Math.round(parseFloat(credit) * 100));
      assert.deepEqual(
        credits.map((credit) => credit.cents),
        cents,
      );
    });

// ---- What an API may not do ------------------------------------------------------------------------

for (const [what, answer, problem] of [
  [
    "redirects",
    () => Response.redirect("https://elsewhere.example/", 307),
    "answers 307, a redirect, which is not followed",
  ],
  [
    "sends more than 4 MiB",
    () => new Response(`[${" ".repeat(4 * 1_024 * 1_024)}]`),
    "the answer of the shop system is too large",
  ],
])
  test(`an API that ${what} is not read`, async () => {
    const token = `ck_0123456789:cs_${what.length}`;
    const shop = openShop("woocommerce", token);
    shop.answer = answer;
    const store = `shop-${what.length}.example`;
    const { settings } = fixturesIn("intake").find(({ system }) => system === "woocommerce");
    const connection = await connect("woocommerce", "live", store, settings, token);
    await dashboard.scheduled();
    const { results } = await dashboard.db
      .prepare("SELECT problem FROM fetches WHERE connection = ?")
      .bind(connection)
      .all();
    assert.match(results[0].problem, new RegExp(problem));
    assert.ok(askedHosts.has(store) && !askedHosts.has("elsewhere.example"));
  });
