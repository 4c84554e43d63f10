/** The ledger's schema: what `migrations/` has and a database has not, as `wrangler d1 migrations apply` does it and notes it. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** wrangler's own table. */
const TABLE = `CREATE TABLE IF NOT EXISTS "d1_migrations"(
		id         INTEGER PRIMARY KEY AUTOINCREMENT,
		name       TEXT UNIQUE,
		applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
);`;
const MISSING =
  "SELECT json_quote(value) FROM json_each(?1) WHERE value NOT IN (SELECT name FROM d1_migrations) ORDER BY key";

/**
 * @param {import("./ledger.mjs").Ledger} ledger
 * @param {string} root of the clone
 * @returns {Promise<string[]>} the names of those that were applied
 */
export async function migrate(ledger, root) {
  const folder = join(root, "migrations");
  const names = readdirSync(folder).filter((name) => name.endsWith(".sql"));
  await ledger.script(TABLE);
  const missing = await missingOf(ledger, names.sort());
  for (const name of missing) await apply(ledger, folder, name);
  return missing;
}

/** @returns {Promise<string[]>} */
async function missingOf(ledger, names) {
  const [rows] = await ledger.batch([{ sql: MISSING, parameter: JSON.stringify(names) }]);
  return rows.map((row) => JSON.parse(row));
}

/** A migration and its note are one transaction. One that fails may have been done: by an attempt whose answer was lost, or by somebody else. */
async function apply(ledger, folder, name) {
  const sql = readFileSync(join(folder, name), "utf8");
  const note = `INSERT INTO "d1_migrations" (name)\nvalues ('${name.replaceAll("'", "''")}');`;
  await ledger.script(`${sql}\n${note}`).catch(async (error) => {
    if ((await missingOf(ledger, [name])).length > 0) throw error;
  });
}
