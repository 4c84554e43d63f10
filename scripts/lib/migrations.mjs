/**
 * Applies the migrations that a ledger does not have yet. Records them as `wrangler d1 migrations apply` does.
 */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { wrangler } from "./cloudflare-packages.mjs";
import { UserError } from "./output.mjs";
import { MIGRATIONS_FOLDER } from "./places.mjs";

/** The table in which wrangler records applied migrations. */
const TABLE = `CREATE TABLE IF NOT EXISTS "d1_migrations"(
		id         INTEGER PRIMARY KEY AUTOINCREMENT,
		name       TEXT UNIQUE,
		applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
);`;
const UNKNOWN =
  "SELECT json_quote(name) FROM d1_migrations WHERE name NOT IN (SELECT value FROM json_each(?1)) ORDER BY id";
const MISSING =
  "SELECT json_quote(value) FROM json_each(?1) WHERE value NOT IN (SELECT name FROM d1_migrations) ORDER BY key";

/**
 * Applies the missing migrations. Throws if the database is of a later version, because this version may not
 * know its tables.
 * @param {import("./ledger.mjs").Ledger} ledger
 * @param {string} root of the clone or npm package
 * @param {() => Promise<void>} [beforeUpdate] is called before the first migration of a database that has rows
 * @returns {Promise<string[]>} the names of the migrations that were applied
 */
export async function migrate(ledger, root, beforeUpdate = async () => {}) {
  const folder = join(root, MIGRATIONS_FOLDER);
  const names = readdirSync(folder).filter((name) => name.endsWith(".sql"));
  await ledger.script(TABLE);
  const [[later], missing] = await namesOf(ledger, names.sort(), UNKNOWN, MISSING);
  if (later !== undefined)
    throw new UserError(
      `a later version has updated the ledger's tables by \`${later}\`: use that version or a newer one. Nothing was changed`,
    );
  if (missing.length > 0 && missing.length < names.length) await beforeUpdate();
  for (const name of missing) await apply(ledger, folder, name);
  return missing;
}

/**
 * Runs queries with `names` as their parameter, and returns the names that each query finds.
 * @returns {Promise<string[][]>}
 */
async function namesOf(ledger, names, ...queries) {
  const parameter = JSON.stringify(names);
  const answers = await ledger.batch(queries.map((sql) => ({ sql, parameter })));
  return answers.map((rows) => rows.map((row) => JSON.parse(row)));
}

/**
 * Applies and records a migration in one transaction, as a batch like those of all other changes. Ignores an error if the
 * migration is applied nevertheless: by another program, or by an earlier call whose answer was lost.
 */
async function apply(ledger, folder, name) {
  const sql = readFileSync(join(folder, name), "utf8");
  const note = `INSERT INTO "d1_migrations" (name)\nvalues ('${name.replaceAll("'", "''")}');`;
  const { unstable_splitSqlQuery: split } = wrangler();
  const statements = split(`${sql}\n${note}`).map((one) => ({ sql: one, parameter: "" }));
  await ledger.batch(statements).catch(async (error) => {
    const [missing] = await namesOf(ledger, [name], MISSING);
    if (missing.length > 0) throw error;
  });
}
