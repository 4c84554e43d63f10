/** `npm run keys -- …` and the other commands of an operator: `node scripts/run.mjs operator GROUP …`. */
import { addBackup, addRestore } from "./lib/backup-commands.mjs";
import { commandsOf } from "./lib/operations.mjs";

/** @param {string} group */
export function commandsFor(group) {
  const program = commandsOf(group, `npm run ${group} --`);
  if (group === "transactions") {
    addBackup(program);
    addRestore(program);
  }
  return program;
}

export default {
  /** @param {string[]} argv @param {import("./lib/output.mjs").Terminal} to */
  run: ([group, ...argv], to) => commandsFor(group).run(argv, to),
};
