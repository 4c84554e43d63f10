/* The public functions. */
import { KINDS, KINDS_OF_BYTES } from "#kinds";
import { coder } from "../platform.ts";
import { mostOf, translated } from "./options.ts";
import { issuesAbout, issuesWithout, placeOf } from "./pointer.ts";
import { serialize } from "./serialize.ts";
import type { Issue, NewIssue, ValidateOptions } from "./types.ts";
import { walk } from "./walk.ts";
import { type Part, checkJson } from "./wasm.ts";

/**
 * Every problem of a request, in the order of the contract; none when it is valid.
 *
 * A value is read as `JSON.stringify` would send it: own enumerable members count, `toJSON` is called (so a `Date`
 * is its ISO text), and members that are `undefined` are absent. Functions, symbols and bigints, which JSON cannot
 * carry, are issues. Whatever the value does when it is read, nothing is thrown.
 *
 * @example
 * ```js
 * import { validate } from "impact-pledge/validate";
 *
 * const issues = validate({ reference: "order-1", recipient: { email: "ada@" }, pledges: [] });
 * console.log(issues.map(({ pointer, code }) => `${pointer} ${code}`)); // [ '/recipient/email invalid_email', '/pledges too_few_items' ]
 * ```
 */
export function validate(value: unknown, options?: ValidateOptions): Issue[] {
  const most = mostOf(options);
  return translated(walk(value, most) ?? checkText(serialize(value, 0), most), options);
}

/**
 * The problems of the value of one place, with full paths: for a field, as the user types.
 *
 * @param pointer RFC 6901, such as `/pledges/0/impact/amount`; one that the request has not is an issue.
 * @param value `undefined` is absent.
 *
 * @example
 * ```js
 * import { validateAt } from "impact-pledge/validate";
 *
 * const [issue] = validateAt("/recipient/email", "ada@");
 * console.log(issue.code); // invalid_email
 * ```
 */
export function validateAt(pointer: string, value: unknown, options?: ValidateOptions): Issue[] {
  if (typeof pointer !== "string")
    throw new TypeError("the pointer must be a string such as `/recipient/email`");
  const most = mostOf(options),
    place = placeOf(pointer);
  if (!place) return translated(issuesAbout(pointer), options);
  const { before, after, depth } = place;
  const absent = value === undefined ? issuesWithout(place) : undefined;
  return translated(
    absent ?? checkText(before + serialize(value, depth) + after, most, place),
    options,
  );
}

let hasAllKinds = false;

/**
 * The problems of a request that is JSON bytes, duplicate members and malformed JSON included.
 *
 * @example
 * ```js
 * import { validateBytes } from "impact-pledge/validate";
 *
 * const body = new TextEncoder().encode('{ "reference": "order-1", "reference": "order-2" }');
 * console.log(validateBytes(body)[0].code); // duplicate_member
 * ```
 */
export function validateBytes(json: Uint8Array, options?: ValidateOptions): Issue[] {
  if (!isBytes(json)) throw new TypeError("JSON bytes must be a Uint8Array");
  if (!hasAllKinds) Object.assign(KINDS, KINDS_OF_BYTES); // once: it takes as long as a small check
  hasAllKinds = true;
  return translated(checkJson(json, false, mostOf(options)), options);
}

/** Checks a serialized value: a request, or what stands at a place of one. */
export const checkText = (text: string, most: number, place?: Part): NewIssue[] =>
  checkJson(coder("TextEncoder").encode(text), true, most, place);

/** Also one of another realm, such as a frame's or a test runner's. */
const isBytes = (value: unknown) =>
  ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === "[object Uint8Array]";
