/** The public functions. */
import { KINDS, KINDS_OF_BYTES } from "#kinds";
import { coder } from "../platform.js";
import { mostOf, translated } from "./options.js";
import { issuesAbout, issuesWithout, placeOf } from "./pointer.js";
import { serialize } from "./serialize.js";
import { walk } from "./walk.js";
import { checkJson } from "./wasm.js";

export function validate(value, options) {
  const most = mostOf(options);
  return translated(walk(value, most) ?? checkText(serialize(value, 0), most), options);
}

export function validateAt(pointer, value, options) {
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

export function validateBytes(json, options) {
  if (!isBytes(json)) throw new TypeError("JSON bytes must be a Uint8Array");
  if (!hasAllKinds) Object.assign(KINDS, KINDS_OF_BYTES); // once: it takes as long as a small check
  hasAllKinds = true;
  return translated(checkJson(json, false, mostOf(options)), options);
}

/** Checks a serialized value: a request, or what stands at a place of one. */
export const checkText = (text, most, place) =>
  checkJson(coder("TextEncoder").encode(text), true, most, place);

/** Also one of another realm, such as a frame's or a test runner's. */
const isBytes = (value) =>
  ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === "[object Uint8Array]";
