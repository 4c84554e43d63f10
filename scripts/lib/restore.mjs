/**
 * Restores backups, and holds at most one page of records in memory. Reads the backup and the target namespace
 * three times: to compare everything before the first write, to write, and to check what was written. If a
 * restore is interrupted, running it again writes what is missing. `src/office/system/rule/restore.rs` decides
 * what happens to each record. The rows of the ledger are written last. Until then,
 * `src/office/system/rule/epoch.rs` refuses to use the database.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { order, rowsOf } from "./backup-reader.mjs";
import { checkChain, recordsOfChain } from "./chain.mjs";
import { batches } from "./kv.mjs";
import { portOf } from "./operator.mjs";
import { UserError, visible } from "./output.mjs";
import { progress } from "./progress.mjs";

const MOST_WRITES = 1_000;
const MOST_READS = 100;
const LEAST_LIFE = 90; // seconds: KV refuses an expiry within the next 60
const [LOOKS, WAIT_MS, MOST_DIFFERING] = [5, 30_000, 1_000]; // KV may show a write late
const MOST_EXAMPLES = 20;

/**
 * A restore. `rules`: the functions of `src/doors/commands`; `wanted`: its options; `choice`: the result of their `chooseRecords`;
 * `now`: in milliseconds since 1970; `marked`: names of transactions that were erased, as far as they were read.
 * @typedef {{kv: import("./kv.mjs").Kv, port: import("./operator.mjs").Port, files: string[], rules: Record<string, any>, wanted: any, choice: any, now: number, marked: Set<string>}} Job
 * @typedef {{record: any, listed: import("./kv.mjs").Name | null, fate: "taken" | "left" | "expired" | "erased"}} Pair a record of
 *   the backup; `listed`: its entry in the list of the target namespace, or null if the namespace lacks the record
 * @typedef {{count: number, examples: any[]}} Keys the backup's API keys that are missing in the
 *   target namespace, or have a different expiry there
 */

/**
 * Restores a full backup and its incremental backups: writes the records that the target namespace lacks, and
 * reads all of them back. With `overwrite`, also replaces records that differ. Otherwise, throws before the
 * first write if any record differs.
 * @param {import("./kv.mjs").Kv} kv
 * @param {string[]} files a full backup, and the incremental backups that continue it
 * @param {Record<string, any>} rules
 * @param {{withKeys?: boolean, onlyTransactions?: boolean, onlyLedger?: boolean, overwrite?: boolean, agree?: (keys: Keys, hashes: string[]) => Promise<void>, waitMs?: number}} [options]
 *   `agree` is called before anything is written, with the API keys that would be restored or left out,
 *   and the hashes of the files
 */
export async function restore(kv, files, rules, options = {}) {
  const { withKeys = false, onlyTransactions = false, onlyLedger = false } = options;
  const { overwrite = false, agree = async () => {}, waitMs = WAIT_MS } = options;
  const port = portOf(kv);
  const { header, count, hashes, survey, database } = await look(files, rules);
  const wanted = { withKeys, onlyTransactions, onlyLedger, overwrite };
  const choice = await rules.chooseRecords(port, wanted, survey);
  const job = { kv, port, files, rules, wanted, choice, now: Date.now(), marked: new Set() };
  const keys = await compare(job, overwrite);
  const hasRows = database && !onlyTransactions;
  if (hasRows) await kv.ledger?.readyForChanges(); // so that it does not fail after the records
  await agree(keys, hashes);
  if (hasRows) await rules.beginOwnRows(port, database);
  const done = await writeMissing(job, progress(`of ${count.toLocaleString("en")} records`));
  await verify(job, waitMs);
  const ledger = onlyTransactions ? null : await restoreLedger(job, database);
  const { place, startedAt } = header;
  const sha256 = hashes.at(-1);
  const { secretReplaced } = choice;
  return { count, ...done, ledger, keys, secretReplaced, sha256, from: { place, startedAt } };
}

/**
 * Reads all backup files to their ends, to count, hash and survey their records before the restore.
 * @returns {Promise<{header: any, count: number, hashes: string[], survey: any, database: any}>} `database`
 *   describes the database of the ledger's rows; null if the last backup has no such rows
 */
async function look(files, rules) {
  const survey = await rules.surveyBackup();
  const known = files.map(() => ({ header: null, sha256: "" }));
  const tell = (more, index) => {
    known[index] = { ...known[index], ...more };
  };
  let count = 0;
  for await (const { name, value = "" } of recordsOfChain(files, rules, tell)) {
    survey.add(name, value);
    count += 1;
  }
  checkChain(files, known);
  const database = await checkedRows(files, rules);
  const hashes = known.map(({ sha256 }) => sha256);
  return { header: known.at(-1)?.header, count, hashes, survey, database };
}

/** Checks the rows of the ledger in the last backup, which has all of them. Returns what describes their database. */
async function checkedRows(files, rules) {
  let database = null;
  for await (const { table, row } of rowsOf(files.at(-1) ?? ""))
    if (table === "database") database = JSON.parse(row);
    else await rules.checkOwnRow(table, row);
  return database;
}

// ---- Each record ---------------------------------------------------------------------------------

/**
 * Yields each record of a backup with its fate, such as `taken` if it is to be restored. Personal data that was
 * erased is already removed from the record. Reads the backup and the target namespace side by side, because
 * both are sorted by the UTF-8 bytes of names. In this order, the record that marks an erasure comes before the
 * erased transaction.
 * @param {Job} job
 * @returns {AsyncGenerator<Pair>}
 */
async function* pairs(job) {
  const { kv, files, rules, marked } = job;
  const note = async (name) => {
    const transaction = await rules.markedBy(name);
    if (transaction) marked.add(transaction);
  };
  const names = kv.list();
  let next = await names.next();
  for await (const record of recordsOfChain(files, rules)) {
    await note(record.name);
    for (; !next.done && order(next.value.name, record.name) < 0; next = await names.next())
      await note(next.value.name);
    const listed = !next.done && next.value.name === record.name ? next.value : null;
    yield await pairOf(job, record, listed, marked);
  }
}

/** @returns {Promise<Pair>} */
async function pairOf({ port, rules, wanted, choice, now }, record, listed, marked) {
  const { name, value = "", metadata = null } = record;
  if (!choice.takes(name)) return { record, listed, fate: "left" };
  if (!lives(record)) return { record, listed, fate: "expired" };
  const transaction = await rules.aboutMailOf(name);
  if (transaction) return { record, listed, fate: fateOfMail(listed, marked.has(transaction)) };
  if (listed && (await rules.isErased(name, listed.metadata ?? null)))
    return { record, listed, fate: "erased" };
  if (isRemoved(listed) && !isRemoved(record) && !wanted.overwrite)
    return { record, listed, fate: "left" };
  if (!marked.has(name)) return { record, listed, fate: "taken" };
  const erased = await rules.eraseRestored(port, name, value, metadata, now);
  if (!erased) return { record, listed, fate: "erased" };
  return { record: { ...record, base64: undefined, ...erased }, listed, fate: "taken" };
}

/** Whether a record is the tombstone of a payment, a membership or the like that was removed (`src/pledges/store/copy.rs`). */
const isRemoved = (one) => one?.metadata?.removed === true;

/**
 * Returns the fate of a record about an e-mail. If the target namespace already has the record, it is kept: the
 * backup's record may be older, and could cause a second e-mail.
 * @returns {Pair["fate"]}
 */
function fateOfMail(listed, isErased) {
  if (isErased) return "erased";
  return listed ? "left" : "taken";
}

const lives = ({ expiration }) =>
  expiration === undefined || expiration > Date.now() / 1000 + LEAST_LIFE;

/**
 * Yields only the pairs whose records are restored (`taken`).
 * @param {Job} job
 * @param {Record<Pair["fate"], number>} [tally] counts the other pairs by their fate
 */
async function* takenOf(job, tally) {
  for await (const pair of pairs(job))
    if (pair.fate === "taken") yield pair;
    else if (tally) tally[pair.fate] += 1;
}

/** @param {Pair} pair */
const sizeOf = ({ record }) => record.size;
/** @param {Pair} pair */
const endsElsewhen = ({ record, listed }) => listed?.expiration !== record.expiration;
const recordsIn = (some) => some.map(({ record }) => record);

// ---- Before anything is written ------------------------------------------------------------------

/**
 * Compares a backup with the target namespace before anything is written. Throws if a record differs there,
 * unless `overwrite` is true.
 * @param {Job} job
 * @param {boolean} overwrite
 * @returns {Promise<Keys>}
 */
async function compare(job, overwrite) {
  const tell = progress("records compared with the namespace");
  const keys = { count: 0, examples: [] };
  const known = async function* () {
    for await (const pair of pairs(job)) {
      if (isRevived(job, pair)) await addKey(job, pair, keys);
      if (pair.fate === "taken" && pair.listed && !overwrite) yield pair;
    }
  };
  let compared = 0;
  for await (const some of batches(known(), MOST_READS, sizeOf)) {
    const [first] = [
      ...recordsIn(some.filter(endsElsewhen)),
      ...(await differing(job.kv, recordsIn(some), { mayLack: true })),
    ];
    if (first)
      throw new UserError(
        `the namespace has a different record \`${visible(first.name)}\`, so nothing was overwritten. With \`--overwrite\`, the backup replaces records that differ`,
      );
    compared += some.length;
    tell(compared);
  }
  return keys;
}

const isRevived = ({ choice }, pair) =>
  choice.isKey(pair.record.name) && lives(pair.record) && (!pair.listed || endsElsewhen(pair));

async function addKey({ rules }, { record }, keys) {
  keys.count += 1;
  if (keys.examples.length === MOST_EXAMPLES) return;
  const { name, metadata, expiration } = record;
  const row = await rules.backedKey({ name, metadata, expiration });
  if (row) keys.examples.push(row);
}

// ---- Writing -------------------------------------------------------------------------------------

const entry = ({ name: key, value, base64, metadata, expiration }) => ({
  key,
  value: value ?? base64,
  ...(base64 === undefined ? {} : { base64: true }),
  metadata,
  expiration,
});

async function writeMissing(job, tell) {
  const done = { written: 0, same: 0, expired: 0, erased: 0, left: 0, taken: 0 };
  const missing = async function* () {
    for await (const some of batches(takenOf(job, done), MOST_READS, sizeOf)) {
      const changed = await changedOf(job.kv, some);
      done.same += some.length - changed.length;
      tell(done.written + done.same + done.expired + done.erased + done.left);
      yield* changed;
    }
  };
  for await (const records of batches(missing(), MOST_WRITES, ({ size }) => size)) {
    await job.kv.write(records.map(entry));
    done.written += records.length;
  }
  const { taken: _, ...counts } = done;
  return counts;
}

/** Returns the records that the target namespace lacks, or has with other contents or another expiry. */
async function changedOf(kv, some) {
  const there = recordsIn(some.filter((pair) => pair.listed && !endsElsewhen(pair)));
  const same = new Set(there);
  for (const record of await differing(kv, there)) same.delete(record);
  return recordsIn(some).filter((record) => !same.has(record));
}

/**
 * Returns the records that have other contents in the target namespace. With `mayLack`, records that the target
 * namespace lacks are left out.
 */
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

// ---- The ledger's rows ----------------------------------------------------------------------------

/**
 * Writes the rows of the ledger that the target's ledger lacks. A row of the target is never older than that
 * of the backup, so it is kept.
 * @returns {Promise<{rows: Record<string, {written: number, known: number, refused: string[]}> | null, lacks: "rows" | "ledger" | null, isLost: boolean}>}
 *   `rows`: what became of each table's rows; null if the backup `lacks` them, or the target has no ledger.
 *   `isLost`: whether the target has lost rows, or lacks those of the backup
 */
async function restoreLedger(job, database) {
  const { kv, port, rules } = job;
  if (!database) return { rows: null, lacks: "rows", isLost: await rules.endWithoutOwnRows(port) };
  if (!kv.ledger) return { rows: null, lacks: "ledger", isLost: database.epoch !== null };
  const tables = await rules.restoredTables(job.wanted);
  const rows = Object.fromEntries(
    tables.map((table) => [table, { written: 0, known: 0, refused: [] }]),
  );
  for await (const some of batches(rowsOf(job.files.at(-1)), MOST_READS, ({ size }) => size))
    for (const table of tables) add(rows[table], await restoreRows(job, table, some));
  await rules.endOwnRows(port, database);
  return { rows, lacks: null, isLost: false };
}

/** Writes the rows of one table from a batch of rows. */
async function restoreRows({ port, rules, marked }, table, some) {
  const own = some.filter((one) => one.table === table).map(({ row }) => row);
  const ids = own.map((row) => JSON.parse(row).id ?? "");
  if (own.length === 0) return { written: 0, known: 0, refused: [] };
  const erased = [];
  for (const id of ids) if (marked.has(await rules.recordOf(id))) erased.push(id);
  return rules.restoreOwnRows(port, table, own, erased);
}

function add(sums, { written, known, refused }) {
  sums.written += written;
  sums.known += known;
  sums.refused.push(...refused);
}

// ---- Reading back --------------------------------------------------------------------------------

/**
 * Reads back all restored records. Waits for records that KV does not show yet. Throws if some records
 * still differ.
 */
async function verify(job, waitMs) {
  let late = await lateOf(job.kv, takenOf(job));
  for (let look = 1; look < LOOKS && late.size > 0 && late.size <= MOST_DIFFERING; look += 1) {
    await sleep(waitMs);
    late = await lateOf(job.kv, among(takenOf(job), late));
  }
  if (late.size === 0) return;
  const [first] = late;
  const count = late.size > MOST_DIFFERING ? `more than ${MOST_DIFFERING}` : late.size;
  throw new UserError(
    `${count} records differ from the backup, the first is \`${visible(first)}\`. Run the same command again`,
  );
}

/** @param {ReturnType<typeof takenOf>} taken @param {Set<string>} names */
async function* among(taken, names) {
  for await (const pair of taken) if (names.has(pair.record.name)) yield pair;
}

/**
 * Returns the names of the restored records that KV does not show yet, or shows in an older version. Stops
 * after it has found more than MOST_DIFFERING.
 */
async function lateOf(kv, taken) {
  const tell = progress("records read back");
  const late = new Set();
  let checked = 0;
  for await (const some of batches(taken, MOST_READS, sizeOf)) {
    const otherEnd = recordsIn(some.filter((pair) => pair.listed && endsElsewhen(pair)));
    const different = await differing(kv, recordsIn(some));
    for (const { name } of [...otherEnd, ...different]) late.add(name);
    if (late.size > MOST_DIFFERING) break;
    checked += some.length;
    tell(checked);
  }
  return late;
}
