/*
 * The walk of a value by the schema, each member read once. What breaks a rule of shape becomes an issue on the spot;
 * texts that have a format are collected for the wasm, which checks many in one call, and its issues are inserted in
 * order. What is no plain data (`toJSON`, getters that throw, values that JSON has not, text beyond ASCII where a format
 * is) ends the walk: such a value is serialized.
 */
import { walkRequest } from "../generated/walk.ts";
import {
  LENGTH,
  NOT_ALLOWED,
  RANK,
  REQUIRED,
  REQUIRED_MEMBER,
  TEXTS,
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
/** Thrown where a value is no plain data. */
const NOT_PLAIN = {};

/** Of the one walk at a time: the first issues so far, in the schema's order; how many may be kept, how many were not; the current item. */
let issues: NewIssue[], most: number, beyond: number, item: number;
/** Its instance of the wasm; how many texts wait, of how many characters; and those that are not yet in its memory, joined. */
let wasm: Instance, count: number, used: number, joined: string;
/** Of each text its item, and how many issues come before its own. */
const items: number[] = [],
  before: number[] = [];

/** @returns the issues of a request; undefined if it is no plain data, or if a getter of a value that is being walked asks */
export function walk(value: unknown, maxIssues: number): NewIssue[] | undefined {
  if (value === undefined || issues) return undefined;
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

/** A member that is text with a format. @param word that format, and the rank of its place */
export function addText(text: unknown, word: number): void {
  if (typeof text !== "string") return reportMember(text, word & RANK);
  const size = text.length;
  if (size > MOST_TEXT) notPlain();
  if (count === TEXTS || used > MOST_TEXT) checkTexts();
  wasm.words[count] = (size << LENGTH) | word;
  items[count] = item;
  before[count++] = issues.length;
  if (used < COPIED) copy(text, size, wasm.text, used);
  else joined += text;
  used += size;
}

/** All formats are of ASCII: other text is wrong, and may be so for a reason that only the serialized check finds. */
function copy(text: string, size: number, area: Uint8Array, at: number): void {
  let all = 0;
  for (let i = 0; i < size; i++) all |= area[at + i] = text.charCodeAt(i);
  if (all > 127) notPlain();
}

/** Checks the texts that wait. */
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

/** Inserts the issue of each wrong text where it belongs: from the last to the first, so that each moves once. */
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
  rank: number,
  fewest: number,
  limit: number,
  walkItem: (value: unknown) => void,
): void {
  if (!isArray(array)) return reportMember(array, rank);
  let length!: number, value: unknown;
  try {
    if (!(array as { toJSON?: unknown }).toJSON) ({ length } = array);
  } catch {
    notPlain();
  }
  if (!Number.isInteger(length) || length > MOST_VALUES) notPlain(); // a Proxy may give any
  if (length < fewest) report(rank | (TOO_FEW_ITEMS << 8));
  if (length > limit) report(rank | (TOO_MANY_ITEMS << 8));
  for (item = 0; item < length; item++) {
    try {
      value = array[item];
    } catch {
      notPlain();
    }
    if (value === undefined) notPlain();
    walkItem(value);
  }
}

export function checkNumber(number: unknown, rank: number): void {
  if (typeof number !== "number") reportMember(number, rank);
  else if (!(number > 0 && number < Infinity)) report(rank | (wrongNumber(number) << 8));
}

export function reportNotAllowed(value: unknown, rank: number): void {
  if (!isText(value)) reportMember(value, rank);
  else report(rank | (NOT_ALLOWED << 8));
}

/** A member that is not of its type, or absent. */
export function reportMember(value: unknown, rank: number): void {
  // In the code's byte stands `invalid_type`, which is 0, and above it the type.
  if (value !== undefined) report(rank | (typeOf(value) << 16));
  else if ((REQUIRED >> rank) & 1) report(rank | (REQUIRED_MEMBER << 8));
}

function report(about: number, name?: string): void {
  if (issues.length < most) issues.push(issueOf(about, item, name));
  else beyond++;
}

/** Adds the name of an unknown member; one that is `undefined` is absent. */
export function withUnknown(names: string[] = [], name: string, value: unknown): string[] {
  if (value !== undefined) {
    typeOf(value);
    isText(name);
    names.push(name);
  }
  return names;
}

export function reportUnknown(names: string[], rank: number): void {
  for (const name of names) report(rank | (UNKNOWN_MEMBER << 8), name);
}

/** The number of a value's type. */
function typeOf(value: unknown): number {
  return value === null
    ? 0
    : ["boolean", "number", "string"].indexOf(typeof value) + 1 || notPlain();
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !isArray(value);

/** A revoked Proxy throws. */
function isArray(value: unknown): value is unknown[] {
  try {
    return Array.isArray(value);
  } catch {
    return notPlain();
  }
}

/** Whether it is a string. One with half of a surrogate pair is not plain, nor is any to an engine that cannot find out. */
export const isText = (value: unknown): boolean =>
  typeof value === "string" &&
  ((COPIED && !SURROGATE.test(value)) ||
    (value as { isWellFormed?(): boolean }).isWellFormed?.() ||
    notPlain());

export function notPlain(): never {
  throw NOT_PLAIN;
}
