/**
 * Writes backups of a namespace as JSON Lines:
 *
 * - The first line is a header with the format, the environment and the time.
 * - Each further line is a record, sorted by name: `name`, `value` (`base64` if it is not UTF-8), `metadata`,
 *   `expiration`.
 * - If a ledger is bound, rows of the ledger follow: `table` and `row`, a JSON text. The first row is of the
 *   table `database`. The others are the rows that cannot be derived from records (see
 *   `src/office/system/rows/own_rows.rs`). Rows are read last, so that they include every change that a record
 *   mentions.
 * - The last line is a trailer with the numbers of records and rows, and the SHA-256 of all lines before it.
 *
 * At most one page of records is in memory. After an interruption, a backup starts again from the beginning.
 * `increment.mjs` writes incremental backups, with all rows of the ledger. The header of an incremental backup
 * has the SHA-256 of the backup before it. `backup-reader.mjs` reads both.
 */
import { createHash } from "node:crypto";
import { FORMAT, FULL, INCREMENT } from "./backup-reader.mjs";
import { batches } from "./kv.mjs";
import { newFile } from "./new-file.mjs";
import { Refusal, portOf } from "./operator.mjs";
import { progress } from "./progress.mjs";

const MOST_READS = 100;
const MANY = 1_000_000; // bytes of lines that are collected before they are written
const newLine = (data) => Buffer.from(`${JSON.stringify(data)}\n`);

/**
 * Writes all records of a namespace, and the rows that only its ledger has, into a new file.
 * @param {import("./kv.mjs").Kv} kv
 * @param {string} file
 * @param {Record<string, any>} rules the functions of `src/doors/commands`
 */
export function backup(kv, file, rules) {
  const startedAt = new Date().toISOString();
  return writeBackup(kv, file, { startedAt }, kv.list(), rules);
}

/**
 * Writes the header, the records with these names, the rows of the ledger, and the trailer into a new file.
 * @param {import("./kv.mjs").Kv} kv
 * @param {string} file
 * @param {{startedAt: string, after?: {sha256: string, startedAt: string}, completeUpTo?: string}} times the
 *   times that the header states
 * @param {AsyncIterable<import("./kv.mjs").Name>} names the names of the records, in sorted order
 * @param {Record<string, any>} rules the functions of `src/doors/commands`
 * @returns {Promise<{count: number, rows: number, lacks: string | null, sha256: string}>} `lacks`: why the
 *   backup has no rows of the ledger; null if it has them
 */
export function writeBackup(kv, file, times, names, rules) {
  const version = times.after ? INCREMENT : FULL;
  const header = { format: FORMAT, version, place: kv.place, ...times };
  return newFile(file, async (output) => {
    const writer = new Writer(output);
    await writer.write(newLine(header));
    const count = await writeRecords(kv, writer, names);
    const { rows, lacks } = await writeRows(portOf(kv), writer, rules);
    return { count, rows, lacks, sha256: await writer.end({ count, rows }) };
  });
}

async function writeRecords(kv, writer, all) {
  const tell = progress("records copied");
  let count = 0;
  for await (const names of batches(all, MOST_READS)) {
    for await (const line of linesOf(kv, names)) {
      await writer.write(line);
      count += 1;
    }
    tell(count);
  }
  return count;
}

async function writeRows(port, writer, rules) {
  const { database, lacks } = await databaseOf(port, rules);
  if (lacks !== null) return { rows: 0, lacks };
  await writer.write(newLine({ table: "database", row: JSON.stringify(database) }));
  const tell = progress("rows of the ledger copied");
  let rows = 1;
  for (const table of await rules.ownTables()) {
    for await (const row of rowsIn(port, table, rules)) {
      await writer.write(newLine({ table, row }));
      rows += 1;
    }
    tell(rows);
  }
  return { rows, lacks: null };
}

/** Describes the database of the ledger, or says why the backup contains no rows of the ledger. */
async function databaseOf(port, rules) {
  try {
    const database = await rules.headerOfOwnRows(port);
    return { database, lacks: database ? null : "no database is bound as `LEDGER_DB`" };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { database: null, lacks: error.message };
  }
}

async function* rowsIn(port, table, rules) {
  let page = await rules.ownRows(port, table);
  while (page.length > 0) {
    yield* page;
    page = await rules.ownRows(port, table, page.at(-1));
  }
}

/** Yields a line for each record. Leaves out records that were deleted or expired after they were listed. */
async function* linesOf(kv, names) {
  const expirations = new Map(names.map(({ name, expiration }) => [name, expiration]));
  for await (const { name, value, metadata } of kv.read(expirations.keys())) {
    if (value === null) continue;
    yield newLine({
      name,
      ...(await content(kv, name, value)),
      ...(metadata === null ? {} : { metadata }),
      expiration: expirations.get(name),
    });
  }
}

/**
 * Returns a record's value as text, or as base64 if the value is not UTF-8. Text with replacement characters
 * may come from a value that is not UTF-8, so the value's bytes are then read, too.
 */
async function content(kv, name, value) {
  const bytes = value.includes("\ufffd") ? await kv.bytes(name) : null;
  return bytes === null || bytes.equals(Buffer.from(value))
    ? { value }
    : { base64: bytes.toString("base64") };
}

/** Writes lines in batches, and hashes them. */
class Writer {
  #output;
  #hash = createHash("sha256");
  #lines = [];
  #bytes = 0; // of these lines

  /** @param {import("node:fs/promises").FileHandle} output */
  constructor(output) {
    this.#output = output;
  }

  async write(line) {
    this.#hash.update(line);
    this.#lines.push(line);
    this.#bytes += line.length;
    if (this.#bytes >= MANY) await this.#flush();
  }

  /**
   * Writes the trailer, which ends the file.
   * @param {{count: number, rows: number}} counts of records and of rows
   * @returns {Promise<string>} the SHA-256 of the lines before it
   */
  async end(counts) {
    const sha256 = this.#hash.digest("hex");
    this.#lines.push(newLine({ ...counts, sha256 }));
    await this.#flush();
    return sha256;
  }

  async #flush() {
    await this.#output.appendFile(Buffer.concat(this.#lines));
    this.#lines = [];
    this.#bytes = 0;
  }
}
