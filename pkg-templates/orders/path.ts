/* Paths and conditions of the tables. `src/pledges/orders/path.rs` describes them. */
import { type Decimal, parse } from "./decimal.ts";

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** Returns a member of an object's own. */
const member = (value: Json | undefined, name: string): Json | undefined =>
  value && typeof value === "object" && Object.hasOwn(value, name)
    ? (value as { [name: string]: Json })[name]
    : undefined;

/** Returns the values at a path; more than one only if the path goes through a list. */
export const select = (root: Json, path: string): Json[] =>
  path
    .split(".")
    .filter(Boolean)
    .reduce((nodes, step) => nodes.flatMap((node) => children(node, step)), [root]);

/** Returns the member that a step names; or the items of the list that it names. */
function children(node: Json, step: string): Json[] {
  const [name = "", filter] = step.split(/[[\]]/);
  const value = member(node, name);
  if (filter === undefined) return value === undefined ? [] : [value];
  return Array.isArray(value)
    ? value.filter((item) => filter.split(",").every((condition) => holds(item, condition)))
    : [];
}

/** Returns the first usable value of several paths. `read` decides what is usable. */
export const first = <T>(
  root: Json,
  paths: readonly string[],
  read: (value: Json) => T | undefined,
): T | undefined =>
  paths
    .flatMap((path) => select(root, path))
    .map(read)
    .find((found) => found !== undefined);

/** Returns whether one of several conditions holds. */
export const any = (node: Json, conditions: readonly string[]): boolean =>
  conditions.some((condition) => condition && holds(node, condition));

export function holds(node: Json, condition: string): boolean {
  if (condition === "#1") return Object.keys(node ?? "").length === 1;
  const [path = "", text] = condition.split(/[=<?]/);
  return select(node, path).some((value) => {
    if (condition.endsWith("?")) return true;
    if (condition.endsWith("<0")) return (decimal(value)?.units ?? 0n) < 0n;
    return text === undefined ? value !== null : typeof value !== "object" && `${value}` === text;
  });
}

/** Returns the number in a value: a number, a text of one, or an object whose `value` is one. */
export function decimal(value: Json): Decimal | undefined {
  const inner = member(value, "value") ?? value;
  return typeof inner === "number" || typeof inner === "string" ? parse(`${inner}`) : undefined;
}
