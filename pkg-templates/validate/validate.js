/** The public functions. */
import { toText } from "./careful.js";
import { encoder, quickly } from "./encoder.js";
import { issuesOfJson } from "./json.js";
import { issuesAbout, issuesWithout, placeOf } from "./place.js";

export function validate(value, options) {
  return translated(quickly(value) ?? carefully(toText(value, 0)), options);
}

export function validateAt(pointer, value, options) {
  if (typeof pointer !== "string") throw new TypeError("the pointer must be a string such as `/recipient/email`");
  const place = placeOf(pointer);
  if (!place) return translated(issuesAbout(pointer), options);
  const { before, after, depth } = place;
  const absent = value === undefined ? issuesWithout(place) : undefined;
  return translated(absent ?? carefully(before + toText(value, depth) + after, place), options);
}

export function validateBytes(json, options) {
  if (!isBytes(json)) throw new TypeError("JSON bytes must be a Uint8Array");
  return translated(issuesOfJson(json, false), options);
}

/** An odd value that was read with care: a request, or what stands at a place of one. */
const carefully = (text, place) => issuesOfJson(encoder.encode(text), true, place);

/** Also one of another realm, such as a frame's or a test runner's. */
const isBytes = (value) => ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === "[object Uint8Array]";

/** Lets a shop say it in its own words. */
function translated(issues, options) {
  const messages = options?.messages;
  if (messages) for (const issue of issues) issue.message = messages(issue) ?? issue.message;
  return issues;
}
