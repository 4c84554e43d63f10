/* Checks the options of the functions for forms. */
import { mostOf } from "../validate/options.ts";
import { zoneOf } from "./dates.ts";

/**
 * How each option is checked, by the option's name. A text lists the allowed results of `typeof`. A function
 * throws if the value is invalid.
 */
type Kinds = Readonly<Record<string, string | ((value: never) => unknown)>>;

export const MESSAGES = "function or object";

/** The options of `readForm`. */
export const READ = {
  messages: MESSAGES,
  maxIssues: mostOf,
  optional: "boolean",
  timeZone: zoneOf,
};

export function checkOptions<Options extends object>(kinds: Kinds, options: Options): Options {
  for (const [name, value] of Object.entries(options)) {
    const kind = Object.hasOwn(kinds, name) && kinds[name];
    if (!kind)
      throw new TypeError(
        `\`${name}\` is not an option here; the options are \`${Object.keys(kinds).join("`, `")}\``,
      );
    if (value === undefined) continue;
    if (typeof kind === "function") kind(value as never);
    else if (value === null || !kind.includes(typeof value))
      throw new TypeError(`\`${name}\` must be a ${kind}`);
  }
  return options;
}
