/** Printing for the commands. It uses Node's own modules alone: a fresh clone has no others. */

/** A reason to stop that the reader can act on. Printed without a stack. A command on records adds the `place` where it failed; `data` is what had come of it. */
export class UserError extends Error {}

/** Describes where records are. @param {import("./kv.mjs").Place} place */
export function placeInWords(place) {
  if (place.kind === "local") return `local: ${place.folder}`;
  const environment =
    place.environment === null ? "no environment" : `environment ${place.environment}`;
  return `account ${place.account}, ${environment}, Worker ${place.worker}, namespace ${place.namespace}`;
}

export const log = (line) => process.stderr.write(`${line}\n`);

/** `7 s`, `2 min 05 s` @param {number} milliseconds */
export function duration(milliseconds) {
  const seconds = Math.round(milliseconds / 1000);
  return seconds < 60
    ? `${seconds} s`
    : `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
}

/** The last lines of an output. */
export const tail = (text, lines) => text.trimEnd().split("\n").slice(-lines).join("\n");

/**
 * Text of unknown origin, safe for a terminal: no control character moves the cursor, no override
 * turns text around.
 */
const visible = (text) => text.replaceAll(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, "\ufffd");

/** Text in columns. @param {string[]} heads @param {(string | undefined)[][]} rows */
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
