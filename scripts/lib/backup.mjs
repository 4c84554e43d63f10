/**
 * Writes backups of a namespace as JSON Lines:
 *
 * - The first line is a header with the format, the environment and the time.
 * - Each further line is a record, sorted by name: `name`, `value` (`base64` if it is not UTF-8), `metadata`,
 *   `expiration`.
 * - The last line is a trailer with the number of records and the SHA-256 of all lines before it.
 *
 * At most one page of records is in memory. After an interruption, a backup starts again from the beginning.
 * `increment.mjs` writes incremental backups (version 2). The header of an incremental backup has the SHA-256
 * of the backup before it. `backup-reader.mjs` reads both versions.
 */
import { createHash } from "node:crypto";
import { FORMAT, FULL, INCREMENT } from "./backup-reader.mjs";
import { batches } from "./kv.mjs";
import { newFile } from "./new-file.mjs";
import { progress } from "./progress.mjs";

const MOST_READS = 100;
const MANY = 1_000_000; // bytes of lines that are collected before they are written
const newLine = (data) => Buffer.from(`${JSON.stringify(data)}\n`);

/** Writes all records of a namespace into a new file. @returns {Promise<{count: number, sha256: string}>} */
export function backup(kv, file) {
  const startedAt = new Date().toISOString();
  return writeBackup(kv, file, { startedAt }, kv.list());
}

/**
 * Writes the header, the records with these names, and the trailer into a new file.
 * @param {import("./kv.mjs").Kv} kv
 * @param {string} file
 * @param {{startedAt: string, after?: {sha256: string, startedAt: string}, completeUpTo?: string}} times the
 *   times that the header states
 * @param {AsyncIterable<import("./kv.mjs").Name>} names the names of the records, in sorted order
 * @returns {Promise<{count: number, sha256: string}>}
 */
export function writeBackup(kv, file, times, names) {
  const version = times.after ? INCREMENT : FULL;
  const header = { format: FORMAT, version, place: kv.place, ...times };
  return newFile(file, (output) => writeRecords(kv, new Writer(output), header, names));
}

async function writeRecords(kv, writer, header, all) {
  await writer.write(newLine(header));
  const tell = progress("records copied");
  let count = 0;
  for await (const names of batches(all, MOST_READS)) {
    for await (const line of linesOf(kv, names)) {
      await writer.write(line);
      count += 1;
    }
    tell(count);
  }
  return { count, sha256: await writer.end(count) };
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
   * @returns {Promise<string>} the SHA-256 of the lines before it
   */
  async end(count) {
    const sha256 = this.#hash.digest("hex");
    this.#lines.push(newLine({ count, sha256 }));
    await this.#flush();
    return sha256;
  }

  async #flush() {
    await this.#output.appendFile(Buffer.concat(this.#lines));
    this.#lines = [];
    this.#bytes = 0;
  }
}
