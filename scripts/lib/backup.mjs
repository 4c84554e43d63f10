/**
 * Backups of a namespace: JSON Lines. The first line is a header (format, place, time), the last one a trailer (count, SHA-256
 * of all lines before it), and each between is a record in the order of names: `name`, `value` or, where it is no UTF-8,
 * `base64`, `metadata`, `expiration`. Both ways go on where they were broken off, and hold a page of records at most.
 */
import { createHash } from "node:crypto";
import {
  createReadStream,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { batches } from "./kv.mjs";
import { progress } from "./progress.mjs";
import { UserError } from "./output.mjs";

const [FORMAT, VERSION] = ["impact-pledge-backup", 1];
const ONLY_MINE = 0o600; // a backup holds personal data and secrets
const MOST_WRITES = 1_000;
const MOST_READS = 100;
const LEAST_LIFE = 90; // seconds: KV takes no expiry within the next 60
const [LOOKS, WAIT_MS, MOST_DIFFERING] = [5, 30_000, 1_000]; // KV may show a write late

const MANY = 1_000_000; // bytes of lines that are written at once
const newLine = (data) => Buffer.from(`${JSON.stringify(data)}\n`);

// ---- Backup --------------------------------------------------------------------------------------

/** Writes all records of a namespace into a file that does not exist. @returns {Promise<{count: number, sha256: string, resumed: boolean}>} */
export async function backup(kv, file) {
  const [part, side] = [`${file}.part`, `${file}.progress`];
  const known = readState(side, kv.place, ({ task }) => task === "backup");
  if (existsSync(file)) return finished(file, known && side);
  const before = existsSync(part) ? known : null;
  const output = await open(part, before ? "r+" : "w", ONLY_MINE);
  try {
    await output.chmod(ONLY_MINE);
    const writer = new Writer(
      output,
      side,
      before ?? {
        task: "backup",
        place: kv.place,
        bytes: 0,
        count: 0,
        cursor: null,
        listed: false,
      },
    );
    await (before ? writer.resume(part) : writer.begin());
    if (!writer.state.listed) await copy(kv, writer);
    const { count } = writer.state;
    const sha256 = await writer.end();
    renameSync(part, file);
    rmSync(side, { force: true });
    return { count, sha256, resumed: before !== null };
  } finally {
    await output.close();
  }
}

/** A backup that was broken off after its last step, which left the side file. */
async function finished(file, side) {
  if (!side)
    throw new UserError(`${file} exists, and no backup is overwritten: choose another name`);
  const { count, sha256 } = await check(file);
  rmSync(side);
  return { count, sha256, resumed: true };
}

async function copy(kv, writer) {
  const tell = progress("records copied");
  const pages = kv.pages("", writer.state.cursor);
  for (;;) {
    const page = await pages.next().catch(({ message }) => {
      throw new UserError(
        `${message}; once this works, the same command goes on after ${writer.state.count} records; if it never does, delete the file that ends with \`.part\` to begin again`,
      );
    });
    if (page.done) return;
    const { names, cursor } = page.value;
    for await (const line of linesOf(kv, names)) await writer.write(line);
    await writer.save({ cursor, listed: cursor === null });
    tell(writer.state.count);
  }
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

/** Appends lines, and keeps in a side file how far they are safely written. */
class Writer {
  #output;
  #side;
  #hash = createHash("sha256");
  #lines = [];
  #bytes = 0; // of these lines
  #position = 0;
  #count = 0;

  constructor(output, side, state) {
    [this.#output, this.#side, this.state] = [output, side, state];
  }

  async begin() {
    await this.#append(
      newLine({
        format: FORMAT,
        version: VERSION,
        place: this.state.place,
        startedAt: new Date().toISOString(),
      }),
    );
  }

  /** Drops what was written after the last state, of which nothing is known. */
  async resume(part) {
    const { bytes, count } = this.state;
    if ((await this.#output.stat()).size < bytes)
      throw new UserError(`${part} is shorter than it was: delete it to begin again`);
    for await (const chunk of createReadStream(part, { end: bytes - 1 })) this.#hash.update(chunk);
    await this.#output.truncate(bytes);
    [this.#position, this.#count] = [bytes, count];
  }

  async write(line) {
    this.#count += 1;
    await this.#append(line);
  }

  async #append(line) {
    this.#hash.update(line);
    this.#lines.push(line);
    this.#bytes += line.length;
    if (this.#bytes >= MANY) await this.#flush();
  }

  async #flush() {
    const bytes = Buffer.concat(this.#lines);
    for (let done = 0; done < bytes.length; )
      done += (await this.#output.write(bytes, done, bytes.length - done, this.#position + done))
        .bytesWritten;
    this.#position += bytes.length;
    [this.#lines, this.#bytes] = [[], 0];
  }

  async save(state) {
    await this.#flush();
    await this.#output.datasync();
    this.state = { ...this.state, ...state, bytes: this.#position, count: this.#count };
    writeState(this.#side, this.state);
  }

  async end() {
    const sha256 = this.#hash.digest("hex");
    this.#lines = [newLine({ count: this.#count, sha256 })];
    await this.#flush();
    await this.#output.sync();
    return sha256;
  }
}

// ---- Side files ----------------------------------------------------------------------------------

function writeState(side, state) {
  writeFileSync(`${side}.new`, JSON.stringify(state), { mode: ONLY_MINE });
  renameSync(`${side}.new`, side); // all of it or nothing
}

/** What a run before left of the same work, or null. */
function readState(side, place, isSame) {
  const state = existsSync(side) ? JSON.parse(readFileSync(side, "utf8")) : null;
  if (state && !isDeepStrictEqual(state.place, place))
    throw new UserError(`${side} is of another place: finish there, or delete it`);
  return state && isSame(state) ? state : null;
}

// ---- Reading -------------------------------------------------------------------------------------

/** Lines with their line feeds, and where each ends. Line feeds alone count: a record may have other separators. */
async function* lines(file, { start = 0, end = Number.POSITIVE_INFINITY } = {}) {
  let [pieces, position] = [[], start];
  if (start >= end) return;
  for await (const chunk of createReadStream(file, {
    start,
    end: end - 1,
    highWaterMark: 1 << 20,
  })) {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      const bytes = Buffer.concat([...pieces, chunk.subarray(from, at + 1)]);
      [pieces, from] = [[], at + 1];
      yield { bytes, end: (position += bytes.length) };
    }
    if (from < chunk.length) pieces.push(chunk.subarray(from));
  }
  if (pieces.length > 0) yield { bytes: Buffer.concat(pieces), end: null };
}

/** Is it a whole backup, as it was written? @returns {Promise<{header: any, count: number, sha256: string, start: number, end: number}>} `start` and `end` of its records */
export async function check(file) {
  const hash = createHash("sha256");
  let [header, last, count, start, end] = [null, null, -1, 0, 0];
  for await (const line of lines(file)) {
    if (last) hash.update(last.bytes);
    if (!header) [header, start] = [parsed(line.bytes) ?? {}, line.end];
    else [end, count] = [last.end, count + 1];
    last = line;
  }
  if (header?.format !== FORMAT) throw new UserError(`${file} is no backup of this service`);
  if (header.version > VERSION)
    throw new UserError(`${file} was written by a later release: restore it with that one`);
  const trailer = parsed(last.bytes);
  if (last.end === null || typeof trailer?.sha256 !== "string")
    throw new UserError(`${file} is not complete: its last line is missing`);
  if (trailer.count !== count)
    throw new UserError(
      `${file} has ${count} records, and its last line says ${trailer.count}: it was changed`,
    );
  if (trailer.sha256 !== hash.digest("hex"))
    throw new UserError(`${file} was changed: its SHA-256 is not that of its last line`);
  return { header, count, sha256: trailer.sha256, start, end };
}

function parsed(bytes) {
  try {
    return JSON.parse(bytes);
  } catch {
    return null;
  }
}

async function* recordsOf(file, range) {
  for await (const { bytes, end } of lines(file, range))
    yield { ...JSON.parse(bytes), end, size: bytes.length };
}

// ---- Restore -------------------------------------------------------------------------------------

/**
 * Writes all records of a backup, and reads them back. Without `overwrite` nothing is written if any record of the place differs.
 * @returns {Promise<{count: number, written: number, expired: number, sha256: string, from: any, resumed: boolean}>}
 */
export async function restore(kv, file, { overwrite = false, waitMs = WAIT_MS } = {}) {
  if (!existsSync(file))
    throw new UserError(
      `there is no file ${file}${existsSync(`${file}.part`) ? ": its backup is not complete, run the same backup once more" : ""}`,
    );
  const { header, count, sha256, start, end } = await check(file);
  const side = `${file}.progress`;
  const before = readState(
    side,
    kv.place,
    (state) => state.task === "restore" && state.sha256 === sha256,
  );
  let state = before ?? {
    task: "restore",
    place: kv.place,
    sha256,
    position: start,
    written: 0,
    expired: 0,
  };
  if (!overwrite) await refuseDiffering(kv, file, { start: state.position, end });
  const tell = progress(`of ${count.toLocaleString("en")} records written`);
  for await (const records of batches(
    recordsOf(file, { start: state.position, end }),
    MOST_WRITES,
    ({ size }) => size,
  )) {
    const living = records.filter(lives);
    await kv.write(living.map(entry));
    state = {
      ...state,
      position: records.at(-1).end,
      written: state.written + living.length,
      expired: state.expired + records.length - living.length,
    };
    writeState(side, state);
    tell(state.written + state.expired);
  }
  await verify(kv, file, { start, end }, waitMs);
  rmSync(side, { force: true });
  const { written, expired } = state;
  return {
    count,
    written,
    expired,
    sha256,
    from: { place: header.place, startedAt: header.startedAt },
    resumed: before !== null,
  };
}

const lives = ({ expiration }) =>
  expiration === undefined || expiration > Date.now() / 1000 + LEAST_LIFE;
const entry = ({ name: key, value, base64, metadata, expiration }) => ({
  key,
  value: value ?? base64,
  ...(base64 === undefined ? {} : { base64: true }),
  metadata,
  expiration,
});

async function refuseDiffering(kv, file, range) {
  const tell = progress("records compared with those of the place");
  let compared = 0;
  const known = async function* () {
    for await (const { record, listed } of joined(kv, file, range)) if (listed) yield record;
  };
  for await (const records of batches(known(), MOST_READS, ({ size }) => size)) {
    const [first] = await differing(kv, records, { mayLack: true });
    if (first)
      throw new UserError(
        `the place has another record \`${first.name}\`: nothing was overwritten; \`--overwrite\` replaces what differs`,
      );
    tell((compared += records.length));
  }
}

/** The living records of a backup, each with what the place lists under its name: both are in the order of UTF-8 bytes. */
async function* joined(kv, file, range) {
  const names = kv.list();
  let [next, last] = [await names.next(), null];
  for await (const record of recordsOf(file, range)) {
    if (last !== null && order(last, record.name) >= 0)
      throw new UserError(`${file} is not in the order of names, \`${record.name}\` first`);
    last = record.name;
    while (!next.done && order(next.value.name, record.name) < 0) next = await names.next();
    if (lives(record))
      yield { record, listed: !next.done && next.value.name === record.name ? next.value : null };
  }
}

const order = (a, b) => (a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b)));

/** Those of these records that are not so in the place. */
async function differing(kv, records, { mayLack = false } = {}) {
  const different = [];
  const found = await Array.fromAsync(kv.read(records.map(({ name }) => name)));
  for (const [index, record] of records.entries())
    if (!(await isSame(kv, record, found[index], mayLack))) different.push(record);
  return different;
}

async function isSame(kv, { name, value, base64, metadata = null }, found, mayLack) {
  if (found.value === null) return mayLack;
  if (!isDeepStrictEqual(found.metadata, metadata)) return false;
  return base64 === undefined
    ? found.value === value
    : (await kv.bytes(name))?.toString("base64") === base64;
}

/** Reads all records back. */
async function verify(kv, file, range, waitMs) {
  const tell = progress("records read back");
  let [late, checked] = [[], 0];
  for await (const pairs of batches(
    joined(kv, file, range),
    MOST_READS,
    ({ record }) => record.size,
  )) {
    const ended = pairs
      .filter(({ record, listed }) => listed && listed.expiration !== record.expiration)
      .map(({ record }) => record);
    const different = await differing(
      kv,
      pairs.map(({ record }) => record),
    );
    late.push(...new Set([...ended, ...different].map(({ name }) => name)));
    if (late.length > MOST_DIFFERING) break;
    tell((checked += pairs.length));
  }
  for (let look = 1; look < LOOKS && late.length > 0 && late.length <= MOST_DIFFERING; look += 1) {
    await sleep(waitMs);
    late = await stillLate(kv, file, range, new Set(late));
  }
  if (late.length > 0)
    throw new UserError(
      `${late.length > MOST_DIFFERING ? "more than " : ""}${Math.min(late.length, MOST_DIFFERING)} records are not as they are in the backup, \`${late[0]}\` first: run the same command again`,
    );
}

async function stillLate(kv, file, range, names) {
  const late = [];
  for await (const { record, listed } of joined(kv, file, range)) {
    if (!names.has(record.name)) continue;
    const isLate =
      (listed && listed.expiration !== record.expiration) ||
      (await differing(kv, [record])).length > 0;
    if (isLate) late.push(record.name);
  }
  return late;
}
