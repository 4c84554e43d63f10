/** The public functions. */
import { toText } from "./careful.js";
import { quickly } from "./encoder.js";
import { issuesOfJson } from "./json.js";
import { issuesAbout, issuesWithout, placeOf } from "./place.js";

const encoder = new TextEncoder();
const REQUEST = { before: "", after: "", depth: 0 };

export function validate(value, options) {
  return translated(quickly(value) ?? carefully(value), options);
}

export function validateAt(pointer, value, options) {
  if (typeof pointer !== "string") throw new TypeError("the pointer must be a string such as `/recipient/email`");
  const place = placeOf(pointer);
  if (!place) return translated(issuesAbout(pointer), options);
  const absent = value === undefined ? issuesWithout(place) : undefined;
  return translated(absent ?? carefully(value, place), options);
}

export function validateBytes(json, options) {
  if (!isBytes(json)) throw new TypeError("JSON bytes must be a Uint8Array");
  return translated(issuesOfJson(json, false), options);
}

/** Reads an odd value with care: a request, or what stands at a place of one. */
function carefully(value, place = REQUEST) {
  const { before, after, depth } = place;
  return issuesOfJson(encoder.encode(before + toText(value, depth) + after), true, place);
}

/** Also one of another realm, such as a frame's or a test runner's. */
const isBytes = (value) => ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === "[object Uint8Array]";

/** Lets a shop say it in its own words. */
function translated(issues, options) {
  const messages = options?.messages;
  if (messages) for (const issue of issues) issue.message = messages(issue) ?? issue.message;
  return issues;
}
