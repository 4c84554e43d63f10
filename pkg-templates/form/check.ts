/*
 * The rules of a request for the values of a form: texts, and numbers as text. The facts are generated from the schema, and the
 * WebAssembly checks formats.
 */
import { FORMATS } from "../generated/fields.ts";
import {
  INVALID_TYPE,
  NOT_ALLOWED,
  POINTERS,
  TOO_FEW_ITEMS,
  TOO_MANY_ITEMS,
  UNKNOWN_MEMBER,
} from "../generated/tables.ts";
import { issueOf, wrongNumber } from "../validate/issues.ts";
import type { NewIssue } from "../validate/types.ts";
import { checkLongFormat } from "../validate/wasm.ts";
import type { Shape } from "./shape.ts";

/** A decimal as people type it: `007`, `+1`, `.5` or `1e3`. */
export const DECIMAL = /^[ \t\n\f\r]*(?:\+|(-))?((?:\d*\.)?\d+(?:e[-+]?\d+)?)[ \t\n\f\r]*$/i;

/** The number that stands for the type `string` in messages. */
const STRING = 3;

/**
 * Builds an issue.
 * @param path the path's steps, separated by dots; at most one of them is an index
 * @param code the number of the issue code
 */
export function issueAt(path: string, code: number, detail = 0): NewIssue {
  const [, item] = path.match(/\.(\d+)/) ?? [],
    index = POINTERS.indexOf(`/${path.replace(/\.\d+/, ".*").replaceAll(".", "/")}`);
  return issueOf(index | (code << 8) | (detail << 16), Number(item));
}

export const issueOfUnknown = (name: string) => issueOf(UNKNOWN_MEMBER << 8, 0, name);

/** Checks the text of a value against its shape. */
export function checkText(text: string, shape: Shape, path: string): NewIssue[] {
  const { members, item, isNumber, format, choices } = shape;
  if (members || item || (isNumber && !DECIMAL.test(text)))
    return [issueAt(path, INVALID_TYPE, STRING)];
  if (isNumber) {
    const number = Number(text);
    return number > 0 && number < Infinity ? [] : [issueAt(path, wrongNumber(number))];
  }
  const code = format ? checkLongFormat(text, FORMATS.indexOf(format)) : 0;
  if (code) return [issueAt(path, code)];
  return choices && !choices.includes(text) ? [issueAt(path, NOT_ALLOWED)] : [];
}

/** Checks how many items an array has. */
export function checkCount(
  count: number,
  { least = 0, most = Infinity }: Shape,
  path: string,
): NewIssue[] {
  if (count < least) return [issueAt(path, TOO_FEW_ITEMS)];
  return count > most ? [issueAt(path, TOO_MANY_ITEMS)] : [];
}
