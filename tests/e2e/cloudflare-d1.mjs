/** A stand-in for the part of Cloudflare's API for D1 that wrangler and the commands use. */
import { randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { wrangler } from "../../scripts/lib/cloudflare-packages.mjs";
import { failure, ok } from "./cloudflare-answers.mjs";

const { unstable_splitSqlQuery: split } = wrangler();

const [MOST_TEXT, MOST_SQL] = [2_000_000, 100_000]; // bytes, D1's limits
/** SQLite's result codes by number; D1 appends their names to its messages. */
const CODES = { 1: "SQLITE_ERROR", 5: "SQLITE_BUSY", 18: "SQLITE_TOOBIG", 19: "SQLITE_CONSTRAINT" };

/**
 * Creates a database in an account.
 * @param {any[]} databases the account's databases
 * @param {string} name
 * @param {string | null} [jurisdiction]
 */
export function makeDatabase(databases, name, jurisdiction = null) {
  const about = { uuid: randomUUID(), name, jurisdiction, version: "production" };
  const created_at = new Date().toISOString();
  const database = { ...about, created_at, sqlite: new DatabaseSync(":memory:") };
  databases.push(database);
  return database;
}

/**
 * Adds the routes of Cloudflare's API for D1 to a server.
 * @param {import("hono").Hono} app
 * @param {string} path the path of the account's databases
 * @param {{databases: any[], isAtomic: boolean}} account its databases. If `isAtomic` is false, each statement of a
 *   batch is a transaction of its own
 */
export function serveD1(app, path, account) {
  const { databases } = account;
  const named = (text) => databases.find(({ uuid, name }) => text === uuid || text === name);
  const missing = (text) => failure(404, `The database ${text} could not be found`, 7404);
  const about = ({ sqlite: _, ...database }) => database;

  app.get(path, () => ok(databases.map(about), { total_count: databases.length }));
  app.post(path, async ({ req }) => {
    const { name, jurisdiction } = await req.json();
    if (named(name)) return failure(400, `Database with name '${name}' already exists`, 7502);
    return ok(about(makeDatabase(databases, name, jurisdiction)));
  });
  app.get(`${path}/:id`, ({ req }) => {
    const database = named(req.param("id"));
    return database ? ok(about(database)) : missing(req.param("id"));
  });
  app.delete(`${path}/:id`, ({ req }) => {
    const database = named(req.param("id"));
    if (!database) return missing(req.param("id"));
    databases.splice(databases.indexOf(database), 1);
    return ok(null);
  });
  app.post(`${path}/:id/query`, async ({ req }) => {
    const database = named(req.param("id"));
    if (!database) return missing(req.param("id"));
    const { batch, ...query } = await req.json();
    try {
      const run = batch && !account.isAtomic ? oneByOne : transaction;
      return ok(run(database.sqlite, (batch ?? [query]).flatMap(statementsOf)));
    } catch ({ message, errcode = 1 }) {
      return failure(400, `${message}: ${CODES[errcode & 0xff] ?? "SQLITE_ERROR"}`, 7500);
    }
  });
}

/**
 * Creates a database in memory, as the ledger of commands uses it.
 * @returns {import("../../scripts/lib/ledger.mjs").Database}
 */
export function memoryDatabase() {
  const { sqlite } = makeDatabase([], "memory");
  const column = ({ results }) => results.map((row) => Object.values(row)[0]);
  const run = ({ sql, parameter }) => ({ sql, params: sql.includes("?1") ? [parameter] : [] });
  return {
    batch: async (statements) => transaction(sqlite, statements.map(run)).map(column),
    script: async (sql) => transaction(sqlite, statementsOf({ sql })),
  };
}

/** Splits an SQL text into its statements, in order. A text with parameters has only one statement. */
const statementsOf = ({ sql, params = [] }) =>
  params.length > 0 ? [{ sql, params }] : split(sql).map((one) => ({ sql: one, params }));

/** Runs statements in one transaction. @param {DatabaseSync} sqlite */
function transaction(sqlite, statements) {
  sqlite.exec("BEGIN");
  try {
    const results = statements.map((statement) => runOne(sqlite, statement));
    sqlite.exec("COMMIT");
    return results;
  } catch (error) {
    sqlite.exec("ROLLBACK");
    throw error;
  }
}

/** Runs each statement in a transaction of its own. Stops at the first that fails. @param {DatabaseSync} sqlite */
const oneByOne = (sqlite, statements) => statements.map((statement) => runOne(sqlite, statement));

function runOne(sqlite, { sql, params }) {
  if (sql.length > MOST_SQL) throw tooBig("statement too long");
  if (params.some((text) => Buffer.byteLength(text) > MOST_TEXT))
    throw tooBig("string or blob too big");
  const results = sqlite.prepare(sql).all(...params);
  return {
    results,
    success: true,
    meta: { duration: 0, changes: 0, rows_read: 0, rows_written: 0 },
  };
}

const tooBig = (message) => Object.assign(new Error(message), { errcode: 18 });
