/** What a number of creates a month costs on Cloudflare, and which part reaches a limit first. */
import { MOST_CHANGED } from "../../../scripts/lib/increment.mjs";

const MILLION = 1e6;
const GB = 1e9;
const DAYS = 30;

/**
 * The prices of Workers Paid in US dollars, as of November 2026: what is included each month, and the price beyond. Sources:
 * https://developers.cloudflare.com/workers/platform/pricing/, .../kv/platform/pricing/, .../d1/platform/pricing/ and
 * .../queues/platform/pricing/.
 */
const PRICES = {
  requests: { included: 10 * MILLION, price: 0.3 / MILLION },
  cpuMs: { included: 30 * MILLION, price: 0.02 / MILLION },
  kvReads: { included: 10 * MILLION, price: 0.5 / MILLION },
  kvWrites: { included: MILLION, price: 5 / MILLION },
  kvLists: { included: MILLION, price: 5 / MILLION },
  kvBytes: { included: GB, price: 0.5 / GB },
  queue: { included: MILLION, price: 0.4 / MILLION },
  rowsWritten: { included: 50 * MILLION, price: 1 / MILLION },
  rowsRead: { included: 25_000 * MILLION, price: 0.001 / MILLION },
  ledgerBytes: { included: 5 * GB, price: 0.75 / GB },
  logLines: { included: 20 * MILLION, price: 0.6 / MILLION },
};
const PLAN = 5;

/** A D1 database holds so many bytes. */
const DATABASE_BYTES = 10 * GB;
/** The bytes of a transaction in the ledger, measured in a database of a million. */
export const ROW_BYTES = 550;
/** A queue takes so many messages a second. */
const QUEUE_RATE = 5_000;
/** A message is written, read and deleted. */
const OPERATIONS = 3;
/** The most that a second has, as a multiple of the mean second. An assumption. */
const PEAK = 10;
/** Of `LIMITS` and the trigger in the dashboard's cron (`src/doors/dashboard_worker/cron.rs`, `wrangler.dashboard.toml`). */
export const CRON = { calls: 600, minutes: 5 };

/** The numbers of creates a month that the documents show. */
export const SIZES = [MILLION, 100 * MILLION, 1_000 * MILLION];

/**
 * Returns what the twelfth month costs, by its parts.
 * @param {import("./count.mjs").Counted} counted @param {number} creates a month
 * @returns {Record<string, number>} US dollars
 */
export function costs({ calls, ledger, bytes, pass }, creates) {
  const passes = DAYS; // one a day, over what a year has brought
  const thousands = (12 * creates) / 1_000;
  const used = {
    requests: calls.requests * creates,
    cpuMs: calls.requests * creates, // below 1 ms each
    kvReads: calls.kvReads * creates,
    kvWrites: calls.kvWrites * creates,
    kvLists: calls.kvLists * creates + pass.kvLists * thousands * passes,
    kvBytes: 12 * bytes.kv * creates,
    queue: OPERATIONS * calls.messages * creates,
    rowsWritten: ledger.rowsWritten * creates,
    rowsRead: ledger.rowsRead * creates + pass.rowsRead * thousands * passes,
    ledgerBytes: Math.min(12 * ROW_BYTES * creates, DATABASE_BYTES),
    logLines: calls.requests * creates,
  };
  /** @type {Record<string, number>} */
  const parts = { plan: PLAN };
  for (const [name, number] of Object.entries(used)) {
    const { included, price } = PRICES[name];
    parts[name] = Math.max(0, number - included) * price;
  }
  const total = Object.values(parts).reduce((sum, cost) => sum + cost, 0);
  return { ...parts, total };
}

/**
 * Returns when each part reaches its limit, in months from the first create; `Infinity` if never.
 * @param {import("./count.mjs").Counted} counted @param {number} creates a month
 * @returns {Record<string, number>}
 */
export function limits({ pass }, creates) {
  const perInvocation = (CRON.calls / pass.ledgerCalls) * 1_000;
  const perDay = (perInvocation * 24 * 60) / CRON.minutes;
  const rate = (creates * PEAK) / (DAYS * 86_400);
  return {
    database: DATABASE_BYTES / ROW_BYTES / creates,
    pass: perDay / creates,
    increment: creates / DAYS > MOST_CHANGED ? 0 : Infinity,
    queue: rate > QUEUE_RATE ? 0 : Infinity,
  };
}
