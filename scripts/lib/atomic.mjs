/**
 * Checks that a database runs a batch as one transaction. All changes of the ledger rely on it: in a batch, a
 * precondition that does not hold must undo the statements before it. Cloudflare documents this for the binding of a
 * Worker, but not for the REST API that commands use.
 */
import { randomUUID } from "node:crypto";
import { UserError } from "./output.mjs";

/** Why no change is made. */
export const IN_PARTS =
  "Cloudflare's API does not run a batch of statements as one transaction in this account, so a change could be made in part";

const ADD = `INSERT INTO operations (id, command, arguments, began, attempted, attempt)
VALUES (?1 ->> '$.id', 'probe', '', ?1 ->> '$.at', 0, '') ON CONFLICT DO NOTHING`;
const FAIL = "INSERT INTO preconditions (holds) VALUES (0)";
const REFUSAL = "a precondition does not hold"; // the message of FAIL
const FIND = "SELECT json_quote(id) FROM operations WHERE id = ?1 ->> '$.id'";
const REMOVE = "DELETE FROM operations WHERE id = ?1 ->> '$.id'";

/**
 * Runs a batch whose first statement adds a row and whose second fails, and returns whether the row is absent afterwards.
 * Leaves no row behind.
 * @param {import("./ledger.mjs").Ledger} ledger
 */
export async function isAtomic(ledger) {
  await ledger.ready();
  const parameter = JSON.stringify({ id: `probe:${randomUUID()}`, at: Date.now() });
  const run = (...texts) => ledger.batch(texts.map((sql) => ({ sql, parameter })));
  const isRefused = await run(ADD, FAIL).then(() => false, isRefusal);
  const [rows] = await run(FIND);
  if (rows.length > 0) await run(REMOVE);
  if (!isRefused)
    throw new UserError(
      "nothing was changed in the ledger: its database accepted a statement that it must refuse. This is a bug: report it",
    );
  return rows.length === 0;
}

/** Returns true for the expected error, and throws any other. */
function isRefusal(error) {
  if (error.constraint && error.message.includes(REFUSAL)) return true;
  throw error;
}

/**
 * Returns a function that throws if the ledger is not atomic. It asks the database only once.
 * @returns {(ledger: import("./ledger.mjs").Ledger) => Promise<void>}
 */
export function atomicOnly() {
  /** @type {Promise<boolean> | null} */
  let known = null;
  return async (ledger) => {
    known ??= isAtomic(ledger).catch((error) => {
      known = null;
      throw error;
    });
    if (await known) return;
    throw new UserError(
      `nothing was changed in the ledger: ${IN_PARTS}. Make the change in the dashboard, which does not use this API`,
    );
  };
}

/** Whether a statement may change something. In doubt, it may. @param {string} sql */
export function changes(sql) {
  if (/^\s*SELECT\b/i.test(sql)) return false;
  return !/^\s*WITH\b/i.test(sql) || /\b(INSERT|REPLACE\s+INTO|UPDATE|DELETE)\b/i.test(sql);
}
