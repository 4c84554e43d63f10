/** Reads a full backup and the increments that continue it as one list of records, in the order of their names. */
import { order, recordsOf } from "./backup-reader.mjs";
import { UserError } from "./output.mjs";

/**
 * Yields the last version of each record in a full backup and its incremental backups. Every incremental backup
 * contains all records of some kinds. If the last backup lacks a record of such a kind, the record was removed
 * and is not yielded.
 * @param {string[]} files
 * @param {Record<string, any>} rules the functions of `src/doors/commands`
 * @param {(known: {header?: any, count?: number, sha256?: string}, index: number) => void} [tell] called with
 *   headers and trailers
 */
export async function* recordsOfChain(files, rules, tell = () => {}) {
  const sources = files.map((file, index) => recordsOf(file, (known) => tell(known, index)));
  const heads = await Promise.all(sources.map((source) => source.next()));
  for (;;) {
    const name = firstName(heads);
    if (name === undefined) return;
    const having = heads.flatMap(({ value }, index) => (value?.name === name ? [index] : []));
    const last = having.at(-1) ?? 0;
    const { value } = heads[last];
    if (last === files.length - 1 || !(await rules.isListedWhole(name))) yield value;
    for (const index of having) heads[index] = await sources[index].next();
  }
}

/** @returns {string | undefined} */
function firstName(heads) {
  let first;
  for (const { value } of heads)
    if (value && (first === undefined || order(value.name, first) < 0)) first = value.name;
  return first;
}

/**
 * Throws if the files are not a full backup and its increments, in order.
 * @param {string[]} files
 * @param {{header: any, sha256: string}[]} known the header and the hash of each file
 */
export function checkChain(files, known) {
  for (const [index, { header }] of known.entries()) {
    const file = files[index];
    const { after } = header;
    if (index === 0 && after)
      throw new UserError(
        `${file} is an incremental backup: name the full backup first, then all incremental backups in their order`,
      );
    if (index > 0 && !after)
      throw new UserError(`${file} is a full backup: only the first file may be a full backup`);
    if (index > 0 && after.sha256 !== known[index - 1].sha256)
      throw new UserError(
        `${file} continues the backup of ${after.startedAt}, not ${files[index - 1]}. A backup between these two files is missing, or their order is wrong`,
      );
  }
}
