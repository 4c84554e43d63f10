/* Reads objects by rows of the table. */
import { MAX_ATTRIBUTES } from "../generated/orders.ts";
import { decimal, write } from "./decimal.ts";
import { type Found, type Json, isThere } from "./json.ts";
import { all } from "./path.ts";
import type { Row } from "./table.ts";
import { currency, dateTime, id, plain, quantity } from "./text.ts";

/** Reads all values of a field. */
type ListReader = (values: Found[]) => unknown;

/** How the fields are read that are no plain texts. Of several values, the first usable one counts. */
const READERS: { [field: string]: (value: Found) => unknown } = {
  id,
  currency,
  isTest: isThere,
  created: dateTime,
  quantity,
  isWhole: isThere,
  orderId: id,
};

/** The fields that consist of several values. */
const LISTS: { [field: string]: ListReader } = {
  attributes: (values) => pairs(values, plain, plain).slice(0, MAX_ATTRIBUTES),
  sum,
  total: sum,
  products: (values) => values.map(id).filter(isThere),
};

/**
 * Reads the fields of an object into `found`. Leaves out those that are not there, and empty lists. A row whose name is
 * `field=text` gives its field this text if its path leads to something. `own` reads fields that are lists of objects.
 */
export function fields<T>(
  node: Found,
  rows: Row[],
  found: { [field: string]: unknown },
  own?: { [field: string]: ListReader },
): T {
  for (const [paths, name] of rows) {
    const values = all(node, paths);
    const [field, text] = name.split("=") as [string, string?];
    const list = own?.[field] ?? LISTS[field];
    const read = text ? () => text : (READERS[field] ?? plain);
    const value = (list ? list(values) : values.map(read).find(isThere)) as Json[] | undefined;
    if (value?.length ?? value) found[field] = value;
  }
  return found as T;
}

type Reader = (value: Found) => string | undefined;

/** Reads pairs, and leaves out those that lack a part. */
export const pairs = (values: Found[], left: Reader, right: Reader): [string, string][] =>
  (values as ([Found, Found] | undefined)[])
    .map(([first, second] = [] as never) => [left(first), right(second)])
    .filter(([first, second]) => first && second) as [string, string][];

/** Adds up amounts; undefined if one is absent, or if the sum is negative. */
function sum(values: Found[]): string | undefined {
  const amounts = values.map(decimal);
  return amounts.every(isThere)
    ? write(amounts.reduce((all, amount) => all + amount, 0n))
    : undefined;
}
