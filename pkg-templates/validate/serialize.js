/**
 * A value as JSON text, as JSON.stringify would make it, with markers where that would throw or leave out a value. It
 * ends whatever getters, Proxies and cycles do and however large the value is, and reads each member once.
 */
import { GIVEN_UP, MAX_DEPTH, OTHER, UNREADABLE } from "../generated/tables.js";
import { CHARACTERS, MOST_VALUES } from "./limits.js";

/** A number that no double can hold, as NaN and the infinities are none that JSON can. */
const NOT_FINITE = "1e999";

/** @param {unknown} root @param {number} depth how many steps lead to it from the request */
export function serialize(root, depth) {
  let left = MOST_VALUES;

  /** The text of what `read` returns; undefined where that is absent. */
  function textOf(read, key, depth) {
    if (depth > MAX_DEPTH) {
      left = -1; // nothing more is read: the wasm finds that this lies too deep
      return "0";
    }
    if (--left < 0) return GIVEN_UP;
    let value, names, length;
    try {
      value = plain(read(), key);
      if (typeof value === "string") left -= value.length / CHARACTERS;
      names = namesOf(value);
      length = names && Math.trunc(names.length);
    } catch {
      return UNREADABLE;
    }
    if (left < 0) return GIVEN_UP;
    if (length > left) return UNREADABLE;
    if (names) return textOfAll(value, names, length, depth);
    return textOfScalar(value);
  }

  /** The text of an object, or of an array, which then stands for its names as well. */
  function textOfAll(value, names, length, depth) {
    const isArray = names === value;
    let text = "";
    for (let i = 0; i < length && left >= 0; i++) {
      const part = partOf(value, isArray ? `${i}` : names[i], isArray, depth + 1);
      if (part) text += (text && ",") + part;
    }
    return isArray ? `[${text}]` : `{${text}}`;
  }

  /** The text of an item, or of a member with its name; undefined for a member that is absent. */
  function partOf(value, key, isArray, depth) {
    left -= key.length / CHARACTERS;
    const text = textOf(() => value[key], key, depth);
    return isArray ? (text ?? OTHER) : text && `${JSON.stringify(key)}:${text}`;
  }

  return textOf(() => root, "", depth) ?? OTHER;
}

/** The names of an object's members, or an array, which stands for its own names. */
function namesOf(value) {
  if (typeof value !== "object" || value === null) return undefined;
  return Array.isArray(value) ? value : Object.keys(value);
}

function textOfScalar(value) {
  if (typeof value === "number" && !Number.isFinite(value)) return NOT_FINITE;
  if (typeof value === "bigint") return OTHER;
  return value === undefined ? undefined : (JSON.stringify(value) ?? OTHER);
}

/** A value as JSON.stringify sees it: the result of `toJSON`, and the primitive of a wrapper. */
function plain(value, key) {
  const canConvert = value === Object(value) || typeof value === "bigint";
  if (canConvert && typeof value.toJSON === "function") value = value.toJSON(key);
  if (typeof value !== "object" || value?.valueOf === Object.prototype.valueOf) return value;
  for (const type of [Number, String, Boolean, BigInt]) {
    let primitive;
    try {
      primitive = type.prototype.valueOf.call(value);
    } catch {
      continue; // it wraps no such thing
    }
    return typeof primitive === "number" || typeof primitive === "string" ? type(value) : primitive;
  }
  return value;
}
