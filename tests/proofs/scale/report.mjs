/** Writes the section of docs/limits-and-costs.md about sizes, from what was counted. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { table } from "../bench/report.mjs";
import { ROW_BYTES, SIZES, costs, limits } from "./model.mjs";

const HEADING = "### By number of creates\n";
const COUNTED = join(import.meta.dirname, "counted.json");

const COSTS = {
  plan: "Workers Paid",
  requests: "Requests",
  cpuMs: "CPU time",
  kvReads: "KV reads",
  kvWrites: "KV writes",
  kvLists: "KV lists, for a reconciliation pass a day",
  kvBytes: "KV storage, after a year",
  queue: "Operations of the ledger's queue",
  rowsWritten: "D1 rows written",
  rowsRead: "D1 rows read",
  ledgerBytes: "D1 storage, at most 10 GB",
  logLines: "Log lines",
  total: "**Total**",
};

const LIMITS = {
  database: "The ledger's database is full (10 GB)",
  pass: "A reconciliation pass takes longer than a day",
  increment: "An incremental backup of a day is refused (2 million changes)",
  queue: "The queue has too many messages a second (5,000, at ten times the mean)",
};

/** @returns {import("./count.mjs").Counted} */
export const stored = () => JSON.parse(readFileSync(COUNTED, "utf8"));

/** Keeps what was counted, and writes the section anew. */
export function keep(root, counted) {
  writeFileSync(COUNTED, `${JSON.stringify(counted, null, 2)}\n`);
  const [before, , after] = parts(root);
  writeFileSync(pageOf(root), before + section(counted) + after);
}

/** Returns the section as it stands in the page. */
export const written = (root) => parts(root)[1];

const pageOf = (root) => join(root, "docs", "limits-and-costs.md");

/** Splits the page before and after the section. */
function parts(root) {
  const page = readFileSync(pageOf(root), "utf8");
  const start = page.indexOf(HEADING);
  if (start < 0) throw new Error(`docs/limits-and-costs.md has no section \`${HEADING.trim()}\``);
  const next = page.indexOf("\n### ", start);
  const end = next < 0 ? page.length : next + 1;
  return [page.slice(0, start), page.slice(start, end), page.slice(end)];
}

/** @param {import("./count.mjs").Counted} counted */
export function section(counted) {
  const { calls, ledger, bytes } = counted;
  return `${HEADING}
US dollars for the twelfth month, beyond what Workers Paid includes. \`npm run prove -- scale\` counts on workerd what a transaction
needs if no isolate has cached anything of its unit: ${calls.kvReads} KV reads, ${calls.kvWrites} writes and ${calls.messages} message; ${ledger.rowsWritten} rows written in D1;
${number(bytes.kv)} bytes in Workers KV and ${ROW_BYTES} in D1.

${costTable(counted)}

These parts have limits. The table shows when each limit is reached, counted from the first create:

${limitTable(counted)}

`;
}

/** @param {import("./count.mjs").Counted} counted */
export function costTable(counted) {
  const all = SIZES.map((creates) => costs(counted, creates));
  const rows = Object.entries(COSTS).map(([part, name]) => [
    name,
    ...all.map((each) => (each[part] < 0.005 ? "" : `$${money(each[part])}`)),
  ]);
  const each = SIZES.map(
    (creates, index) => `$${((all[index].total / creates) * 1_000).toFixed(3)}`,
  );
  return table(
    ["Creates a month", ...SIZES.map(number)],
    [...rows, ["For 1,000 creates", ...each]],
  );
}

/** @param {import("./count.mjs").Counted} counted */
export function limitTable(counted) {
  const all = SIZES.map((creates) => limits(counted, creates));
  const rows = Object.entries(LIMITS).map(([part, name]) => [
    name,
    ...all.map((each) => inWords(each[part])),
  ]);
  return table(["Creates a month", ...SIZES.map(number)], rows);
}

const number = (value) => value.toLocaleString("en-US");
const money = (value) =>
  value.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** @param {number} months */
function inWords(months) {
  if (months === 0) return "on the first day";
  if (months > 1_200) return "never";
  /** @type {[string, number][]} */
  const units = [
    ["years", months / 12],
    ["months", months],
    ["days", months * 30],
    ["hours", months * 720],
  ];
  const [unit, value] = units.find(([, value]) => value >= 2) ?? ["hours", months * 720];
  return `after ${Math.floor(value)} ${unit}`;
}
