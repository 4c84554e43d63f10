/**
 * `npm run transactions -- fetch-backup`: copies a backup that the dashboard has made in its bucket into a file, which
 * `restore` reads. `src/office/system/rule/backup_index.rs` describes the bucket's index.
 */
import { recordsOf } from "./backup-reader.mjs";
import { BACKUPS } from "./bucket.mjs";
import { onRecords } from "./command.mjs";
import { DASHBOARD } from "./configuration.mjs";
import { newFile } from "./new-file.mjs";
import { UserError, table } from "./output.mjs";
import { progress } from "./progress.mjs";

const INDEX = "index.json";

/**
 * @typedef {{name: string, kind: "full" | "ledger", started: number, records: number, rows: number, sha256: string, parts: string[]}} Complete a
 *   complete backup; `started` is in milliseconds since 1970
 */

export function addFetchBackup(transactions) {
  const fetched = transactions
    .command("fetch-backup")
    .description("copy a backup that the dashboard has made from its bucket into a file")
    .argument(
      "[name]",
      "its name, or `full` or `ledger` for the newest one; without it, all are listed",
    )
    .argument("[file]", "a file that does not exist yet");
  onRecords(fetched, async ({ kv, print }, name, file) => {
    if (name !== undefined && file === undefined)
      fetched.error("name the file into which the backup is to be copied");
    const bucket = await kv.bucket(BACKUPS);
    if (!bucket)
      throw new UserError(`${DASHBOARD} binds no bucket as \`${BACKUPS}\` (see docs/data.md)`);
    if (name === undefined) return print(listed(await completeIn(bucket)));
    const { parts: _, ...backup } = await fetchBackup(bucket, name, file);
    return print({
      data: JSON.stringify({ file, ...backup }),
      text: `${file}: ${backup.name}, ${backup.records} records, ${backup.rows} rows of the ledger, SHA-256 ${backup.sha256}`,
    });
  });
}

/** @param {Complete[]} complete */
function listed(complete) {
  const rows = complete.map(({ name, records, rows: own }) => [name, `${records}`, `${own}`]);
  const backups = complete.map(({ parts: _, ...backup }) => backup);
  const text =
    rows.length > 0 ? table(["NAME", "RECORDS", "ROWS"], rows) : "There is no complete backup yet.";
  return { data: JSON.stringify({ backups }), text };
}

/**
 * Copies a backup into a new file, and checks the file.
 * @param {import("./bucket.mjs").Bucket} bucket
 * @param {string} name the backup's name, or its kind for the newest one
 * @param {string} file
 * @returns {Promise<Complete>}
 */
export async function fetchBackup(bucket, name, file) {
  const complete = await completeIn(bucket);
  const backup = complete.findLast((one) => one.name === name || one.kind === name);
  if (!backup) {
    const known = complete.map((one) => one.name).join(", ") || "none";
    throw new UserError(`the bucket has no complete backup \`${name}\`. Its backups: ${known}`);
  }
  await newFile(file, async (output) => {
    await copyParts(bucket, backup, output);
    await check(`${file}.part`, backup);
  });
  return backup;
}

async function copyParts(bucket, { parts }, output) {
  const tell = progress(`of ${parts.length} parts copied`);
  for (const [index, part] of parts.entries()) {
    const bytes = await bucket.bytes(part);
    if (!bytes) throw new UserError(`the bucket lacks \`${part}\`, a part of the backup`);
    await output.appendFile(bytes);
    tell(index + 1);
  }
}

/** Reads the copy to its end, which checks every line and the SHA-256. */
async function check(file, { sha256 }) {
  let found = "";
  const tell = (known) => {
    found = known.sha256 ?? found;
  };
  for await (const _ of recordsOf(file, tell));
  if (found !== sha256)
    throw new UserError(`${file} was changed: its SHA-256 differs from that in the bucket's index`);
}

/** Returns the complete backups, oldest first. @returns {Promise<Complete[]>} */
async function completeIn(bucket) {
  const bytes = await bucket.bytes(INDEX);
  if (!bytes) return [];
  try {
    return JSON.parse(String(bytes)).complete;
  } catch {
    throw new UserError(`\`${INDEX}\` in the bucket is damaged`);
  }
}
