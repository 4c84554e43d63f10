/* The public functions of `impact-pledge/validate`. */
import { KINDS, KINDS_OF_BYTES } from "#kinds";
import { UNREADABLE } from "../generated/tables.ts";
import { walkRequest } from "../generated/walk.ts";
import { coder } from "../platform.ts";
import { encodingOf } from "./encoding.ts";
import { MOST_BYTES } from "./limits.ts";
import { readOptions, translated } from "./options.ts";
import { partAt, unknownPointer } from "./pointer.ts";
import { serialize } from "./serialize.ts";
import type { Issue, NewIssue, ValidateOptions } from "./types.ts";
import { walk } from "./walk.ts";
import { type Part, checkJson } from "./wasm.ts";

/**
 * Checks a request (§4.1). Returns all of its issues, in the order of the contract. The array is empty for a
 * valid request.
 *
 * Reads the value like `JSON.stringify`: own enumerable members count, and `toJSON` is called, so a `Date`
 * becomes ISO text. A member, item or request that is `undefined` is absent. Functions, symbols and bigints
 * are issues, because JSON cannot represent them. No value makes the function throw, not even a Proxy or a
 * getter that throws.
 *
 * @throws {TypeError} if an option does not exist, or `maxIssues` is not a whole number greater than 0
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
  const most = readOptions(options);
  return translated(
    walk(walkRequest, value, most) ?? checkText(serialize(value, 0), most),
    options,
  );
}

/**
 * Checks the value of one member or item, for example of a field while the user types. The paths of the
 * issues start at the request.
 *
 * @param pointer a JSON Pointer (RFC 6901) such as `/pledges/0/impact/amount`; if the contract has no such
 *   pointer, the result is an issue of code `unknown_pointer`
 * @param value the value at the pointer; `undefined` means that the member is absent
 * @throws {TypeError} if the pointer is not a string, an option does not exist, or `maxIssues` is not a whole
 *   number greater than 0
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
  const most = readOptions(options),
    part = partAt(pointer);
  if (!part) return translated(unknownPointer(pointer), options);
  const { before, after, depth, isOptional } = part;
  if (isOptional && value === undefined) return [];
  return translated(checkText(before + serialize(value, depth) + after, most, part), options);
}

let hasAllKinds = false;

/**
 * Checks a request given as JSON bytes, such as the body of an HTTP request. Also finds malformed JSON, invalid UTF-8 and
 * duplicate members, which `JSON.parse` would hide.
 *
 * @throws {TypeError} if the argument is not a `Uint8Array`, an option does not exist, or `maxIssues` is not a whole number
 *   greater than 0
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
  if (!hasAllKinds) Object.assign(KINDS, KINDS_OF_BYTES); // once, because it takes as long as a small check
  hasAllKinds = true;
  const most = readOptions(options);
  const issues =
    json.length > MOST_BYTES ? checkText(UNREADABLE, most) : checkJson(json, false, most);
  const encoding = issues[0]?.code === "malformed_json" && encodingOf(json);
  if (encoding) issues[0] = { ...issues[0]!, message: `must be JSON in UTF-8${encoding}` };
  return translated(issues, options);
}

/** Checks a request given as JSON text. With `part`, reports only the issues of that part of the request. */
export const checkText = (text: string, most: number, part?: Part): NewIssue[] =>
  checkJson(coder("TextEncoder").encode(text), true, most, part);

/** Whether a value is a Uint8Array, even one of another realm, such as another frame or a test runner. */
const isBytes = (value: unknown) =>
  ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === "[object Uint8Array]";
