/**
 * Backups of a namespace: JSON Lines. The first line is a header (format, place, time), the last one a trailer (count, SHA-256
 * of all lines before it), and each between is a record in the order of names: `name`, `value` or, where it is no UTF-8,
 * `base64`, `metadata`, `expiration`. Both ways hold a page of records at most. A command that was broken off is run again: a
 * backup begins anew, a restore writes what is missing.
 */
import { createHash } from "node:crypto";
import { createReadStream, existsSync, renameSync } from "node:fs";
import { open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { batches } from "./kv.mjs";
import { UserError } from "./output.mjs";
import { progress } from "./progress.mjs";

const [FORMAT, VERSION] = ["impact-pledge-backup", 1];
const ONLY_MINE = 0o600; // a backup holds personal data and secrets
const MOST_WRITES = 1_000;
const MOST_READS = 100;
const LEAST_LIFE = 90; // seconds: KV takes no expiry within the next 60
const [LOOKS, WAIT_MS, MOST_DIFFERING] = [5, 30_000, 1_000]; // KV may show a write late

const MANY = 1_000_000; // bytes of lines that are written at once
const newLine = (data) => Buffer.from(`${JSON.stringify(data)}\n`);

// ---- Backup --------------------------------------------------------------------------------------

/**
 * Writes all records of a namespace into a file that does not exist. It is there once it is whole; until then it is `FILE.part`.
 * @returns {Promise<{count: number, sha256: string}>}
 */
export async function backup(kv, file) {
  if (existsSync(file))
    throw new UserError(`${file} exists, and no backup is overwritten: choose another name`);
  const part = `${file}.part`;
  const output = await open(part, "w", ONLY_MINE);
  try {
    await output.chmod(ONLY_MINE); // also of one that was broken off
    const done = await writeBackup(kv, new Writer(output));
    renameSync(part, file);
    return done;
  } finally {
    await output.close();
  }
}

async function writeBackup(kv, writer) {
  const startedAt = new Date().toISOString();
  await writer.write(newLine({ format: FORMAT, version: VERSION, place: kv.place, startedAt }));
  const tell = progress("records copied");
  let count = 0;
  for await (const names of batches(kv.list(), MOST_READS)) {
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
    await this.#output.sync();
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

/**
 * Lines with their line feeds; the last may lack it. Line feeds alone count: a record may have
 * other separators.
 */
async function* lines(file) {
  let pieces = [];
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 })) {
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, from)) {
      yield Buffer.concat([...pieces, chunk.subarray(from, at + 1)]);
      pieces = [];
      from = at + 1;
    }
    if (from < chunk.length) pieces.push(chunk.subarray(from));
  }
  if (pieces.length > 0) yield Buffer.concat(pieces);
}

/**
 * Is it a whole backup, as it was written?
 * @returns {Promise<{header: any, count: number, sha256: string}>}
 */
export async function check(file) {
  const hash = createHash("sha256");
  let header = null;
  let last = null;
  let count = -1;
  for await (const line of lines(file)) {
    if (last) hash.update(last);
    if (header) count += 1;
    header ??= parsed(line) ?? {};
    last = line;
  }
  if (header?.format !== FORMAT) throw new UserError(`${file} is no backup of this service`);
  if (header.version > VERSION)
    throw new UserError(`${file} was written by a later release: restore it with that one`);
  const trailer = last && parsed(last);
  if (last?.at(-1) !== LINE_FEED || typeof trailer?.sha256 !== "string")
    throw new UserError(`${file} is not complete: its last line is missing`);
  if (trailer.count !== count)
    throw new UserError(
      `${file} has ${count} records, and its last line says ${trailer.count}: it was changed`,
    );
  if (trailer.sha256 !== hash.digest("hex"))
    throw new UserError(`${file} was changed: its SHA-256 is not that of its last line`);
  return { header, count, sha256: trailer.sha256 };
}

function parsed(bytes) {
  try {
    return JSON.parse(String(bytes));
  } catch {
    return null;
  }
}

/** The records of a file that was checked, with the bytes of their lines as `size`. */
async function* recordsOf(file) {
  let before = null; // the last line is none
  let isHeader = true;
  for await (const line of lines(file)) {
    if (before) yield { ...JSON.parse(String(before)), size: before.length };
    before = isHeader ? null : line;
    isHeader = false;
  }
}

// ---- Restore -------------------------------------------------------------------------------------

/**
 * Writes the records of a backup that the place lacks, and reads all of them back. Without `overwrite` nothing is written if any
 * record of the place differs. `names`: of the records that a restore has to know.
 * @param {import("./kv.mjs").Kv} kv
 * @param {string} file
 * @param {{names: {secret: string, replays: string}, overwrite?: boolean, waitMs?: number}} options
 * @returns {Promise<{count: number, written: number, same: number, expired: number, secretReplaced: boolean, sha256: string, from: any}>}
 */
export async function restore(kv, file, { names, overwrite = false, waitMs = WAIT_MS }) {
  if (!existsSync(file)) {
    const part = existsSync(`${file}.part`) ? ": its backup is not complete, run that again" : "";
    throw new UserError(`there is no file ${file}${part}`);
  }
  const { header, count, sha256 } = await check(file);
  const secretReplaced = await hasOtherSecret(kv, file, names);
  if (secretReplaced && !overwrite) throw new UserError(OTHER_SECRET);
  if (!overwrite) await refuseDiffering(kv, file);
  const done = await writeMissing(kv, file, progress(`of ${count.toLocaleString("en")} records`));
  await verify(kv, file, waitMs);
  const from = { place: header.place, startedAt: header.startedAt };
  return { count, ...done, secretReplaced, sha256, from };
}

const OTHER_SECRET =
  "this namespace has another secret than the backup: repeats of creates would be recorded twice; nothing was written; restore into an empty namespace, or give `--overwrite` to replace the secret";

/**
 * The names of replay records, and what they lead to, are made with the namespace's secret: with another one, repeats would
 * not find them and be recorded twice.
 * @returns {Promise<boolean>} whether the place has another secret
 */
async function hasOtherSecret(kv, file, { secret, replays }) {
  let backed = null;
  let hasReplays = false;
  for await (const { name, value } of recordsOf(file)) {
    if (name === secret) backed = value;
    if (name.startsWith(replays)) hasReplays = true;
  }
  if (backed === null && hasReplays)
    throw new UserError(
      `${file} has replay records, and not the secret that they were made with: their creates would be recorded twice when they are repeated, and nothing was written`,
    );
  const own = await kv.get(secret);
  return backed !== null && own !== null && secretOf(own) !== secretOf(backed);
}

const secretOf = (record) => parsed(record)?.secret ?? record;

const lives = ({ expiration }) =>
  expiration === undefined || expiration > Date.now() / 1000 + LEAST_LIFE;
const entry = ({ name: key, value, base64, metadata, expiration }) => ({
  key,
  value: value ?? base64,
  ...(base64 === undefined ? {} : { base64: true }),
  metadata,
  expiration,
});

async function refuseDiffering(kv, file) {
  const tell = progress("records compared with those of the place");
  let compared = 0;
  const known = async function* () {
    for await (const { record, listed } of joined(kv, file)) if (listed) yield record;
  };
  for await (const records of batches(known(), MOST_READS, ({ size }) => size)) {
    const [first] = await differing(kv, records, { mayLack: true });
    if (first)
      throw new UserError(
        `the place has another record \`${first.name}\`: nothing was overwritten; \`--overwrite\` replaces what differs`,
      );
    compared += records.length;
    tell(compared);
  }
}

/** @returns {Promise<{written: number, same: number, expired: number}>} */
async function writeMissing(kv, file, tell) {
  const done = { written: 0, same: 0, expired: 0 };
  const missing = async function* () {
    for await (const pairs of batches(joined(kv, file, done), MOST_READS, sizeOf)) {
      const changed = await changedOf(kv, pairs);
      done.same += pairs.length - changed.length;
      tell(done.written + done.same + done.expired);
      yield* changed;
    }
  };
  for await (const records of batches(missing(), MOST_WRITES, ({ size }) => size)) {
    await kv.write(records.map(entry));
    done.written += records.length;
  }
  return done;
}

/** @param {{record: any, listed: any}} pair */
const sizeOf = ({ record }) => record.size;
const endsElsewhen = ({ record, listed }) => listed.expiration !== record.expiration;

/** Those records that the place has not, or has otherwise. */
async function changedOf(kv, pairs) {
  const there = pairs.filter((pair) => pair.listed && !endsElsewhen(pair));
  const records = there.map(({ record }) => record);
  const same = new Set(records);
  for (const record of await differing(kv, records)) same.delete(record);
  return pairs.map(({ record }) => record).filter((record) => !same.has(record));
}

/**
 * The living records of a backup, each with what the place lists under its name: both are in the order of UTF-8 bytes.
 * @param {{expired: number}} [tally] counts the others
 * @returns {AsyncGenerator<{record: any, listed: any}>}
 */
async function* joined(kv, file, tally = { expired: 0 }) {
  const names = kv.list();
  let next = await names.next();
  let last = null;
  for await (const record of recordsOf(file)) {
    if (last !== null && order(last, record.name) >= 0)
      throw new UserError(`${file} is not in the order of names, \`${record.name}\` first`);
    last = record.name;
    while (!next.done && order(next.value.name, record.name) < 0) next = await names.next();
    if (lives(record))
      yield { record, listed: !next.done && next.value.name === record.name ? next.value : null };
    else tally.expired += 1;
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

// ---- Reading back --------------------------------------------------------------------------------

/** Reads all records back, and again those that are seen late. */
async function verify(kv, file, waitMs) {
  let late = await lateOf(kv, joined(kv, file));
  for (let look = 1; look < LOOKS && late.size > 0 && late.size <= MOST_DIFFERING; look += 1) {
    await sleep(waitMs);
    late = await lateOf(kv, among(joined(kv, file), late));
  }
  if (late.size === 0) return;
  const [first] = late;
  const count = late.size > MOST_DIFFERING ? `more than ${MOST_DIFFERING}` : late.size;
  throw new UserError(
    `${count} records are not as they are in the backup, \`${first}\` first: run the same command again`,
  );
}

/**
 * @param {ReturnType<typeof joined>} pairs
 * @param {Set<string>} names
 * @returns {ReturnType<typeof joined>}
 */
async function* among(pairs, names) {
  for await (const pair of pairs) if (names.has(pair.record.name)) yield pair;
}

/**
 * The names of records that are not yet seen as they were written; a few more than the bound end
 * the search.
 */
async function lateOf(kv, pairs) {
  const tell = progress("records read back");
  const late = new Set();
  let checked = 0;
  for await (const some of batches(pairs, MOST_READS, sizeOf)) {
    const otherEnd = some
      .filter((pair) => pair.listed && endsElsewhen(pair))
      .map(({ record }) => record);
    const different = await differing(
      kv,
      some.map(({ record }) => record),
    );
    for (const { name } of [...otherEnd, ...different]) late.add(name);
    if (late.size > MOST_DIFFERING) break;
    checked += some.length;
    tell(checked);
  }
  return late;
}
