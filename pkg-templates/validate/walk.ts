/*
 * Walks a value by the schema, reads each member once, and collects issues in the schema's order. Only unusual texts with a
 * format go to the WebAssembly. Anything but plain data ends the walk, and the value is serialized instead: `toJSON`, getters
 * that throw, values that JSON cannot represent, and halves of surrogate pairs.
 */
import { assertAllowed } from "#module";
import {
  NOT_ALLOWED,
  REQUIRED,
  REQUIRED_MEMBER,
  TOO_FEW_ITEMS,
  TOO_MANY_ITEMS,
  UNKNOWN_MEMBER,
} from "../generated/tables.ts";
import { IS_PAGE } from "../platform.ts";
import { issueOf, withCount, wrongNumber } from "./issues.ts";
import { MOST_TEXT, MOST_VALUES, ORDINARY_TEXT } from "./limits.ts";
import type { NewIssue } from "./types.ts";
import { checkFormat } from "./wasm.ts";

const SURROGATE = /[\ud800-\udfff]/;

// The state of the walk. There is only one walk at a time.
/**
 * The state of a walk (a check that reads the request's values directly): the issues so far, the maximum number
 * of issues to keep, the number of issues left out, and the position of the current array item.
 */
let issues: NewIssue[], most: number, beyond: number, item: number;

/**
 * Checks a request by reading its values directly, and returns its issues. Returns undefined if the request
 * is not plain data. A getter of the request may call this function during the walk; this inner call returns
 * undefined.
 *
 * @param walkRequest the generated walk, which calls the other functions of this file
 * @throws {Error} if the environment forbids WebAssembly, even for a value that needs no WebAssembly
 */
export function walk(
  walkRequest: (value: unknown) => void,
  value: unknown,
  maxIssues: number,
): NewIssue[] | undefined {
  assertAllowed();
  if (issues) return undefined;
  most = maxIssues;
  item = beyond = 0;
  issues = [];
  try {
    walkRequest(value);
    return withCount(issues, beyond);
  } catch (cause) {
    if (cause === issues) return issues;
    return undefined; // by `notPlain`, or by the caller's code: `serialize` reads the value again
  } finally {
    issues = undefined as never;
  }
}

/**
 * Checks the text of a member that has a format.
 * @param ordinary a quick test: every text that matches has the format; other texts are checked by
 *   WebAssembly
 */
export function checkText(text: unknown, index: number, format: number, ordinary: RegExp): void {
  if (typeof text === "string" && text.length <= ORDINARY_TEXT && ordinary.test(text)) return;
  if (!isText(text)) return reportMember(text, index);
  if (text.length > MOST_TEXT) notPlain();
  const code = checkFormat(text, format);
  if (code) report(index | (code << 8));
}

export function walkItems(
  array: unknown,
  index: number,
  fewest: number,
  limit: number,
  walkItem: (value: unknown) => void,
): void {
  if (!Array.isArray(array)) return reportMember(array, index);
  if ((array as { toJSON?: unknown }).toJSON) notPlain();
  const { length } = array;
  if (!Number.isInteger(length) || length > MOST_VALUES) notPlain(); // a Proxy may return any length
  if (length < fewest) report(index | (TOO_FEW_ITEMS << 8));
  if (length > limit) report(index | (TOO_MANY_ITEMS << 8));
  for (item = 0; item < length; item++) {
    walkItem(array[item]);
  }
}

export function checkNumber(number: unknown, index: number): void {
  if (typeof number !== "number") reportMember(number, index);
  else if (!(number > 0 && number < Infinity)) report(index | (wrongNumber(number) << 8));
}

export function reportNotAllowed(value: unknown, index: number): void {
  if (!isText(value)) reportMember(value, index);
  else report(index | (NOT_ALLOWED << 8));
}

/** Reports a member of a wrong type, or a required member that is absent. */
export function reportMember(value: unknown, index: number): void {
  // The code `invalid_type` is 0; the byte above it is the type.
  if (value !== undefined) report(index | (typeOf(value) << 16));
  else if ((REQUIRED >> index) & 1) report(index | (REQUIRED_MEMBER << 8));
}

/** Keeps an issue, or counts it if there are enough. Ends the walk if the caller wants only one issue. */
function report(about: number, name?: string): void {
  if (issues.length < most) issues.push(issueOf(about, item, name));
  else beyond++;
  if (most === 1) throw issues;
}

/**
 * Adds the name of an unknown member to `names`. A member with the value `undefined` counts as absent and
 * is not added.
 */
export function withUnknown(names: string[] = [], name: string, value: unknown): string[] {
  if (value !== undefined) {
    typeOf(value);
    isText(name);
    names.push(name);
  }
  return names;
}

export function reportUnknown(names: string[], index: number): void {
  for (const name of names) report(index | (UNKNOWN_MEMBER << 8), name);
}

/**
 * Returns the number that stands for a value's type in an issue: null, boolean, number or string. Ends the
 * walk for any other type.
 */
function typeOf(value: unknown): number {
  return value === null
    ? 0
    : ["boolean", "number", "string"].indexOf(typeof value) + 1 || notPlain();
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Whether a value is a string. Ends the walk if the string contains half of a surrogate pair, or if the
 * engine cannot detect that.
 */
export const isText = (value: unknown): value is string =>
  typeof value === "string" &&
  ((IS_PAGE && !SURROGATE.test(value)) ||
    (value as { isWellFormed?(): boolean }).isWellFormed?.() ||
    notPlain());

/** Ends the walk. */
export function notPlain(): never {
  throw undefined;
}
