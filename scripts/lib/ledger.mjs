/**
 * Gives commands access to the ledger, on this machine or through Cloudflare's API. The SQL statements are in
 * `src/office/system/rule`. Each of them is safe to retry.
 */
import { join } from "node:path";
import { atomicOnly, changes } from "./atomic.mjs";
import { locked } from "./cache.mjs";
import { DASHBOARD, configuration } from "./configuration.mjs";
import { migrate } from "./migrations.mjs";
import { UserError } from "./output.mjs";
import { calledAs } from "./places.mjs";
import { LOCKED, retried } from "./retried.mjs";

export const BINDING = "LEDGER_DB";
const MOST_BYTES = 2_000_000; // of a text: D1's limit, which local D1 does not enforce
const MOST_RESULT = 50_000_000; // of all texts of an answer, likewise a limit of D1

/** Matches the messages of temporary errors: those of a locked local database, and those of D1. */
const PASSES = new RegExp(
  `${LOCKED.source}|Failed to get session commit token|object to be reset|code was updated|transient issue|D1 DB is overloaded`,
);

/**
 * An SQL statement. Its only parameter is `?1`, a JSON text. Each row of its result has one column, a JSON
 * text.
 * @typedef {{sql: string, parameter: string}} Statement
 * A local or deployed database. `batch` runs statements in one transaction, and returns the first column of
 *   each statement's rows. `script` runs several statements in one transaction, and returns no rows.
 * @typedef {{batch: (statements: Statement[]) => Promise<unknown[][]>, script: (sql: string) => Promise<unknown>}} Database
 */

/**
 * Runs SQL statements on the ledger. Every failure is a {@link UserError}. If a statement violates a
 * constraint, the error has `constraint` and SQLite's message.
 */
export class Ledger {
  #database;
  #prepare;
  #beforeChange;
  /** @type {Promise<unknown> | null} */
  #prepared = null;

  /**
   * Gives access to a database.
   * @param {Database} database
   * @param {{prepare?: (ledger: Ledger) => Promise<unknown>, beforeChange?: (ledger: Ledger) => Promise<unknown>}} [before]
   *   `prepare` runs before the first statement, `beforeChange` before each change
   */
  constructor(database, { prepare = async () => {}, beforeChange = async () => {} } = {}) {
    this.#database = database;
    this.#prepare = prepare;
    this.#beforeChange = beforeChange;
  }

  /** Waits until statements can be run. */
  ready() {
    this.#prepared ??= this.#prepare(this).catch((error) => {
      this.#prepared = null;
      throw error;
    });
    return this.#prepared;
  }

  /** Waits until statements that change something can be run. Throws if they must not be run. */
  async readyForChanges() {
    await this.ready();
    await this.#beforeChange(this);
  }

  /**
   * Runs statements in one transaction. Either all of them take effect, or none.
   * @param {Statement[]} statements
   * @returns {Promise<string[][]>} the rows of each statement
   */
  run = async (statements) => {
    await (statements.some(({ sql }) => changes(sql)) ? this.readyForChanges() : this.ready());
    return this.batch(statements);
  };

  /**
   * Runs statements as `run` does, without waiting until the database is ready, and without a check before a change.
   * @param {Statement[]} statements
   * @returns {Promise<string[][]>}
   */
  async batch(statements) {
    for (const { parameter } of statements) checkSize([parameter], MOST_BYTES, "a parameter");
    const results = await repeated(() => this.#database.batch(statements));
    const texts = results.map((rows) => rows.map(String));
    checkSize(texts.flat(), MOST_RESULT, "an answer");
    return texts;
  }

  /**
   * Runs several statements in one transaction, and retries them after temporary errors.
   * @param {string} sql statements without parameters
   */
  script = (sql) => repeated(() => this.#database.script(sql));
}

/**
 * Throws if the texts together have more than `most` bytes.
 * @param {string[]} texts
 * @param {number} most the maximum number of bytes
 */
function checkSize(texts, most, what) {
  if (texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) > most)
    throw new UserError(`${what} of the ledger is larger than ${most / 1_000_000} MB`);
}

/** @template T @param {() => Promise<T>} act @returns {Promise<T>} */
const repeated = (act) =>
  retried(PASSES, act).catch((error) => {
    throw failureOf(error);
  });

/**
 * Converts an error of the database to the error that users see.
 * @param {Error & {said?: string, status?: number}} error `said`: the message of Cloudflare's API
 */
function failureOf(error) {
  if (error.status === 404)
    return new UserError(
      `the account has no database for the ledger (${error.said ?? error.message}): run \`${calledAs("deploy")} --dashboard\`, which creates it. If ${DASHBOARD} has its \`database_id\`, remove that line first`,
    );
  const said = error.said ?? error.message.replace(/^local ledger: (D1_ERROR: )?/, "");
  const [, refusal] = said.match(/^(.*?): SQLITE_CONSTRAINT/s) ?? [];
  if (refusal !== undefined) return Object.assign(new UserError(refusal), { constraint: true });
  if (!/^no such (table|column)/.test(said)) return error;
  return new UserError(
    `the ledger lacks tables or columns that this version needs: run \`${calledAs("deploy")} --dashboard\` to add them (${said})`,
  );
}

/**
 * Returns the ledger that `wrangler dev` uses in this folder. Before the first statement, its tables are
 * created or updated. Only one program does this at a time.
 * @param {{root: string}} tools
 * @param {{folder: string, runtime: import("./runtime.mjs").Runtime}} local
 */
export function localLedger({ root }, { folder, runtime }) {
  const ask = (act, asked) => runtime.ask(act, asked, "local ledger");
  const database = {
    batch: async (statements) => firstColumns(await ask("batch", statements.map(withParameters))),
    script: (sql) => ask("script", sql),
  };
  const prepare = (ledger) => locked(join(folder, "ledger"), () => migrate(ledger, root));
  return new Ledger(database, { prepare });
}

/**
 * Returns a statement with its parameters. A statement without `?1` gets none, because D1 refuses unused
 * parameters.
 * @param {Statement} statement
 */
const withParameters = ({ sql, parameter }) => ({
  sql,
  params: sql.includes("?1") ? [parameter] : [],
});

/**
 * Returns the first column of each row.
 * @param {{results: Record<string, unknown>[]}[]} answers D1's answers, one for each statement
 */
const firstColumns = (answers) =>
  answers.map(({ results }) => results.map((row) => Object.values(row)[0]));

/**
 * Returns the ledger of the deployed dashboard; null if the dashboard has none or is not deployed. Refuses changes if
 * Cloudflare's API does not run a batch as one transaction.
 * @param {{root: string, project?: string}} tools
 * @param {import("./cloudflare.mjs").Cloudflare} cloudflare
 * @param {string} [environment]
 */
export async function deployedLedger({ root, project = root }, cloudflare, environment) {
  const file = join(project, DASHBOARD);
  const { definedEnvironments: known = [] } = await configuration(file);
  if (environment !== undefined && !known.includes(environment)) return null;
  const { name: worker = "", d1_databases } = await configuration(file, environment);
  const configured = d1_databases.find(({ binding }) => binding === BINDING)?.database_id;
  const bound = async () =>
    (await cloudflare.bindingsIfAny(worker)).find(
      ({ name, type }) => name === BINDING && type === "d1",
    );
  const id = configured ?? (await bound())?.id;
  const before = { beforeChange: atomicOnly() };
  return id ? new Ledger(restDatabase(cloudflare, id), before) : null;
}

/** @param {import("./cloudflare.mjs").Cloudflare} cloudflare @param {string} id @returns {Database} */
export function restDatabase(cloudflare, id) {
  const path = `/d1/database/${encodeURIComponent(id)}/query`;
  const ask = async (body) => (await cloudflare.call("ask the ledger", "POST", path, body)).result;
  return {
    batch: async (statements) => firstColumns(await ask({ batch: statements.map(withParameters) })),
    script: (sql) => ask({ sql }),
  };
}
