/** What the scripts print. Uses Node's own modules alone: a fresh clone has no others. */

/** A reason to stop that the reader can act on. Printed without a stack. */
export class Stop extends Error {}

/** A tool that cannot be had. */
export class Unavailable extends Stop {
  /** @param {string} what @param {string} why @param {string} remedy */
  constructor(what, why, remedy) {
    super(`${what} can't be had: ${why}; ${remedy}`);
  }
}

export const say = (line) => process.stderr.write(`${line}\n`);

/** `7 s`, `2 min 05 s` @param {number} milliseconds */
export function duration(milliseconds) {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
}

/** The last lines of an output. */
export const tail = (text, lines) => text.trimEnd().split("\n").slice(-lines).join("\n");

/** Text in columns. @param {string[]} heads @param {(string | undefined)[][]} rows */
export function table(heads, rows) {
  const lines = [heads, ...rows].map((line) => heads.map((_, column) => line[column] ?? ""));
  const widths = heads.map((_, column) => Math.max(...lines.map((line) => [...line[column]].length)));
  const pad = (text, width) => text + " ".repeat(width - [...text].length);
  return lines.map((line) => line.map((text, column) => pad(text, widths[column])).join("  ").trimEnd()).join("\n");
}

/** Prints why a command ended early. @param {any} error @returns {number} the exit code: 2 for a wrong command line, else 1 */
export function report(error) {
  if (error?.code?.startsWith?.("commander.")) return error.exitCode === 0 ? 0 : 2; // commander has printed it
  say(error instanceof Stop ? `stopped: ${error.message}` : String(error?.stack ?? error));
  return 1;
}
