/**
 * Creates the operator's commands: those from the table of operations in `src/office/operations.rs`, and those for
 * backups and for a check of the ledger's database.
 */
import { addBackup, addRestore } from "./backup-commands.mjs";
import { addCheckAtomic } from "./ledger-commands.mjs";
import { addFetchBackup } from "./fetch-backup.mjs";
import { commandsOf } from "./operations.mjs";

/** Returns the commands of a group. @param {string} group such as `keys` */
export function commandsFor(group) {
  const program = commandsOf(group);
  if (group === "transactions") {
    addBackup(program);
    addRestore(program);
    addFetchBackup(program);
  }
  if (group === "ledger") addCheckAtomic(program);
  return program;
}
