/*
 * The rules of a request for what a form can hold: texts, and numbers of which only the text is known. The facts are generated from
 * the schema, and the WebAssembly checks formats.
 */
import { KINDS } from "#kinds";
import { FORMATS } from "../generated/fields.ts";
import { POINTERS } from "../generated/tables.ts";
import { issueOf, wrongNumber } from "../validate/issues.ts";
import type { NewIssue } from "../validate/types.ts";
import { checkLongFormat } from "../validate/wasm.ts";
import type { Shape } from "./shape.ts";

/** A decimal as people type it, such as `007`, `+1`, `.5` or `1e3`. */
export const DECIMAL = /^[ \t\n\f\r]*(?:\+|(-))?((?:\d*\.)?\d+(?:e[-+]?\d+)?)[ \t\n\f\r]*$/i;

/** The number of the type of a text in messages. */
const STRING = 3;

const codeOf = (name: string) => KINDS.findIndex((kind) => kind![0] === name);

/** Makes an issue. @param path with dots; each of the request's items lies in one array */
export function issueAt(path: string, code: string | number, detail = 0): NewIssue {
  const [, item] = path.match(/\.(\d+)/) ?? [],
    index = POINTERS.indexOf(`/${path.replace(/\.\d+/, ".*").replaceAll(".", "/")}`);
  const number = typeof code === "number" ? code : codeOf(code);
  return issueOf(index | (number << 8) | (detail << 16), Number(item));
}

export const issueOfUnknown = (name: string) => issueOf(codeOf("unknown_member") << 8, 0, name);

/** Checks a text where the request has a value of this shape. */
export function checkText(text: string, shape: Shape, path: string): NewIssue[] {
  const { members, item, isNumber, format, choices } = shape;
  if (members || item || (isNumber && !DECIMAL.test(text)))
    return [issueAt(path, "invalid_type", STRING)];
  if (isNumber)
    return Number(text) > 0 && Number(text) < Infinity
      ? []
      : [issueAt(path, wrongNumber(Number(text)))];
  const code = format ? checkLongFormat(text, FORMATS.indexOf(format)) : 0;
  if (code) return [issueAt(path, code)];
  return choices && !choices.includes(text) ? [issueAt(path, "not_allowed")] : [];
}

/** Checks the number of an array's items. */
export function checkCount(
  count: number,
  { least = 0, most = Infinity }: Shape,
  path: string,
): NewIssue[] {
  if (count < least) return [issueAt(path, "too_few_items")];
  return count > most ? [issueAt(path, "too_many_items")] : [];
}
