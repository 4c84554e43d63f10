/** Makes the demo records of `npm start`, for tests in a browser. */
import { Ledger } from "../../scripts/lib/ledger.mjs";
import { migrate } from "../../scripts/lib/migrations.mjs";
import { operator } from "../../scripts/lib/operator.mjs";
import { memoryDatabase } from "../e2e/cloudflare-d1.mjs";
import { tools } from "./chromium.mjs";

/**
 * Makes the demo records in memory. This is quicker than writing each record with a call of its own.
 * @returns {Promise<{records: Map<string, {value: string, metadata?: unknown}>, port: import("../../scripts/lib/operator.mjs").Port}>}
 */
export async function demo() {
  const records = new Map();
  const record = (name) => ({ name, value: null, metadata: null, ...records.get(name) });
  const names = (prefix) => [...records.keys()].filter((name) => name.startsWith(prefix)).sort();
  const port = {
    list: async (prefix) => ({ records: names(prefix).map(record), cursor: null }),
    read: async (names) => names.map(record),
    write: async ({ key, ...rest }) => void records.set(key, rest),
    remove: async (name) => void records.delete(name),
    pause: async () => {},
    settleMs: 0,
    ledger: new Ledger(memoryDatabase(), (ledger) => migrate(ledger, tools.root)),
  };
  const { seed, seedDemo } = await operator(tools);
  await seed(port);
  await seedDemo(port, "https://pledges.example");
  return { records, port };
}

/** Writes records into a namespace. */
export const writeAll = (kv, records) =>
  Promise.all([...records].map(([key, { value, ...rest }]) => kv.put(key, value, rest)));

/** An ended month with demo transactions: the month of the day 40 days ago. */
export const MONTH = new Date(Date.now() - 40 * 24 * 3_600_000).toISOString().slice(0, 7);
