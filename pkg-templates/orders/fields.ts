/* Reads objects by rows of the table. */
import { MAX_ATTRIBUTES } from "../generated/orders.ts";
import { decimal, write } from "./decimal.ts";
import type { Found } from "./json.ts";
import { all, first } from "./path.ts";
import type { Row } from "./table.ts";
import { currency, dateTime, id, language, name, plain } from "./text.ts";

type Reader = (value: Found) => string | undefined;

/** Returns a quantity; undefined for a negative one. */
export const quantity: Reader = (value) => write(decimal(value));

/** How the fields are read that are no plain texts. */
const READERS: { [field: string]: Reader } = {
  id,
  currency,
  created: dateTime,
  language,
  quantity,
};

/** Reads the fields of an object, and adds more. Leaves out those that are undefined, and empty lists. */
export const fields = <T>(
  node: Found,
  rows: Row[],
  more: { [Name in keyof T]?: T[Name] | undefined },
): object =>
  Object.fromEntries(
    [
      ...rows.map(([paths, field]) => [field, first(node, paths, READERS[field!] ?? plain)]),
      ...Object.entries(more),
    ].filter(([, value]) => ((value ?? []) as unknown[]).length !== 0),
  );

/** Returns the first row of which a path leads to something. */
export const which = (node: Found, rows: Row[]): Row | [] =>
  rows.find(([paths]) => first(node, paths) !== undefined) ?? [];

/** Reads pairs by tables such as `meta_data*:key:value`, or `metadata%` for names and values of an object. */
export const pairs = (node: Found, tables: string[], left: Reader, right: Reader) =>
  tables
    .flatMap((table) => {
      const [at, names = "0", texts = "1"] = table.split(":");
      return all(node, [at!]).map((item) => [
        first(item, [names], left),
        first(item, texts.split(";"), right),
      ]);
    })
    .filter(([left, right]) => left && right) as [string, string][];

export const attributes = (node: Found, tables: string[]): [string, string][] =>
  pairs(node, tables, name, plain).slice(0, MAX_ATTRIBUTES);
