/**
 * Counts the KV calls that an incremental backup makes for one day with many orders. Workers KV is a stand-in
 * that generates records when they are read.
 */
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { DatabaseSync } from "node:sqlite";
import { increment } from "../../../../scripts/lib/increment.mjs";
import { operator } from "../../../../scripts/lib/operator.mjs";

const [PAGE, MOST_READS] = [1_000, 100];
const CALLS = 1_200; // the limit of Cloudflare's API in five minutes
const VALUE = JSON.stringify({ details: [{ description: "a record of usual size ".repeat(80) }] });
/**
 * The number of records that the backup lists, by the prefix of their names. It lists all records of some
 * kinds, and only new records of others.
 */
const LISTED = {
  "audit:": 200,
  "erased:": 500,
  "key:": 600,
  "prices:": 50,
  "settlement:": 2_400,
  "unit:": 200,
};

/**
 * Counts the calls of a backup of one day.
 * @param {{root: string}} tools
 * @param {string} file the database
 * @param {{orders: number, changed: number}} size
 */
export async function measureDay(tools, file, { orders, changed }) {
  const folder = mkdtempSync(join(file, "..", "day-"));
  const database = new DatabaseSync(file);
  try {
    const [{ time: last }] = database
      .prepare("SELECT max(created) AS time FROM transactions")
      .all();
    const [{ time: first }] = database
      .prepare("SELECT min(created) AS time FROM transactions")
      .all();
    const since = Number(last) - ((Number(last) - Number(first)) * changed) / orders;
    database.exec(`UPDATE reconciliation SET completed = ${Number(last) + 600_000}`);
    const kv = standIn(database);
    const before = header(folder, kv.place, new Date(since).toISOString());
    const [began, written] = [performance.now(), join(folder, "increment.jsonl")];
    const { count } = await increment(kv, written, before, await operator(tools));
    const seconds = (performance.now() - began) / 1_000;
    const calls = Object.values(kv.calls).reduce((sum, number) => sum + number, 0);
    const minutes = (calls / CALLS) * 5;
    return { count, bytes: statSync(written).size, seconds, ...kv.calls, calls, minutes };
  } finally {
    database.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes the file of an earlier backup, which began at this time. The backup contains no records. */
function header(folder, place, startedAt) {
  const file = join(folder, "before.jsonl");
  const lines = [
    { format: "impact-pledge-backup", version: 1, place, startedAt },
    { count: 0, sha256: "0" },
  ];
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return file;
}

/**
 * Returns a stand-in for a KV namespace, which generates its records and counts calls. The database is its
 * ledger. @returns {any}
 */
function standIn(database) {
  const calls = { ledger: 0, lists: 0, reads: 0 };
  const names = (prefix) =>
    Array.from({ length: LISTED[prefix] ?? 0 }, (_, index) => ({
      name: prefix + (prefix === "audit:" ? "0".repeat(13) : "") + String(index).padStart(42, "0"),
    }));
  return {
    place: { kind: "local", folder: "bench" },
    calls,
    ledger: {
      run: async (statements) => {
        calls.ledger += 1;
        return statements.map(({ sql, parameter }) => {
          const query = database.prepare(sql);
          query.setReturnArrays(true);
          return query.all(...(sql.includes("?1") ? [parameter] : [])).map(([text]) => text);
        });
      },
    },
    list: async function* (prefix) {
      const all = names(prefix);
      calls.lists += Math.max(1, Math.ceil(all.length / PAGE));
      yield* all;
    },
    read: async function* (all) {
      const list = [...all];
      calls.reads += Math.ceil(list.length / MOST_READS);
      for (const name of list) yield { name, value: VALUE, metadata: metadataOf(name) };
    },
  };
}

/** Returns the metadata of a record. Each create request had an `Idempotency-Key`. */
function metadataOf(name) {
  if (!name.startsWith("transaction:")) return null;
  const replay = Buffer.from(name.slice(-32)).toString("hex");
  const createdAt = "2026-12-31T00:00:00Z";
  return { mode: "live", unit: "unit_0", editKey: replay, summary: { createdAt, replay } };
}
