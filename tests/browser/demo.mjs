/** Makes the demo records of `npm start`, for tests in a browser. */
import { join } from "node:path";
import { Ledger } from "../../scripts/lib/ledger.mjs";
import { migrate } from "../../scripts/lib/migrations.mjs";
import { operator } from "../../scripts/lib/operator.mjs";
import { memoryDatabase } from "../e2e/cloudflare-d1.mjs";
import { startDashboard } from "../server/dashboard-worker.mjs";
import { tools } from "./chromium.mjs";

/**
 * Makes the demo records in memory. This is quicker than writing each record with a call of its own.
 * @returns {Promise<{records: Map<string, {value: string, metadata?: unknown}>, port: import("../../scripts/lib/operator.mjs").Port, ledger: Ledger}>}
 */
export async function demo() {
  const records = new Map();
  const record = (name) => ({ name, value: null, metadata: null, ...records.get(name) });
  const names = (prefix) => [...records.keys()].filter((name) => name.startsWith(prefix)).sort();
  const prepare = (ledger) => migrate(ledger, tools.root);
  const ledger = new Ledger(memoryDatabase(), { prepare });
  const port = {
    list: async (prefix) => ({ records: names(prefix).map(record), cursor: null }),
    read: async (names) => names.map(record),
    write: async ({ key, ...rest }) => void records.set(key, rest),
    remove: async (name) => void records.delete(name),
    keepPicture: async () => false,
    pause: async () => {},
    ledger,
  };
  const { seed, seedDemo } = await operator(tools);
  await seed(port);
  await seedDemo(port, "https://pledges.example");
  return { records, port, ledger };
}

/** The tables whose rows no record in Workers KV has, or which decide about copies in it, and their columns. */
const OWN = {
  people: ["place", "address", "role", "at", "author", "by_shop"],
  published: ["name", "content", "change", "author", "by_shop", "at", "confirmed"],
  epoch: ["one", "epoch"],
  audit: ["name", "content"],
};

/**
 * Writes the demo into the records and the ledger of a dashboard. A reconciliation pass then writes the other
 * rows.
 */
export async function writeDemo({ kv, db, scheduled }) {
  const { records, ledger } = await demo();
  for (const [key, { value, ...rest }] of records) await kv.put(key, value, rest);
  for (const [table, columns] of Object.entries(OWN)) {
    const select = `SELECT json_array(${columns}) FROM ${table}`;
    const [rows] = await ledger.run([{ sql: select, parameter: "" }]);
    const values = columns.map((_, index) => `value ->> ${index}`);
    const insert = `INSERT INTO ${table} (${columns}) SELECT ${values} FROM json_each(?)`;
    await db.prepare(insert).bind(`[${rows}]`).run();
  }
  await scheduled();
}

/** A month that has ended and has demo transactions: the one that contains the day 40 days ago. */
export const MONTH = new Date(Date.now() - 40 * 24 * 3_600_000).toISOString().slice(0, 7);

/**
 * Starts a dashboard with the service and the demo records.
 * @param {{OPERATORS: string, SUPPORT: string, ACCOUNTS: string}} vars who has which role
 */
export async function startDemoDashboard(vars) {
  const dashboard = await startDashboard({
    main: join("tests", "server", "dashboard-stand-ins.mjs"),
    email: vars.OPERATORS,
    vars,
    others: [{ configPath: join(tools.root, "wrangler.toml") }],
    notifications: true,
  });
  await writeDemo(dashboard);
  return dashboard;
}
