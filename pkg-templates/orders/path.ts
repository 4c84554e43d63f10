/*
 * Paths of the table. `src/pledges/orders/path.rs` says what they mean, and `tests/native/generated/orders_table.rs`
 * writes them in this form.
 */
import { CURRENCIES, NO_PLACES } from "../generated/orders.ts";
import { decimal, write } from "./decimal.ts";
import { type Found, type Members, isThere } from "./json.ts";
import { currency } from "./text.ts";

/** Returns what is at several paths. At a path is one value, unless it goes through a list or a condition. */
export const all = (root: Found, paths: readonly string[]): Found[] =>
  paths.flatMap((path) =>
    path.split("/").reduce((nodes, step) => nodes.flatMap((node) => follow(node, step)), [root]),
  );

type Step = [step: string, name: string, kind: string, text: string];

/** Follows a step. What is not there has nothing in it, and fulfils no condition. */
function follow(node: Found, step: string): Found[] {
  if (!isThere(node)) return [node];
  const [, name, kind, text] = step.match(/(\w+)(\W?)(.*)/) as unknown as Step;
  const found = STEPS[kind]!((node as Members)?.[name], text, node as Members);
  return found === true ? [node] : found || [];
}

/**
 * Where steps lead: to a member (`name`), to the items of a list (`name*`), to the pairs of an object (`name%`), to a
 * pair of members (`name:text`), to a negated amount (`name-`), or to the amount of one in Stripe's smallest unit (`name~`).
 *
 * Other steps stay where they are if a condition holds: a member is one of several texts (`name=text;text`), below 0
 * (`name<`), there (`name?`), not null (`name!`), or the only one (`name#`).
 */
const STEPS: { [kind: string]: (value: Found, text: string, node: Members) => Found[] | boolean } =
  {
    "*": (value) => (Array.isArray(value) ? value : [undefined]),
    "%": (value) =>
      typeof value === "object" && !Array.isArray(value) && Object.entries(value ?? {}),
    ":": (value, text, node) => [
      [
        value,
        text.split(".").reduce((at: Found, part) => (at as Members)?.[part], node as Found),
      ] as Found,
    ],
    "-": (value) => [write(-(decimal(value) ?? 1n))],
    "!": (value) => (value ?? null) !== null,
    "~": (value, _text, node) => {
      const at = CURRENCIES.indexOf(currency(node?.["currency"])!);
      const units = at % 3 ? 100n : 1_000n ** BigInt(at >= NO_PLACES); // not in the list, or across two of its codes
      return [write((decimal(value) ?? -units) / units)];
    },
    "<": (value) => decimal(value)! < 0n,
    "?": isThere,
    "=": (value, text) => typeof value !== "object" && text.split(";").includes(`${value}`),
    "#": (_value, _text, node) => !Object.keys(node as object)[1],
    "": (value) => [value],
  };
