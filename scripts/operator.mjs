/** `node scripts/run.mjs operator GROUP …`: runs the operator's commands, such as `npm run keys -- …`. */
import { commandsFor } from "./lib/commands.mjs";

export default {
  /** @param {string[]} argv @param {import("./lib/output.mjs").Terminal} to */
  run: ([group, ...argv], to) => commandsFor(group).run(argv, to),
};
