/** Reads backups with at most one line in memory. `backup.mjs` describes their format. */
import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { UserError, fileProblem } from "./output.mjs";

export const FORMAT = "impact-pledge-backup";
/** The versions of the backup format: of full backups, and of incremental backups. */
export const [FULL, INCREMENT] = [3, 4];

const LINE_FEED = 10;
const MOST_OF_HEADER = 65_536; // bytes
const MOST_OF_TRAILER = 256; // bytes
const MOST_OF_VALUE = 25 * 1024 * 1024; // bytes, by Workers KV's limit
const MOST_OF_LINE = 7 * MOST_OF_VALUE; // a control character takes six bytes in JSON
const [MOST_OF_NAME, MOST_OF_METADATA] = [512, 1_024]; // bytes, by Workers KV's limits

/**
 * Yields the records of a backup, and checks each of them. A record's `size` is the length of its line in
 * bytes. Throws a {@link UserError} if the backup is incomplete or was changed. This may be detected only at
 * the end. A caller that must not stop half-way therefore reads the backup twice.
 * @param {string} file
 * @param {(known: {header?: any, count?: number, sha256?: string}) => void} [tell] called with the header and
 *   the trailer
 */
export async function* recordsOf(file, tell = () => {}) {
  for await (const data of dataOf(file, tell)) if (data.table === undefined) yield data;
}

/**
 * Yields the rows of the ledger in a backup, and checks the backup as {@link recordsOf} does. The first row is
 * of the table `database`, and describes the database. A backup without the ledger has no rows.
 * @param {string} file
 * @returns {AsyncGenerator<{table: string, row: string, size: number}>}
 */
export async function* rowsOf(file) {
  for await (const data of dataOf(file, () => {})) if (data.table !== undefined) yield data;
}

async function* dataOf(file, tell) {
  const reader = new Reader(file, tell);
  for await (const line of lines(file)) {
    const data = reader.take(line);
    if (data) yield { ...data, size: line.length };
  }
  reader.end();
}

/** Checks the lines of a backup one by one. */
class Reader {
  #file;
  #tell;
  #hash = createHash("sha256");
  #number = 0;
  #last = ""; // name
  #rows = 0;
  #isWhole = false;

  constructor(file, tell) {
    this.#file = file;
    this.#tell = tell;
  }

  /**
   * Checks one line.
   * @returns {any} the record or row of the line; null for the header, the trailer or a partial line
   */
  take(line) {
    this.#number += 1;
    if (this.#isWhole) throw this.#changed("lines were added after its end");
    const record = this.#read(line);
    this.#hash.update(line);
    return record;
  }

  #read(line) {
    if (this.#number === 1) return this.#tell({ header: headerOf(this.#file, line) }) ?? null;
    if (line.at(-1) !== LINE_FEED) return null; // the file is incomplete: `end` throws
    const data = parsed(line);
    if (isText(data?.sha256) && data.name === undefined) return this.#finish(data);
    if (data?.table !== undefined) return this.#row(data);
    const wrong = wrongIn(data);
    if (wrong) throw this.#changed(`line ${this.#number} ${wrong}`);
    if (this.#rows > 0 || (this.#number > 2 && order(this.#last, data.name) >= 0))
      throw this.#changed(`line ${this.#number} is out of order`);
    this.#last = data.name;
    return data;
  }

  #row(data) {
    if (!isText(data.table) || !isWellFormed(data.row))
      throw this.#changed(`line ${this.#number} is not a row of the ledger`);
    this.#rows += 1;
    return data;
  }

  #finish(trailer) {
    const { count, rows } = trailer;
    const [records, said] = [this.#number - 2 - this.#rows, Number(count)];
    if (count !== records)
      throw new UserError(
        `${this.#file} has ${records} records, but its last line says ${said}: it was changed`,
      );
    if (rows !== this.#rows) throw this.#changed("rows of the ledger are missing or were added");
    if (trailer.sha256 !== this.#hash.copy().digest("hex"))
      throw this.#changed("its SHA-256 differs from the value in its last line");
    this.#isWhole = true;
    return this.#tell(trailer) ?? null;
  }

  /** Throws if the last line was not the trailer. */
  end() {
    if (this.#number === 0) throw new UserError(`${this.#file} is not a backup of this service`);
    if (!this.#isWhole)
      throw new UserError(`${this.#file} is not complete: its last line is missing`);
  }

  #changed = (how) => new UserError(`${this.#file} was changed: ${how}`);
}

/**
 * Yields the lines of a file, each with its line feed, which only the last line may lack. Other line separators
 * do not end a line, because a record may contain them. Throws if the first line is longer than a header can
 * be, because a large file of another kind may have no line feed at all.
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
    if (bytes > most) throw new UserError(`${file} is not a backup of this service`);
  }
  if (pieces.length > 0) yield Buffer.concat(pieces);
}

async function* chunks(file) {
  try {
    yield* createReadStream(file, { highWaterMark: 1 << 20 });
  } catch (error) {
    if (!error.syscall) throw error;
    const { message } = fileProblem(file, error);
    const isBegun = error.code === "ENOENT" && existsSync(`${file}.part`);
    throw new UserError(
      isBegun ? `${message}: its backup is not complete, run \`backup\` again` : message,
    );
  }
}

/** Returns the header and the SHA-256 of a backup, without reading its records. @param {string} file */
export async function endsOf(file) {
  for await (const line of lines(file)) {
    const header = headerOf(file, line);
    const last = parsed(await lastLine(file));
    if (!isText(last?.sha256))
      throw new UserError(`${file} is not complete: its last line is missing`);
    return { header, sha256: last.sha256 };
  }
  throw new UserError(`${file} is not a backup of this service`);
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
  const isIncrement = header?.version === INCREMENT;
  if (header?.format !== FORMAT || !isWhole || (isIncrement && !continues))
    throw new UserError(`${file} is not a backup of this service`);
  if (header.version > INCREMENT)
    throw new UserError(`${file} was written by a later release: restore it with that release`);
  return header;
}

const isText = (value) => typeof value === "string";
const isPlace = (place) =>
  isText(place?.folder) ||
  [place?.account, place?.environment ?? "", place?.worker, place?.namespace].every(isText);

const isShort = (text, most) => Buffer.byteLength(text) <= most;
const isWellFormed = (text) => isText(text) && Buffer.from(text).toString() === text;
/**
 * For each member of a record, a function that returns whether Workers KV would accept its value.
 * @type {Record<string, (record: any) => boolean>}
 */
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

/** Describes what is wrong with a record; undefined if it is valid. */
function wrongIn(record) {
  if (record === null || typeof record !== "object") return "is not a record";
  const member = Object.keys(MEMBERS).find((name) => !MEMBERS[name](record));
  return member && `has an invalid \`${member}\``;
}

/** Parses the JSON of a line. @returns {any} null if the bytes are not JSON */
function parsed(bytes) {
  try {
    return isUtf8(bytes) ? JSON.parse(String(bytes)) : null;
  } catch {
    return null;
  }
}

/** Compares names in the order in which KV lists them: by their UTF-8 bytes. */
export const order = (a, b) => (a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b)));
