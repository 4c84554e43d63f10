/** All transactions of a namespace, page by page, as the operator's commands take them. */
import { batches } from "./kv.mjs";
import { operator } from "./operator.mjs";
import { progress } from "./progress.mjs";

const PREFIX = "transaction:";
const MOST_READ = 100; // records that are given to a command at once

/**
 * Gives the metadata of all transactions to a command, and to the same the values of those that it calls `unread`: yields what
 * it answers, with how many records were `read`.
 * @param {() => object} input what the command gets besides, at the time
 * @returns {AsyncGenerator<any>}
 */
export async function* eachTransaction({ tools, kv }, command, input) {
  const tell = progress("transactions looked through");
  let seen = 0;
  for await (const { names } of kv.pages(PREFIX)) {
    const answer = await operator(tools, command, {
      ...input(),
      records: names.map(({ name, metadata }) => ({ name, metadata })),
    });
    yield { ...answer, read: 0 };
    yield* eachRead({ tools, kv }, command, input, answer.unread ?? []);
    tell((seen += names.length));
  }
}

/** The same for records of these names, with their values. */
export async function* eachRead({ tools, kv }, command, input, names) {
  for await (const records of batches(present(kv.read(names)), MOST_READ, ({ value }) =>
    Buffer.byteLength(value),
  )) {
    yield { ...(await operator(tools, command, { ...input(), records })), read: records.length };
  }
}

/** Without those that were deleted after they were listed. */
async function* present(records) {
  for await (const record of records) if (record.value !== null) yield record;
}

/** What a listing could not use, or only by reading the records. */
export class Tally {
  read = 0;
  damaged = 0;
  firstDamaged = null;

  add({ read = 0, damaged = [] }) {
    this.read += read;
    this.damaged += damaged.length;
    this.firstDamaged ??= damaged[0] ?? null;
  }

  /** @param {string} lack what the records that were read lacked, such as `hashes` */
  words(lack) {
    const read =
      this.read === 0
        ? ""
        : `\n\n${this.read} records have no ${lack} in their metadata and were read: \`npm run transactions -- backfill\` completes them.`;
    return (
      read +
      (this.damaged === 0
        ? ""
        : `\n\n${this.damaged} records are damaged and left out, \`${this.firstDamaged}\` first.`)
    );
  }
}
