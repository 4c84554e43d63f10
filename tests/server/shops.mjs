/** Starts the service and the dashboard on workerd, with shops that send their orders. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { join } from "node:path";
import { seedData } from "../../scripts/lib/seed.mjs";
import { tools } from "../e2e/script.mjs";
import { send } from "../e2e/worker.mjs";
import { startDashboard } from "./dashboard-worker.mjs";

const OPERATOR = "operator@small-hours.example";
const SECRET = "whsec_of_the_shop_1234";
const SERVICE = "impact-pledge"; // the name in wrangler.toml
const FORM = {
  "content-type": "application/x-www-form-urlencoded",
  "sec-fetch-site": "same-origin",
};

/**
 * Starts both Workers with the development data. The result has these members:
 * - `dashboard` is what {@link startDashboard} returns, `service` is the service's Worker.
 * - `connect` connects a shop, and returns the connection's ID.
 * - `fetch` lets orders be fetched that were changed in the last days.
 * - `deliver` sends an order as the shop system does, and returns the status. `sign` is `wrong`, `missing`, `stale` or empty.
 */
export async function startShops() {
  const dashboard = await startDashboard({
    main: join("build", "dashboard", "worker.js"),
    email: OPERATOR,
    vars: { OPERATORS: OPERATOR },
    others: [{ configPath: join(tools.root, "wrangler.toml") }],
    service: SERVICE,
  });
  for (const { key, value, metadata } of (await seedData(tools)).entries)
    await dashboard.kv.put(key, value, { metadata });
  await setPrices(dashboard.kv);
  const service = dashboard.harness.getWorker(SERVICE);
  const connect = (...shop) => connectShop(dashboard, ...shop);
  const deliver = (...delivery) => sendOrder(service, ...delivery);
  const fetch = (...asked) => fetchSince(dashboard, ...asked);
  return { dashboard, service, connect, fetch, deliver };
}

/** Writes the price lists as setting them does: credits of a part need the list by which an order was charged. */
async function setPrices(kv) {
  const prices = "2026-01-01T00:00:00.000Z";
  const list = JSON.stringify({ currencyCode: "USD", unitPrices: { tree: "0.50" }, prices });
  const metadata = { created: prices, by: OPERATOR };
  for (const mode of ["test", "live"]) {
    await kv.put(`catalogue:${mode}`, list);
    await kv.put(`prices:${mode}:${prices}`, list, { metadata });
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

const page = (dashboard, path) => send(dashboard.origin, { method: "GET", path, headers: {} });
const post = (dashboard, path, fields) =>
  send(dashboard.origin, {
    method: "POST",
    path,
    headers: FORM,
    body: `${new URLSearchParams(fields)}`,
  });

/** Connects a shop by the form of its unit. Returns the connection's ID. */
async function connectShop(dashboard, system, mode, store, settings, token = "") {
  const path = "/units/unit_dev/connections";
  const [, operation] =
    (await page(dashboard, path)).text.match(/name="operation" value="([^"]+)"/) ?? [];
  const fields = { operation, mode, system, store, secret: SECRET, token, settings };
  const made = await post(dashboard, path, { ...fields, settings: JSON.stringify(settings) });
  assert.equal(made.status, 200, made.text);
  const { results } = await dashboard.db
    .prepare("SELECT substr(name, 12) AS id FROM published WHERE content ->> '$.store' = ?")
    .bind(store)
    .all();
  return results[0].id;
}

/** Lets orders be fetched that were changed in the last days, by the form of the connection. */
async function fetchSince(dashboard, connection, days) {
  const { text } = await page(dashboard, `/connections/${connection}`);
  const [, form = ""] = text.split('/fetch"');
  const [, operation] = form.match(/name="operation" value="([^"]+)"/) ?? [];
  const since = new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
  const asked = await post(dashboard, `/connections/${connection}/fetch`, { operation, since });
  assert.equal(asked.status, 200, asked.text);
}

/** Sends an order to a connection. Returns the status of the answer. */
export async function sendOrder(service, connection, system, body, sign) {
  const answer = await service.fetch(`https://service.example/orders/${connection}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...signature(system, body, sign) },
    body,
  });
  assert.equal(await answer.text(), "", "no answer about an order has a body");
  return answer.status;
}
