/**
 * Writes incremental backups. They contain the transactions that were created or changed since the last backup,
 * as the ledger lists them. Kinds of records with few records are backed up in full (see
 * `src/office/system/rule/increment.rs`). The names of the changed records are held in memory.
 */
import { writeBackup } from "./backup.mjs";
import { endsOf, order } from "./backup-reader.mjs";
import { UserError } from "./output.mjs";
import { portOf } from "./operator.mjs";
import { progress } from "./progress.mjs";

export const MOST_CHANGED = 2_000_000; // names in memory: 200 MB

/**
 * Writes an incremental backup.
 * @param {import("./kv.mjs").Kv} kv
 * @param {string} file
 * @param {string} before the file of the last backup, which is full or incremental
 * @param {Record<string, any>} rules the functions of `src/doors/commands`
 * @returns {Promise<{count: number, rows: number, lacks: string | null, sha256: string, since: string, completeUpTo: string}>}
 */
export async function increment(kv, file, before, rules) {
  const startedAt = new Date().toISOString();
  const { header, sha256 } = await endsOf(before);
  refuseOtherPlace(kv, header, before);
  const port = portOf(kv);
  const span = await rules.spanOfIncrement(port, header.startedAt, header.completeUpTo);
  const { since, completeUpTo } = span;
  const transactions = await changedSince(port, since, rules);
  const replays = await replaysOf(kv, transactions, rules);
  const after = { sha256, startedAt: header.startedAt };
  const names = namesOf(kv, since, rules, [...transactions, ...replays]);
  const done = await writeBackup(kv, file, { startedAt, after, completeUpTo }, names, rules);
  return { ...done, since, completeUpTo };
}

function refuseOtherPlace(kv, { place }, before) {
  const identity = ({ kind, folder, account, namespace }) =>
    JSON.stringify([kind, folder, account, namespace]);
  if (identity(kv.place) !== identity(place))
    throw new UserError(`${before} is a backup of another namespace`);
}

/**
 * Returns the transactions that were created or changed since a time.
 * @returns {Promise<Set<string>>} names of records
 */
async function changedSince(port, since, rules) {
  const tell = progress("changed transactions found");
  /** @type {Set<string>} */
  const names = new Set();
  let next = null;
  do {
    const page = await rules.changedTransactions(port, since, next);
    for (const id of page.ids) {
      const name = await rules.recordOf(id);
      if (name) names.add(name);
    }
    if (names.size > MOST_CHANGED)
      throw new UserError(
        `more than ${MOST_CHANGED} transactions changed since the last backup: make a full backup`,
      );
    tell(names.size);
    next = page.next;
  } while (next);
  return names;
}

/**
 * Returns the names of the transactions' replay records. A transaction's metadata names its replay record.
 */
async function replaysOf(kv, transactions, rules) {
  const names = [];
  for await (const { name, metadata } of kv.read(transactions)) {
    const replay = metadata && (await rules.replayOf(name, metadata));
    if (replay) names.push(replay);
  }
  return names;
}

/**
 * Yields the names of all records of an incremental backup, sorted. Names from `changed` have no expiration,
 * because neither transactions nor their replay records expire.
 * @param {string[]} changed
 */
async function* namesOf(kv, since, rules, changed) {
  const rest = changed.sort(order).map((name) => ({ name }));
  let at = 0;
  const prefixes = await rules.listedByIncrement();
  for (const prefix of prefixes.sort(order)) {
    for (; at < rest.length && order(rest[at].name, prefix) < 0; at += 1) yield rest[at];
    yield* listed(kv, prefix, since, rules);
  }
  yield* rest.slice(at);
}

async function* listed(kv, prefix, since, rules) {
  for await (const name of kv.list(prefix)) {
    const fate = await rules.fateInIncrement(name.name, name.expiration, since);
    if (fate === "last") return;
    if (fate === "taken") yield name;
  }
}
