/** Command lines, by commander. A wrong one ends with exit code 2, and shows what is wrong and the help. */
import { Command, InvalidArgumentError, Option } from "commander";
import { Kv } from "./kv.mjs";
import { ready } from "./ready.mjs";

export { Argument, InvalidArgumentError, Option } from "commander";

/** Reads an option's whole number within bounds. */
export function whole(least, most) {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

export const readMinutes = whole(1, 1440);

/** `name` as the user calls it. */
export const command = (name, description) =>
  new Command(name).description(description).exitOverride().showHelpAfterError().configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "")) });

/** A command on records: its action gets them, and a `print(data, words)` that prints one of the two, before all else. */
export function onRecords(command, action) {
  const run = async (...args) => {
    const { remote, persistTo, json } = command.opts();
    const tools = await ready();
    const print = (data, words) => console.log(json ? JSON.stringify(data) : words());
    return action({ tools, kv: new Kv(tools, { remote, persistTo }), print }, ...args);
  };
  return command
    .option("--remote", "the deployed service; without it, the one of `npm start`")
    .addOption(new Option("--persist-to <dir>", "folder of the local state").conflicts("remote"))
    .option("--json", "output for programs")
    .action(run);
}
