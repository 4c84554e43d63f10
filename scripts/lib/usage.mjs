/** How the operator's scripts read their command line, and how they end. */
import { parseArgs } from "node:util";
import { Kv } from "./kv.mjs";
import { ready } from "./ready.mjs";
import { say, stop } from "./report.mjs";

/** The command line makes no sense: shown with the help, exit code 2. */
export class BadUsage extends Error {}

/**
 * @param {import("node:util").ParseArgsConfig["options"]} options
 * @returns {{values: Record<string, any>, positionals: string[]}}
 */
export function readArguments(options, args = process.argv.slice(2)) {
  try {
    return parseArgs({ args, options: { help: { type: "boolean", short: "h" }, ...options }, allowPositionals: true, strict: true });
  } catch (error) {
    throw new BadUsage(inHouseStyle(error.message));
  }
}

/** Node's first sentence: `Unknown option '--x'. To specify …`. @param {string} message */
function inHouseStyle(message) {
  const [sentence] = message.split(". ");
  return sentence.charAt(0).toLowerCase() + sentence.slice(1).replaceAll("'", "`");
}

/**
 * Runs a script to its exit code: 0 done, 1 it could not be done, 2 bad usage.
 * @param {string} help
 * @param {(showHelp: () => void) => Promise<void>} work
 */
export async function runScript(help, work) {
  try {
    await work(() => console.log(help));
  } catch (error) {
    if (!(error instanceof BadUsage)) stop(error);
    say(`${error.message}\n\n${help}`);
    process.exitCode = 2;
  }
}

/** Whose records, and for whom the output is: the same in every script. */
export const PLACE_OPTIONS = { remote: { type: "boolean" }, "persist-to": { type: "string" }, json: { type: "boolean" } };
export const PLACE_HELP = `  --remote           the deployed service; without it, the one of \`npm start\`
  --persist-to DIR   folder of the local state
  --json             output for programs`;

/** What the commands work with. `print(data, words)` prints one of the two. @param {Record<string, any>} values */
export async function at({ remote, "persist-to": persistTo, json }) {
  if (remote && persistTo) throw new BadUsage("`--persist-to` is for local state, not for `--remote`");
  const tools = await ready();
  const print = (data, words) => console.log(json ? JSON.stringify(data) : words());
  return { tools, kv: new Kv(tools, { remote, persistTo }), print };
}
