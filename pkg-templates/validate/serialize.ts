/*
 * Serializes a value like JSON.stringify, with markers for values that JSON.stringify would refuse or leave out. Reads each
 * member once. Always ends, even with getters, Proxies, cycles and values of any size.
 */
import { ABSENT, GIVEN_UP, MAX_DEPTH, OTHER, UNREADABLE } from "../generated/tables.ts";
import { CHARACTERS, MOST_VALUES } from "./limits.ts";

/**
 * Stands for NaN and the infinities, which JSON cannot represent. It is a JSON number beyond the range of a
 * double.
 */
const NOT_FINITE = "1e999";

type Members = Record<string, unknown>;

/** Serializes a value. @param depth the number of steps from the request to the value */
export function serialize(root: unknown, depth: number): string {
  let left = MOST_VALUES;

  /** Serializes the result of `read`. Returns undefined if the value is absent. */
  function textOf(read: () => unknown, key: string, depth: number): string | undefined {
    if (depth > MAX_DEPTH) {
      left = -1; // stop reading: the WebAssembly reports the value as too deep
      return "0";
    }
    if (--left < 0) return GIVEN_UP;
    let value: unknown, names: string[] | undefined, length: number | undefined;
    try {
      value = plain(read(), key);
      if (typeof value === "string") left -= value.length / CHARACTERS;
      names = namesOf(value);
      length = names && Math.trunc(names.length);
    } catch {
      return UNREADABLE;
    }
    if (left < 0) return GIVEN_UP;
    if (length! > left) return UNREADABLE;
    if (names) return textOfAll(value as Members, names, length!, depth);
    return textOfScalar(value);
  }

  /** Serializes an object or an array. For an array, `names` is the array itself. */
  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: two functions would add 50 bytes to every page
  function textOfAll(value: Members, names: string[], length: number, depth: number): string {
    const isArray = names === (value as unknown);
    let text = "";
    for (let i = 0; i < length && left >= 0; i++) {
      const key = isArray ? `${i}` : names[i]!;
      left -= key.length / CHARACTERS;
      if (left < 0) return GIVEN_UP; // the name alone may be too long
      const part = textOf(() => value[key], key, depth + 1) ?? (isArray ? ABSENT : undefined);
      if (part) text += (text && ",") + (isArray ? "" : `${JSON.stringify(key)}:`) + part;
    }
    return isArray ? `[${text}]` : `{${text}}`;
  }

  return textOf(() => root, "", depth) ?? ABSENT;
}

/** Returns the names of an object's members; for an array, the array itself. */
function namesOf(value: unknown): string[] | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  return Array.isArray(value) ? value : Object.keys(value);
}

function textOfScalar(value: unknown): string | undefined {
  if (typeof value === "number" && !Number.isFinite(value)) return NOT_FINITE;
  if (typeof value === "bigint") return OTHER;
  return value === undefined ? undefined : (JSON.stringify(value) ?? OTHER);
}

/**
 * Prepares a value for serialization as `JSON.stringify` does: calls `toJSON`, and unwraps objects such as
 * `new Number(1)`.
 */
function plain(value: unknown, key: string): unknown {
  const canConvert = value === Object(value) || typeof value === "bigint";
  if (canConvert && typeof (value as Members).toJSON === "function")
    value = (value as { toJSON(key: string): unknown }).toJSON(key);
  if (typeof value !== "object" || value?.valueOf === Object.prototype.valueOf) return value;
  for (const type of [Number, String, Boolean, BigInt]) {
    let primitive: unknown;
    try {
      primitive = (type.prototype.valueOf as (this: unknown) => unknown).call(value);
    } catch {
      continue; // not a wrapper of this type
    }
    return typeof primitive === "number" || typeof primitive === "string"
      ? (type as (value: unknown) => unknown)(value)
      : primitive;
  }
  return value;
}
