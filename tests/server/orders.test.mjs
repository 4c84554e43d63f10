/**
 * Tests the orders of shop systems on workerd: the service receives them, and the dashboard's Worker pledges them through the
 * service. The rows are those of the native tests, except those in which a part of the platform fails.
 */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { seedData } from "../../scripts/lib/seed.mjs";
import { tools } from "../e2e/script.mjs";
import { send } from "../e2e/worker.mjs";
import { fixturesIn } from "../support/fixtures.mjs";
import { until } from "../support/until.mjs";
import { startDashboard } from "./dashboard-worker.mjs";
import { openShop } from "./shop-api.mjs";

const OPERATOR = "operator@small-hours.example";
const SECRET = "whsec_of_the_shop_1234";
const SERVICE = "impact-pledge"; // the name in wrangler.toml
const FORM = {
  "content-type": "application/x-www-form-urlencoded",
  "sec-fetch-site": "same-origin",
};

let dashboard, service;
before(async () => {
  dashboard = await startDashboard({
    main: join("build", "dashboard", "worker.js"),
    email: OPERATOR,
    vars: { OPERATORS: OPERATOR },
    others: [{ configPath: join(tools.root, "wrangler.toml") }],
    service: SERVICE,
  });
  for (const { key, value, metadata } of (await seedData(tools)).entries)
    await dashboard.kv.put(key, value, { metadata });
  await setPrices();
  service = dashboard.harness.getWorker(SERVICE);
});
after(() => dashboard?.close());

/** Writes the price lists as setting them does: credits of a part need the list by which an order was charged. */
async function setPrices() {
  const prices = "2026-01-01T00:00:00.000Z";
  const list = JSON.stringify({ currencyCode: "USD", unitPrices: { tree: "0.50" }, prices });
  const metadata = { created: prices, by: OPERATOR };
  for (const mode of ["test", "live"]) {
    await dashboard.kv.put(`catalogue:${mode}`, list);
    await dashboard.kv.put(`prices:${mode}:${prices}`, list, { metadata });
  }
}

const hmac = (text, secret, encoding) => createHmac("sha256", secret).update(text).digest(encoding);

/** Returns the headers with which each shop system signs a body at a time, in seconds since 1970. */
const SIGNATURES = {
  stripe: (body, secret, seconds) => ({
    "stripe-signature": `t=${seconds},v1=${hmac(`${seconds}.${body}`, secret, "hex")}`,
  }),
  shopify: (body, secret) => ({ "x-shopify-hmac-sha256": hmac(body, secret, "base64") }),
  woocommerce: (body, secret) => ({ "x-wc-webhook-signature": hmac(body, secret, "base64") }),
  bigcommerce: (body, secret, seconds) => ({
    "webhook-id": "msg_1",
    "webhook-timestamp": `${seconds}`,
    "webhook-signature": `v1,${hmac(`msg_1.${seconds}.${body}`, secret, "base64")}`,
  }),
};

function signature(system, body, sign) {
  if (sign === "missing") return {};
  const seconds = Math.floor(Date.now() / 1_000) - (sign === "stale" ? 400 : 0);
  return SIGNATURES[system](body, sign === "wrong" ? "another_secret" : SECRET, seconds);
}

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

const page = (path) => send(dashboard.origin, { method: "GET", path, headers: {} });
const post = (path, fields) =>
  send(dashboard.origin, {
    method: "POST",
    path,
    headers: FORM,
    body: `${new URLSearchParams(fields)}`,
  });

/** Connects a shop by the form of its unit. Returns the connection's ID. */
async function connect({ system, mode, store, settings, token }) {
  const path = "/units/unit_dev/connections";
  const [, operation] = (await page(path)).text.match(/name="operation" value="([^"]+)"/) ?? [];
  const fields = { operation, mode, system, store, secret: SECRET, token, settings };
  const made = await post(path, { ...fields, settings: JSON.stringify(settings) });
  assert.equal(made.status, 200, made.text);
  const { results } = await dashboard.db
    .prepare("SELECT substr(name, 12) AS id FROM published WHERE content ->> '$.store' = ?")
    .bind(store)
    .all();
  return results[0].id;
}

async function deliver(connection, system, body, sign) {
  const answer = await service.fetch(`https://service.example/orders/${connection}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...signature(system, body, sign) },
    body,
  });
  assert.equal(await answer.text(), "", "no answer about an order has a body");
  return answer.status;
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

/** Lets orders be fetched that were changed in the last days, by the form of the connection. */
async function fetchSince(connection, days) {
  const { text } = await page(`/connections/${connection}`);
  const [, form = ""] = text.split('/fetch"');
  const [, operation] = form.match(/name="operation" value="([^"]+)"/) ?? [];
  const since = new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
  const asked = await post(`/connections/${connection}/fetch`, { operation, since });
  assert.equal(asked.status, 200, asked.text);
}

/** Returns the address of a shop in its system. */
const STORES = {
  shopify: (number) => `shop-${number}.myshopify.com`,
  bigcommerce: (number) => `abcde${number}`,
};
const storeOf = (system, number) => STORES[system]?.(number) ?? `shop-${number}.${system}.example`;

/** Sends what a step sends. Each delivery is read before the next one is sent. */
async function sendAll(connection, { system, order }, step) {
  const { send: changes, body, text, times = 1, sign = "", status = 200 } = step;
  if (!(changes ?? body ?? text)) return;
  const json = text ?? JSON.stringify(body ?? changed(order, changes));
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
  const connection = await connect({
    system,
    mode: row.mode ?? "live",
    store: storeOf(system, number),
    settings: changed(settings, row.settings),
    token,
  });
  for (const step of row.steps) {
    const orders = step.shop?.map((it) => [made + it.at, it.body ?? changed(order, it.order)]);
    shop.orders = orders ?? shop.orders;
    shop.status = step.answers ?? shop.status;
    await sendAll(connection, file, step);
    if ("since" in step) await fetchSince(connection, step.since);
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
