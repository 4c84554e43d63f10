/** Measures how long the dashboard's pages take with a filled ledger: the built Workers under wrangler, with local D1 and KV. */
import { copyFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { DatabaseSync } from "node:sqlite";
import { openKv } from "../../../../scripts/lib/kv.mjs";
import { log } from "../../../../scripts/lib/output.mjs";
import { runCron, workers } from "../../ledger/workers.mjs";
import { LocalD1 } from "./d1.mjs";
import { failedOnes, fillOffice } from "./office.mjs";

const BIGGEST = "unit_0"; // of orders.rs
const MONTH = "2026-10";
const OFFERING = "offering-07";
const [MONTH_MS, NEXT_MS] = [Date.parse("2026-10-01"), Date.parse("2026-11-01")];
const EXPORTED = 2_000; // transactions of a month that a page of the dashboard can export
const DAY_MS = 86_400_000;
const SECRET = "07".repeat(32); // of tests/support/service.rs, whose hashes the rows have
const DEADLINE_MS = 60_000;

const shop = `unit=${BIGGEST}&mode=live`;
/**
 * Returns the measured pages of the dashboard, named by what a person does there. A form is posted, and its redirects
 * are followed, except one to the page of a transaction: Workers KV has no records of transactions.
 * @param {string} exported a unit whose transactions of the month are exported
 * @returns {[name: string, path: string, form?: Record<string, string>][]}
 */
const pages = (exported) => [
  ["start page", "/"],
  ["newest transactions", "/orders"],
  ["transactions of a unit", `/orders?${shop}`],
  ["unpriced of a month", `/orders?mode=live&month=${MONTH}&state=unpriced`],
  ["paid transactions", "/orders?state=paid"],
  ["not paid transactions of a unit", `/orders?${shop}&state=unpaid`],
  ["credited transactions", "/orders?state=credited"],
  ["cancelled transactions", "/orders?state=cancelled"],
  ["failed transactions", "/orders?state=failed"],
  ["erased transactions", "/orders?state=erased"],
  ["credited transactions of a unit", `/orders?${shop}&state=credited`],
  ["25 transactions of given days", `/orders?from=${MONTH}-03&to=${MONTH}-05&rows=25`],
  ["transactions of a month by charge", `/orders?month=${MONTH}&least=999999`],
  ["transactions of a rare key", `/orders?${shop}&key=000000000009`],
  ["units", "/units"],
  ["a unit", `/units/${BIGGEST}`],
  ["impact of a unit", `/units/${BIGGEST}/impact`],
  ["payments of a unit", `/units/${BIGGEST}/payments?mode=live`],
  ["fulfilment", `/fulfilment?mode=live&month=${MONTH}`],
  ["shops of an offering", `/fulfilment/shops?mode=live&month=${MONTH}&offering=${OFFERING}`],
  ["updates", `/updates?mode=live&month=${MONTH}`],
  ["payments", "/payments"],
  ["payments of a month", `/payments?mode=live&month=${MONTH}`],
  ["several payments of a month", `/payments/several?mode=live&month=${MONTH}`],
  ["statements of a month", `/payments/statements?mode=live&month=${MONTH}`],
  ["statement", `/units/${BIGGEST}/statement?mode=live&month=${MONTH}`],
  [
    "transactions of a statement (CSV)",
    `/units/${exported}/transactions.csv?mode=live&month=${MONTH}`,
  ],
  ["teams", "/teams"],
  ["prices", "/prices"],
  ["failed e-mails", "/mails"],
  ["audit log", "/audit"],
  ["e-mails to people", "/notices"],
  ["system", "/system"],
  ["find by order number", "/find", { text: "order-300000" }],
  ["find by order number and shop", "/find", { text: `#order-300000 ${BIGGEST}` }],
  ["find by e-mail address", "/find", { text: "buyer-7@shop.example" }],
  ["find by unit", "/find", { text: BIGGEST }],
];

/**
 * Returns how long each page takes, in milliseconds.
 * @param {import("../../../../scripts/setup/tools.mjs").Tools} tools
 * @param {string} folder for the local state
 * @param {{file: string, shops: number, rounds: number}} options `file`: the ledger's database; `shops`: the
 *   number of shops in it; `rounds`: how many times each page is loaded again
 * @returns {Promise<{name: string, first: number, later: number[], bytes: number}[]>}
 */
export async function measurePages(tools, folder, { file, shops, rounds }) {
  log("asking the dashboard");
  let exported = "";
  const failed = [];
  await LocalD1.make(folder, (copy) => {
    copyFileSync(file, copy);
    const database = new DatabaseSync(copy);
    reconcile(database);
    forgetToday(database);
    exported = medium(database);
    fillOffice(database, shops);
    failed.push(...failedOnes(database));
    database.close();
  });
  await writeRecords(tools, folder, shops, failed);
  const { dashboard } = await workers(tools, folder);
  try {
    const origin = await dashboard.origin();
    const cron = await runCron(dashboard); // stores the sums of ended days
    if (!cron.ok) throw new Error(`the cron answered ${cron.status}`);
    const measured = [];
    for (const [name, path, form] of pages(exported)) {
      const [first, ...later] = await times(rounds + 1, () => ask(origin, path, form));
      const { bytes } = first;
      measured.push({ name, first: first.ms, later: later.map(({ ms }) => ms), bytes });
    }
    return measured;
  } finally {
    await dashboard.end();
  }
}

/** Marks a ledger as compared with all KV records at the current time. @param {DatabaseSync} database */
function reconcile(database) {
  const now = Date.now();
  database
    .prepare("UPDATE reconciliation SET completed = ?, ended = ?, received = ?, delay = 0")
    .run(now, now, now);
}

/** Removes the stored sums from the current day on, which a ledger does not have yet. @param {DatabaseSync} database */
function forgetToday(database) {
  const today = Math.floor(Date.now() / DAY_MS);
  for (const table of ["day_quantities", "day_charges"])
    database.exec(`DELETE FROM ${table} WHERE day >= ${today}`);
}

/** Returns the unit with the most transactions of the month that a page can export. @param {DatabaseSync} database */
function medium(database) {
  const [found] = database
    .prepare(`SELECT unit, (SELECT count(*) FROM transactions t
        WHERE t.scope = scopes.scope AND created >= ? AND created < ?) AS number
      FROM scopes WHERE mode = 'live' AND number BETWEEN 1 AND ? ORDER BY number DESC LIMIT 1`)
    .all(MONTH_MS, NEXT_MS, EXPORTED);
  if (!found) throw new Error(`no unit has at most ${EXPORTED} transactions in ${MONTH}`);
  return String(found.unit);
}

/**
 * Writes the KV records of the shops and of the e-mails that failed, and the secret with which the ledger's rows were
 * generated.
 */
async function writeRecords(tools, folder, shops, failed) {
  const kv = await openKv(tools, { persistTo: folder });
  try {
    const at = "2026-01-01T00:00:00.000Z";
    const register = { created: at, by: "operator@small-hours.example" };
    const units = Array.from({ length: shops }, (_, at) => `unit_${at}`);
    const today = new Date().toISOString();
    const marker = { state: "failed", reason: "E_X", round: 1, attempts: 6, at: today };
    await kv.write([
      { key: "secret", value: JSON.stringify({ secret: SECRET, version: 1 }) },
      ...units.map((unit) => ({ key: `unit:${unit}`, value: "{}", metadata: register })),
      ...units.map((unit) => ({
        key: `profile:${unit}`,
        value: JSON.stringify({ name: `Shop ${unit}`, version: 1 }),
      })),
      ...failed.flatMap((id) => [
        { key: `mail-failed:${today.slice(0, 10)}:${id}`, value: "{}" },
        { key: `notification:${id}`, value: JSON.stringify(marker) },
      ]),
    ]);
  } finally {
    await kv.close();
  }
}

async function times(count, act) {
  const results = [];
  for (let round = 0; round < count; round += 1) results.push(await act());
  return results;
}

/** Asks for a page, and reads all of it. @param {string} origin @param {string} path @param {Record<string, string>} [form] */
async function ask(origin, path, form) {
  const began = performance.now();
  const request = {
    signal: AbortSignal.timeout(DEADLINE_MS),
    redirect: /** @type {const} */ ("manual"),
  };
  const post = form && { method: "POST", headers: { origin }, body: new URLSearchParams(form) };
  let response = await fetch(`${origin}${path}`, { ...request, ...post });
  let location = response.headers.get("location");
  while (location && !location.startsWith("/transactions/")) {
    response = await fetch(new URL(location, origin), request);
    location = response.headers.get("location");
  }
  const text = await response.text();
  const ms = performance.now() - began;
  if (!response.ok && !location)
    throw new Error(
      `${path} answered ${response.status}: ${text.replace(/^.*<main[^>]*>/s, "").slice(0, 300)}`,
    );
  return { ms, bytes: text.length };
}
