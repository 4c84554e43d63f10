/* Texts of a body. Whatever does not have the expected shape is left out. `src/pledges/orders/text.rs` has the rules. */
import { MAX_ATTRIBUTES, MAX_ID, MAX_TEXT } from "../generated/orders.ts";
import { type Json, first, select } from "./path.ts";

/** Returns a text or a number, without white space around it. */
export function plain(value: Json): string | undefined {
  const text = typeof value === "string" || typeof value === "number" ? `${value}`.trim() : "";
  const isShort = text.length <= MAX_TEXT * 2 && [...text].length <= MAX_TEXT;
  return text && isShort && !/\p{Cc}/u.test(text) ? text : undefined;
}

export function language(value: Json): string | undefined {
  const text = plain(value) ?? "";
  return /^(?=.{2,35}$)[a-z\d]{2,3}([-_][a-z\d]{1,8})*$/i.test(text) ? text : undefined;
}

export const currency = (value: Json) =>
  typeof value === "string" && /^[a-z]{3}$/i.test(value) ? value.toUpperCase() : undefined;

export function id(value: Json): string | undefined {
  const isId = typeof value === "string" || (Number.isSafeInteger(value) && Number(value) >= 0);
  const isShort = `${value}`.length <= MAX_ID;
  return isId && isShort && /^[!-~]+$/.test(`${value}`) ? `${value}` : undefined;
}

/** Returns a date-time as RFC 3339, from one, from one without its `Z`, from seconds, or from a date as in e-mails. */
export function dateTime(value: Json): string | undefined {
  const text = plain(value) ?? "";
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(text))
    return [text, `${text}Z`].find((date) => /\d(Z|[+-]\d\d:\d\d)$/.test(date) && Date.parse(date));
  if (typeof value === "number")
    return /^\d{1,11}$/.test(text) ? inSeconds(value * 1_000) : undefined;
  return text.endsWith(" +0000") ? inSeconds(Date.parse(text)) : undefined;
}

const inSeconds = (ms: number): string | undefined =>
  ms >= 0 ? new Date(ms).toISOString().replace(".000", "") : undefined;

/** Reads attributes by lines such as `meta_data:key:value`, or `metadata::` for the members of an object. */
export const attributes = (node: Json, tables: readonly string[]): [string, string][] =>
  tables
    .filter(Boolean)
    .flatMap((table) => pairs(node, table.split(":")))
    .filter((pair): pair is [string, string] => isName(pair[0]) && pair[1] !== undefined)
    .slice(0, MAX_ATTRIBUTES);

const isName = (name = ""): boolean => name !== "" && [...name].length <= MAX_ID;

function pairs(node: Json, [at = "", name = "", text = ""]: string[]) {
  const found = select(node, at).filter((value) => Array.isArray(value) === !!name);
  const entries = found.flatMap((value) =>
    typeof value === "object" ? Object.entries(value ?? {}) : [],
  );
  return name
    ? entries.map(([, item]) => [first(item, [name], plain), first(item, text.split(","), plain)])
    : entries.map(([own, item]) => [own, plain(item)]);
}
