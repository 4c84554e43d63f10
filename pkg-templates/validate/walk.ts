/*
 * Walks a value by the schema and reads each member once. A value of a wrong shape becomes an issue at once. Texts with a
 * format are collected for the WebAssembly, which checks many in one call, and their issues are inserted in order.
 * Anything but plain data ends the walk, and the value is serialized instead: `toJSON`, getters that throw, values that
 * JSON cannot represent, and non-ASCII text where a format is required.
 */
import { walkRequest } from "../generated/walk.ts";
import {
  LENGTH_SHIFT,
  NOT_ALLOWED,
  INDEX_MASK,
  REQUIRED,
  REQUIRED_MEMBER,
  MAX_TEXTS,
  TOO_FEW_ITEMS,
  TOO_MANY_ITEMS,
  UNKNOWN_MEMBER,
} from "../generated/tables.ts";
import { COPIED, coder } from "../platform.ts";
import { issueOf, withCount, wrongNumber } from "./issues.ts";
import { MOST_TEXT, MOST_VALUES } from "./limits.ts";
import type { NewIssue } from "./types.ts";
import { type Instance, acquire, release } from "./wasm.ts";

const SURROGATE = /[\ud800-\udfff]/;
/** Thrown when a value is not plain data. */
const NOT_PLAIN = {};

// The state of the walk. There is only one walk at a time.
/** The first issues so far, in the schema's order; how many to keep; how many were left out; the position of the item. */
let issues: NewIssue[], most: number, beyond: number, item: number;
/** The instance; the number of collected texts and of their characters; the texts that are not yet in its memory, joined. */
let wasm: Instance, count: number, used: number, joined: string;
/** For each text, the position of its item, and how many issues come before its own. */
const items: number[] = [],
  before: number[] = [];

/** Returns the issues of a request; undefined if it is not plain data, or if called by a getter of a value being walked. */
export function walk(value: unknown, maxIssues: number): NewIssue[] | undefined {
  if (issues) return undefined;
  wasm = acquire();
  most = maxIssues;
  item = count = used = beyond = 0;
  issues = [];
  joined = "";
  let result: NewIssue[] | undefined;
  try {
    walkRequest(value);
    checkTexts();
    result = withCount(issues, beyond);
  } catch (error) {
    if (error !== NOT_PLAIN) throw error;
  } finally {
    issues = undefined as never;
  }
  release(wasm);
  return result;
}

/** Collects the text of a member that has a format. @param word the format, and the index of the node */
export function addText(text: unknown, word: number): void {
  if (typeof text !== "string") return reportMember(text, word & INDEX_MASK);
  const size = text.length;
  if (size > MOST_TEXT) notPlain();
  if (count === MAX_TEXTS || used > MOST_TEXT) checkTexts();
  wasm.words[count] = (size << LENGTH_SHIFT) | word;
  items[count] = item;
  before[count++] = issues.length;
  if (used < COPIED) copy(text, size, wasm.text, used);
  else joined += text;
  used += size;
}

/** All formats are ASCII. Why other text is invalid, only the check of the serialized value finds out. */
function copy(text: string, size: number, area: Uint8Array, at: number): void {
  let all = 0;
  for (let i = 0; i < size; i++) all |= area[at + i] = text.charCodeAt(i);
  if (all > 127) notPlain();
}

/** Checks the collected texts. */
function checkTexts() {
  const rest = joined.length,
    { words, text } = wasm;
  if (
    rest &&
    coder("TextEncoder").encodeInto(joined, rest < used ? text.subarray(used - rest) : text)
      .written !== rest
  )
    notPlain();
  const wrong = wasm.check_formats(wasm.area, count, used);
  insertIssues(words, wrong);
  count = used = 0;
  joined = "";
}

/** Inserts the issues of wrong texts at their positions, from the last to the first, so that each issue moves only once. */
function insertIssues(words: Uint32Array, wrong: number): void {
  if (!wrong) return;
  let from = issues.length,
    to = from + wrong;
  beyond += Math.max(0, to - most);
  for (let i = count; i--; ) {
    if (!words[i]) continue;
    while (from > before[i]!)
      if (--to < most) issues[to] = issues[--from]!;
      else from--;
    if (--to < most) issues[to] = issueOf(words[i]!, items[i]!);
  }
}

export function walkItems(
  array: unknown,
  index: number,
  fewest: number,
  limit: number,
  walkItem: (value: unknown) => void,
): void {
  if (!isArray(array)) return reportMember(array, index);
  let length!: number, value: unknown;
  try {
    if (!(array as { toJSON?: unknown }).toJSON) ({ length } = array);
  } catch {
    notPlain();
  }
  if (!Number.isInteger(length) || length > MOST_VALUES) notPlain(); // a Proxy may return any length
  if (length < fewest) report(index | (TOO_FEW_ITEMS << 8));
  if (length > limit) report(index | (TOO_MANY_ITEMS << 8));
  for (item = 0; item < length; item++) {
    try {
      value = array[item];
    } catch {
      notPlain();
    }
    walkItem(value);
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

/** Reports a member of a wrong type, or an absent one that is required. */
export function reportMember(value: unknown, index: number): void {
  // The code `invalid_type` is 0; the byte above it is the type.
  if (value !== undefined) report(index | (typeOf(value) << 16));
  else if ((REQUIRED >> index) & 1) report(index | (REQUIRED_MEMBER << 8));
}

function report(about: number, name?: string): void {
  if (issues.length < most) issues.push(issueOf(about, item, name));
  else beyond++;
}

/** Adds the name of an unknown member, unless it is `undefined` and thereby absent. */
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

/** Returns the number of a value's type. */
function typeOf(value: unknown): number {
  return value === null
    ? 0
    : ["boolean", "number", "string"].indexOf(typeof value) + 1 || notPlain();
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !isArray(value);

/** `Array.isArray` throws for a revoked Proxy. */
function isArray(value: unknown): value is unknown[] {
  try {
    return Array.isArray(value);
  } catch {
    return notPlain();
  }
}

/** Whether a value is a string. A lone surrogate is not plain data; nor is any string if the engine cannot tell. */
export const isText = (value: unknown): boolean =>
  typeof value === "string" &&
  ((COPIED && !SURROGATE.test(value)) ||
    (value as { isWellFormed?(): boolean }).isWellFormed?.() ||
    notPlain());

export function notPlain(): never {
  throw NOT_PLAIN;
}
