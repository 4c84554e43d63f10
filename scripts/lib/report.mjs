/**
 * What set-up says. It is silent while nothing is missing; a set-up that has work to do counts its steps,
 * names what each is about to do and how long that took.
 */

/** A reason to stop that the reader can act on. Shown as one line, never as a stack. */
export class Stop extends Error {}

/** A tool that can't be had. */
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

/** The last lines of an output, for a line that says why something failed. */
export const tail = (text, lines) => text.trimEnd().split("\n").slice(-lines).join("\n");

const MOST_LETTERS = 120;

/** For whoever watches something slow: for how long already, and the last thing it said to people. */
export function stillAtWork(name, started, output) {
  const toPeople = output.split("\n").filter((line) => !line.startsWith("{")); // cargo's JSON is for programs
  const last = tail(toPeople.join("\n"), 1).trim();
  const said = last.length > MOST_LETTERS ? `${last.slice(0, MOST_LETTERS)}…` : last;
  return `    ${name}: at work for ${duration(Date.now() - started)}${said && `: ${said}`}`;
}

/** The first name that is none of these stops the script. @param {string[]} names @param {string[]} known */
export function mustKnow(names, known) {
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Stop(`there is no \`${unknown}\`; name one of: ${known.join(", ")}`);
}

/**
 * Ends a script the same way everywhere: a {@link Stop} as one line, anything else with its stack.
 * @param {unknown} error
 * @returns {never}
 */
export function stop(error) {
  say(error instanceof Stop ? `stopped: ${error.message}` : String(error?.stack ?? error));
  process.exit(1);
}
