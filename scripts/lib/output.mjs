/** Prints the output of commands. Imports no packages, because a fresh clone has none. */
import module from "node:module";
import { errorAddress } from "../../www/site/origin.js";

/**
 * An error whose message tells the user what to do. It is printed without a stack trace. A command that
 * changes records adds two members: `place`, the namespace in which it failed, and `data`, the work that was
 * already done. `refused` says which argument is wrong.
 */
export class UserError extends Error {}

/** What is wrong with a file, by the code of Node's error. `%` is the file. @type {Record<string, string>} */
const FILE_PROBLEMS = {
  ENOENT: "there is no file %",
  ENOTDIR: "there is no file %",
  EISDIR: "% is a folder",
  EACCES: "this user may not open %",
};

/**
 * Returns the error for a file that cannot be read. It names the file as the user gave it.
 * @param {string} file
 * @param {NodeJS.ErrnoException} error
 */
export const fileProblem = (file, { code, message }) =>
  new UserError(
    FILE_PROBLEMS[code ?? ""]?.replace("%", () => file) ?? `${file} can't be read: ${message}`,
  );

/**
 * Describes where records are: in a local folder, or in the namespace of an account's Worker.
 * @param {import("./kv.mjs").Place} place
 */
export function placeInWords(place) {
  if (place.kind === "local") return `local: ${place.folder}`;
  const environment =
    place.environment === null ? "no environment" : `environment ${place.environment}`;
  return `account ${place.account}, ${environment}, Worker ${place.worker}, namespace ${place.namespace}`;
}

export const log = (line) => process.stderr.write(`${line}\n`);

/**
 * The streams and the environment that a command uses. If `kv` is set, the command uses this open namespace
 * instead of the one that its options name.
 * @typedef {{out: (text: string) => unknown, err: (text: string) => unknown, input: import("node:stream").Readable & {isTTY?: boolean}, env: NodeJS.ProcessEnv, kv?: import("./kv.mjs").Kv}} Terminal
 */

/** Returns the terminal of this process. @returns {Terminal} */
export const terminal = () => ({
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  get input() {
    return process.stdin; // opened when it is read
  },
  env: process.env,
});

/**
 * Runs a command. If it fails, prints the reason; with `--json`, also as JSON.
 * @param {() => Promise<number | undefined>} work
 * @param {string[]} argv
 * @param {Pick<Terminal, "out" | "err">} to
 * @returns {Promise<number>} the exit code: 1 if it failed, 2 if the command line is wrong and nothing was done
 */
export async function exitCodeOf(work, argv, { out, err }) {
  try {
    return (await work()) ?? 0;
  } catch (error) {
    const isPrinted = error?.code?.startsWith?.("commander."); // a wrong command line, or its help
    const where = error?.place ? ` (${placeInWords(error.place)})` : "";
    const reason =
      error instanceof UserError
        ? `stopped: ${error.message}${where}`
        : String(error?.stack ?? error);
    if (!isPrinted) err(`${printable(reason)}\n`);
    const code = isPrinted ? Math.min(error.exitCode, 1) * 2 : 1;
    if (argv.includes("--json") && code !== 0) out(`${jsonLine(failure(error, isPrinted))}\n`);
    return code;
  }
}

/**
 * Runs the command of this process, then exits.
 * @param {(to: Terminal) => Promise<number | undefined>} work
 */
export async function runToEnd(work) {
  module.enableCompileCache?.(); // saves a tenth of a second of most commands; Node 20 has none
  if (!process.stderr.isTTY) process.env.NO_COLOR ??= "1";
  process.stdout.on("error", (error) => {
    if (/** @type {any} */ (error).code !== "EPIPE") throw error; // the reader has read enough
  });
  const to = terminal();
  const code = await exitCodeOf(async () => work(to), process.argv, to);
  const written = (stream) => new Promise((resolve) => stream.write("", resolve));
  await Promise.all([process.stdout, process.stderr].map(written));
  process.exit(code || process.exitCode); // otherwise a runtime that hangs would keep the process running
}

/** Returns the JSON of an error, as `--json` prints it. @param {any} error @param {boolean} isUsage whether the command line is wrong */
export function failure({ message, place, data, refused }, isUsage) {
  const code = isUsage ? "usage" : (refused?.code ?? "failed");
  return {
    place,
    ...data,
    error: {
      field: refused?.field,
      item: refused?.item,
      code,
      message: message
        .replace(/^error: /, "")
        .trim()
        .replaceAll("\n", " "),
      see: errorAddress(code),
    },
  };
}

/** Formats a duration, such as `7 s` or `2 min 05 s`. @param {number} milliseconds */
export function duration(milliseconds) {
  const seconds = Math.round(milliseconds / 1000);
  return seconds < 60
    ? `${seconds} s`
    : `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
}

/** Returns the last lines of an output. */
export const tail = (text, lines) => text.trimEnd().split("\n").slice(-lines).join("\n");

// Characters that move a terminal's cursor or change the direction of text.
const [CONTROLS, CONTROLS_IN_LINES] = [
  /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu,
  /(?!\r?\n|\t)[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu,
];

/** Converts a text of unknown origin to one line that is safe for a terminal. */
export const visible = (text) => text.replaceAll(CONTROLS, "\ufffd");

/** Makes a text of unknown origin, which may have several lines, safe for a terminal. */
const printable = (text) => text.replaceAll(CONTROLS_IN_LINES, "\ufffd");

/**
 * Returns data as one line of JSON. Characters that could control a terminal are escaped, not removed, so no
 * data is lost.
 */
export const jsonLine = (data) => visibleJson(JSON.stringify(data));

/**
 * Makes a line of JSON safe for a terminal: escapes all characters that could control the terminal. The data
 * that the JSON stands for stays the same.
 * @param {string} json
 */
export const visibleJson = (json) =>
  json.replaceAll(CONTROLS, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);

/**
 * Wraps a terminal. Replaces control characters in all output, so that text from a file or record cannot
 * control the terminal.
 * @param {Terminal} to @returns {Terminal}
 */
export const guarded = (to) =>
  Object.create(to, {
    out: { value: (text) => to.out(printable(text)) },
    err: { value: (text) => to.err(printable(text)) },
  });

/** Formats a table with aligned columns. @param {string[]} heads @param {(string | undefined)[][]} rows */
export function table(heads, rows) {
  const lines = [heads, ...rows].map((line) =>
    heads.map((_, column) => visible(line[column] ?? "")),
  );
  const widths = heads.map((_, column) =>
    lines.reduce((most, line) => Math.max(most, [...line[column]].length), 0),
  );
  const pad = (text, width) => text + " ".repeat(width - [...text].length);
  return lines
    .map((line) =>
      line
        .map((text, column) => pad(text, widths[column]))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
