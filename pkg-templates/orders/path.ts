/*
 * Paths of the table. `src/pledges/orders/path.rs` says what they mean, and `tests/native/generated/orders_table.rs`
 * writes them in this form.
 */
import { decimal } from "./decimal.ts";
import { type Found, type Json, member } from "./json.ts";

type Step = [step: string, name: string, kind: string, text: string];

/** The steps of each path that was followed before. */
const STEPS: { [path: string]: Step[] } = {};

/** Returns what is at several paths. At a path is one value, unless it goes through a list or a condition. */
export const all = (root: Found, paths: readonly string[]): Found[] =>
  paths.flatMap((path) => {
    STEPS[path] ??= path.split("/").map((step) => step.match(/(\w+)(\W?)(.*)/) as unknown as Step);
    let nodes = [root];
    for (const step of STEPS[path]) nodes = nodes.flatMap((node) => follow(node, step));
    return nodes;
  });

/** Where steps lead: to a member (`name`), to the items of a list (`name*`), to the pairs of an object (`name%`). */
const MOVES: { [kind: string]: (value: Found) => Found[] } = {
  "": (value) => [value],
  "*": (value) => (Array.isArray(value) ? value : [undefined]),
  "%": (value) =>
    typeof value !== "object" || Array.isArray(value) ? [] : Object.entries(value ?? {}),
};

/**
 * Steps that stay where they are if a condition holds: a member is one of several texts (`name=text;text`), below 0
 * (`name<`), there (`name?`), not null (`name!`), or the only one (`name#`).
 */
const CONDITIONS: { [kind: string]: (value: Found, text: string, node: Json) => boolean } = {
  "=": (value, text) => typeof value !== "object" && text.split(";").includes(`${value}`),
  "<": (value) => Number(decimal(value)) < 0,
  "?": (value) => value !== undefined,
  "!": (value) => (value ?? null) !== null,
  "#": (_value, _text, node) => !Object.keys(node as object)[1],
};

/** Follows a step. What is not there has nothing in it, and fulfils no condition. */
function follow(node: Found, [, name, kind, text]: Step): Found[] {
  const value = member(node, name);
  if (node === undefined) return [node];
  return MOVES[kind]?.(value) ?? (CONDITIONS[kind]!(value, text, node) ? [node] : []);
}

/** Returns the first usable value at several paths. `read` decides what is usable. */
export const first = <T = Found>(
  node: Found,
  paths: readonly string[],
  read: (value: Found) => T | undefined = (value) => value as T,
): T | undefined =>
  all(node, paths)
    .map(read)
    .find((found) => found !== undefined);
