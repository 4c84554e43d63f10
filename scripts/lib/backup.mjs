/**
 * Backups of a namespace: JSON Lines. The first line is a header (format, place, time), the last one a trailer (count, SHA-256
 * of all lines before it), and each between is a record in the order of names: `name`, `value` or, where it is no UTF-8,
 * `base64`, `metadata`, `expiration`. A page of records is held at most. A backup that was broken off begins anew.
 * `increment.mjs` writes those that continue another one, of version 2: the header has the SHA-256 of that one.
 */
import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { batches } from "./kv.mjs";
import { newFile } from "./new-file.mjs";
import { UserError } from "./output.mjs";
import { progress } from "./progress.mjs";

const FORMAT = "impact-pledge-backup";
const [FULL, INCREMENT] = [1, 2]; // versions
const MOST_READS = 100;
const MANY = 1_000_000; // bytes of lines that are written at once
const newLine = (data) => Buffer.from(`${JSON.stringify(data)}\n`);

// ---- Backup --------------------------------------------------------------------------------------

/** Writes all records of a namespace into a new file. @returns {Promise<{count: number, sha256: string}>} */
export function backup(kv, file) {
  const startedAt = new Date().toISOString();
  return writeBackup(kv, file, { startedAt }, kv.list());
}

/**
 * Writes records into a new file.
 * @param {import("./kv.mjs").Kv} kv
 * @param {string} file
 * @param {{startedAt: string, after?: {sha256: string, startedAt: string}, completeUpTo?: string}} times of the header
 * @param {AsyncIterable<import("./kv.mjs").Name>} names in their order
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

/** Records that are deleted or expire after they are listed are left out. */
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

/** A value that is no UTF-8 was read with replacement characters. */
async function content(kv, name, value) {
  const bytes = value.includes("\ufffd") ? await kv.bytes(name) : null;
  return bytes === null || bytes.equals(Buffer.from(value))
    ? { value }
    : { base64: bytes.toString("base64") };
}

/** Writes lines, some at once, and hashes them. */
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
   * Ends the file with the trailer.
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

// ---- Reading -------------------------------------------------------------------------------------

const LINE_FEED = 10;
const MOST_OF_HEADER = 65_536; // bytes
const MOST_OF_TRAILER = 256; // bytes
const MOST_OF_VALUE = 25 * 1024 * 1024; // bytes, by Workers KV's limit
const MOST_OF_LINE = 7 * MOST_OF_VALUE; // a control character takes six bytes in JSON
const [MOST_OF_NAME, MOST_OF_METADATA] = [512, 1_024]; // bytes, by Workers KV's limits

/**
 * The records of a backup, with the bytes of their lines as `size`, each of them checked. What is no whole backup, as it
 * was written, fails with a {@link UserError}, at its end at the latest: a reader that must not stop half-way reads it twice.
 * @param {string} file
 * @param {(known: {header?: any, count?: number, sha256?: string}) => void} [tell] hears the header and the trailer
 */
export async function* recordsOf(file, tell = () => {}) {
  const reader = new Reader(file, tell);
  for await (const line of lines(file)) {
    const record = reader.take(line);
    if (record) yield { ...record, size: line.length };
  }
  reader.end();
}

/** Takes the lines of a backup one by one. */
class Reader {
  #file;
  #tell;
  #hash = createHash("sha256");
  #number = 0;
  #last = ""; // name
  #isWhole = false;

  constructor(file, tell) {
    this.#file = file;
    this.#tell = tell;
  }

  /** @returns {any} the record of a line, null for one that has none */
  take(line) {
    this.#number += 1;
    if (this.#isWhole) throw this.#changed("it goes on after its end");
    const record = this.#read(line);
    this.#hash.update(line);
    return record;
  }

  #read(line) {
    if (this.#number === 1) return this.#tell({ header: headerOf(this.#file, line) }) ?? null;
    if (line.at(-1) !== LINE_FEED) return null; // of an incomplete file
    const data = parsed(line);
    if (isText(data?.sha256) && data.name === undefined) return this.#finish(data);
    const wrong = wrongIn(data);
    if (wrong) throw this.#changed(`line ${this.#number} ${wrong}`);
    if (this.#number > 2 && order(this.#last, data.name) >= 0)
      throw this.#changed(`line ${this.#number} is not in the order of names`);
    this.#last = data.name;
    return data;
  }

  #finish(trailer) {
    const count = this.#number - 2;
    if (trailer.count !== count)
      throw new UserError(
        `${this.#file} has ${count} records, and its last line says ${Number(trailer.count)}: it was changed`,
      );
    if (trailer.sha256 !== this.#hash.copy().digest("hex"))
      throw this.#changed("its SHA-256 is not that of its last line");
    this.#isWhole = true;
    return this.#tell(trailer) ?? null;
  }

  /** Fails unless the last line was a trailer. */
  end() {
    if (this.#number === 0) throw new UserError(`${this.#file} is no backup of this service`);
    if (!this.#isWhole)
      throw new UserError(`${this.#file} is not complete: its last line is missing`);
  }

  #changed = (how) => new UserError(`${this.#file} was changed: ${how}`);
}

/**
 * Lines with their line feeds; the last may lack it. Line feeds alone count: a record may have other separators. The first
 * has at most as many bytes as a header: a large file may have no line.
 */
async function* lines(file) {
  /** @type {Buffer[]} */
  let pieces = [];
  let [bytes, most] = [0, MOST_OF_HEADER];
  for await (const chunk of chunks(file)) {
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, from)) {
      yield Buffer.concat([...pieces, chunk.subarray(from, at + 1)]);
      [pieces, bytes, most] = [[], 0, MOST_OF_LINE];
      from = at + 1;
    }
    if (from < chunk.length) pieces.push(chunk.subarray(from));
    bytes += chunk.length - from;
    if (bytes > most) throw new UserError(`${file} is no backup of this service`);
  }
  if (pieces.length > 0) yield Buffer.concat(pieces);
}

async function* chunks(file) {
  try {
    yield* createReadStream(file, { highWaterMark: 1 << 20 });
  } catch (error) {
    if (!error.syscall) throw error;
    if (error.code !== "ENOENT") throw new UserError(`${file} can't be read: ${error.message}`);
    const part = existsSync(`${file}.part`) ? ": its backup is not complete, run that again" : "";
    throw new UserError(`there is no file ${file}${part}`);
  }
}

/** The header and the SHA-256 of a backup, whose records are not looked at. @param {string} file */
export async function endsOf(file) {
  for await (const line of lines(file)) {
    const header = headerOf(file, line);
    const last = parsed(await lastLine(file));
    if (!isText(last?.sha256))
      throw new UserError(`${file} is not complete: its last line is missing`);
    return { header, sha256: last.sha256 };
  }
  throw new UserError(`${file} is no backup of this service`);
}

async function lastLine(file) {
  const input = await open(file);
  try {
    const { size } = await input.stat();
    const length = Math.min(size, MOST_OF_TRAILER);
    const { buffer } = await input.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.subarray(buffer.lastIndexOf(LINE_FEED, length - 2) + 1);
  } finally {
    await input.close();
  }
}

function headerOf(file, line) {
  const header = line.length > MOST_OF_HEADER ? null : parsed(line);
  const isWhole = header?.version >= FULL && isText(header.startedAt) && isPlace(header.place);
  const { after, completeUpTo } = header ?? {};
  const continues = [after?.sha256, after?.startedAt, completeUpTo].every(isText);
  if (header?.format !== FORMAT || !isWhole || (header.version === INCREMENT && !continues))
    throw new UserError(`${file} is no backup of this service`);
  if (header.version > INCREMENT)
    throw new UserError(`${file} was written by a later release: restore it with that one`);
  return header;
}

const isText = (value) => typeof value === "string";
const isPlace = (place) =>
  isText(place?.folder) ||
  [place?.account, place?.environment ?? "", place?.worker, place?.namespace].every(isText);

const isShort = (text, most) => Buffer.byteLength(text) <= most;
const isWellFormed = (text) => isText(text) && Buffer.from(text).toString() === text;
/** Members of a record, and whether they are what Workers KV takes. @type {Record<string, (record: any) => boolean>} */
const MEMBERS = {
  name: ({ name }) =>
    isWellFormed(name) && isShort(name, MOST_OF_NAME) && !["", ".", ".."].includes(name),
  value: ({ value, base64 }) =>
    base64 === undefined
      ? isWellFormed(value) && isShort(value, MOST_OF_VALUE)
      : value === undefined,
  base64: ({ base64 }) =>
    base64 === undefined ||
    (isText(base64) && Buffer.from(base64, "base64").toString("base64") === base64),
  metadata: ({ metadata }) =>
    metadata === undefined || isShort(JSON.stringify(metadata), MOST_OF_METADATA),
  expiration: ({ expiration }) => expiration === undefined || Number.isSafeInteger(expiration),
};

/** What is wrong in a record, in words. */
function wrongIn(record) {
  if (record === null || typeof record !== "object") return "is no record";
  const member = Object.keys(MEMBERS).find((name) => !MEMBERS[name](record));
  return member && `has a wrong \`${member}\``;
}

/** @returns {any} null if it is no JSON */
function parsed(bytes) {
  try {
    return isUtf8(bytes) ? JSON.parse(String(bytes)) : null;
  } catch {
    return null;
  }
}

/** The order in which KV lists names, that of their UTF-8 bytes. */
export const order = (a, b) => (a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b)));
