/**
 * A value as text, read with care: what JSON.stringify would make of it, with bytes that JSON has not where it would
 * throw, or leave out what nobody may leave out. No throwing getter, lying Proxy, cycle or size gets past it.
 */
import { GIVEN_UP, MAX_DEPTH, OTHER, UNREADABLE } from "../generated/tables.js";

/** How many values are read at most, so that an array with a length of billions ends. */
const MOST = 1 << 22;
/** A number that no double can hold, as NaN and the infinities are none that JSON can. */
const NOT_FINITE = "1e999";

/** @param {unknown} root @param {number} depth how many steps lead to it from the request */
export function toText(root, depth) {
  let left = MOST;

  /** The text of what `get` gives; undefined where that is absent. */
  function attempt(get, key, depth) {
    if (depth > MAX_DEPTH || left-- <= 0) return giveUp(depth);
    try {
      return text(plain(get(), key), depth);
    } catch {
      return UNREADABLE;
    }
  }

  /** Too deep is for the engine to find; what is too much is marked. Either way nothing more is read. */
  function giveUp(depth) {
    left = -1;
    return depth > MAX_DEPTH ? "0" : GIVEN_UP;
  }

  function text(value, depth) {
    const type = typeof value;
    if (value !== null && type === "object") return within(value, depth);
    if (type === "number" && !Number.isFinite(value)) return NOT_FINITE;
    return ["bigint", "function", "symbol"].includes(type) ? OTHER : JSON.stringify(value);
  }

  /** The text of an object, or of an array, which has no names. */
  function within(value, depth) {
    const names = Array.isArray(value) ? undefined : Object.keys(value);
    const length = Math.trunc((names ?? value).length);
    let text = "";
    for (let i = 0; i < length && left >= 0; i++) {
      const key = names ? names[i] : String(i);
      const member = attempt(() => value[key], key, depth + 1);
      if (member !== undefined || !names) text += (text && ",") + (names ? `${JSON.stringify(key)}:` : "") + (member ?? OTHER);
    }
    return names ? `{${text}}` : `[${text}]`;
  }

  return attempt(() => root, "", depth) ?? OTHER;
}

/** What JSON.stringify takes a value for: `toJSON` is asked, and what wraps a primitive gives it. */
function plain(value, key) {
  const canConvert = value === Object(value) || typeof value === "bigint";
  if (canConvert && typeof value.toJSON === "function") value = value.toJSON(key);
  return typeof value === "object" && value?.valueOf !== Object.prototype.valueOf ? unwrapped(value) : value;
}

function unwrapped(value) {
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
