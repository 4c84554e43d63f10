/** Starts the real Worker on workerd, with local KV of its own. */
import { join } from "node:path";
import { wrangler } from "../../scripts/lib/cloudflare-packages.mjs";
import { seedData } from "../../scripts/lib/seed.mjs";
import { dashboardConfig, ledgerOf } from "../server/dashboard-worker.mjs";
import { tools } from "./script.mjs";
import { send } from "../support/http-rows.mjs";

const { createTestHarness } = wrangler();

export { closeIdleConnections, send } from "../support/http-rows.mjs";

/**
 * @typedef {object} Worker
 * @property {string} origin
 * @property {{get(name: string, type?: string): Promise<any>, put(name: string, value: string, options?: object): Promise<void>, delete(name: string): Promise<void>}} kv
 * @property {any} [db] the ledger
 * @property {() => Promise<unknown>} [scheduled] runs the dashboard's cron
 * @property {() => {level: string, message: string}[]} logs
 * @property {() => Promise<void>} close
 */

// Otherwise miniflare asks Cloudflare for the values of `request.cf`.
process.env.CLOUDFLARE_CF_FETCH_ENABLED ??= "false";

const OPERATOR = {
  main: join("build", "dashboard", "worker.js"),
  email: "operator@small-hours.example",
  vars: { OPERATORS: "operator@small-hours.example" },
};

/**
 * Starts the Worker with these records or, by default, with the development data. With `ledger`, also starts
 * the dashboard's Worker, which maintains the ledger.
 * @param {{allowedOrigins?: string, ledger?: boolean, records?: Record<string, {value: string, metadata?: object}>}} [options]
 * @returns {Promise<Worker>}
 */
export async function startWorker({ allowedOrigins = "", ledger = false, records } = {}) {
  const configPath = join(tools.root, "wrangler.toml");
  const service = { configPath, vars: { ALLOWED_ORIGINS: allowedOrigins } };
  const dashboard = ledger ? dashboardConfig(OPERATOR) : null;
  const harness = createTestHarness({
    workers: dashboard ? [service, { configPath: dashboard.configPath }] : [service],
  });
  const { url } = await harness.listen();
  const { PLEDGES: kv } = await harness.getWorker().getEnv();
  records ??= Object.fromEntries(
    (await seedData(tools)).entries.map(({ key, value }) => [key, { value }]),
  );
  for (const [name, { value, metadata }] of Object.entries(records))
    await kv.put(name, value, { metadata });
  const { db, scheduled } = dashboard ? await ledgerOf(harness.getWorker("dashboard")) : {};
  const close = async () => {
    await harness.close();
    dashboard?.remove();
  };
  return { origin: url.origin, kv, db, scheduled, logs: () => harness.getLogs(), close };
}

/** @param {string} origin @param {string} key @param {unknown} json */
export function create(origin, key, json, headers = {}) {
  return send(origin, {
    method: "POST",
    path: "/v2/pledge-transaction",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(json),
  });
}

/** @param {string} origin @param {string} key @param {string} id */
export function get(origin, key, id, headers = {}) {
  return send(origin, {
    method: "GET",
    path: `/v2/pledge-transaction/${id}`,
    headers: { authorization: `Bearer ${key}`, ...headers },
  });
}
