/** `npm run keys -- …` and the other commands of an operator: `node scripts/run.mjs operator GROUP …`. */
import { commandsFor } from "./lib/commands.mjs";

export default {
  /** @param {string[]} argv @param {import("./lib/output.mjs").Terminal} to */
  run: ([group, ...argv], to) => commandsFor(group).run(argv, to),
};
