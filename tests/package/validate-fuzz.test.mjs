/**
 * Fuzzes validation. `validate(value)` and `validateBytes(JSON.stringify(value))` must return the same
 * issues, with and without WebAssembly, whether all issues are requested or only the first. Some values
 * cannot be written as JSON, or call `validate` while they are read. `FUZZ_SEED` and `FUZZ_COUNT` choose the
 * values. `npm run prove -- package` tests many.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { REQUEST } from "../../pkg-templates/generated/fields.ts";
import { generator } from "../proofs/bench/data.mjs";
import { validate, validateBytes } from "../../pkg/validate.js";
import * as withoutWasm from "../../pkg/validate/js.js";

const seed = Number(process.env.FUZZ_SEED ?? 20261121);
const count = Number(process.env.FUZZ_COUNT ?? 4_000);

const next = generator(seed);
const below = (end) => Math.floor(next() * end);
const one = (list) => list[below(list.length)];
const chance = (likelihood) => next() < likelihood;

const allNames = ({ members = {}, item = {} }) =>
  [...Object.entries(members), ...(item.members ? [["", item]] : [])].flatMap(([name, shape]) => [
    name,
    ...allNames(shape),
  ]);
const NAMES = [...allNames(REQUEST), "extra", "a/b~c", "__proto__", "toString", "valueOf"];
NAMES.push("é", "\ud800", "constructor");
const TEXTS = ["", "tree", "a@b.c", "a@", "ü@b", "Email", "email", "MessagingServiceC", "/path"];
TEXTS.push("https://shop.example/a?b#c", "https://[::1]/", `https://a.example/${"p".repeat(80)}`);
TEXTS.push("2026-01-31T12:00:00Z", "2026-02-30T12:00:00Z", "x".repeat(60), '"\\\n');
TEXTS.push("\0", "\ud83c\udf33", "\udc00");
const NUMBERS = [0, -0, 1, -1, 0.5, 5e-324, 1.7976931348623157e308, 1e21, 123456789];

function anything(depth = 0) {
  const kind = below(depth > 3 ? 5 : 8);
  if (kind === 0) return null;
  if (kind === 1) return chance(0.5);
  if (kind === 2) return one(NUMBERS);
  if (kind < 5) return one(TEXTS);
  if (kind === 5) return Array.from({ length: below(4) }, () => anything(depth + 1));
  return objectOf(Array.from({ length: below(5) }, () => [one(NAMES), anything(depth + 1)]));
}

/** Returns an object that has all members as its own, even `__proto__`. */
function objectOf(members) {
  const object = {};
  for (const [name, value] of members) {
    const descriptor = { value, enumerable: true, configurable: true, writable: true };
    Object.defineProperty(object, name, descriptor);
  }
  return object;
}

const OF_FORMATS = {
  email: () => changed(`ada.${below(1000)}@shop-${below(9)}.example.org`),
  uri: () => changed(`https://shop.example:8443/${below(1e6)}?a=b`),
  "date-time": () => changed(`2026-02-${10 + below(22)}T12:00:00.5+01:30`),
};

/**
 * Returns a text, rarely with one change. The change inserts a character that formats treat specially, or
 * replaces a character by it.
 */
function changed(text) {
  if (chance(0.93)) return text;
  const place = below(text.length);
  const rest = place + Number(chance(0.7));
  return text.slice(0, place) + one("@.:-+_'!%/?#[]09ZTa \0\u0161") + text.slice(rest);
}

/**
 * Generates a value of the request's shape. Most values are valid. Some are too long, are missing, or have
 * another type.
 */
function madeOf({ isRequired, isNumber, members, item, format }, name) {
  if (chance(0.02)) return anything();
  if (chance(isRequired ? 0.01 : 0.4)) return undefined;
  if (isNumber) return chance(0.95) ? below(1000) / 8 + 0.125 : one(NUMBERS);
  if (item) {
    const length = chance(0.01) ? 60 + below(150) : below(4) + Number(chance(0.95));
    const make = () => madeOf({ ...item, isRequired: true }, name) ?? null;
    return Array.from({ length }, () => (chance(0.01) ? anything() : make()));
  }
  if (!members) {
    const text = OF_FORMATS[format] ?? (() => (name === "notifications" ? "Email" : `${name} é`));
    return chance(0.96) ? text() : one(TEXTS);
  }
  return objectOf(membersOf(members));
}

function membersOf(members) {
  const all = Object.entries(members)
    .map(([name, shape]) => [name, madeOf(shape, name)])
    .filter(([, value]) => value !== undefined || chance(0.1));
  if (chance(0.04)) all.push([one(NAMES), anything()]);
  return chance(0.3) ? all.sort(() => next() - 0.5) : all;
}

const request = () => madeOf({ ...REQUEST, isRequired: true }, "") ?? null;

/**
 * Returns an unusual object for the same JSON text: it has getters, a `toJSON` method, a proxy or no
 * prototype. Some of these objects call `validate` while they are read.
 */
function disguised(value) {
  if (typeof value !== "object" || value === null) return { toJSON: () => value };
  const kind = below(5);
  if (kind === 0) return { toJSON: disturbed(() => value) };
  if (kind === 1) return new Proxy(value, { get: disturbed(Reflect.get) });
  if (kind === 2) return new Proxy(value, { ownKeys: disturbed(Reflect.ownKeys) });
  if (kind === 3 && !Array.isArray(value)) return Object.assign(Object.create(null), value);
  const copy = Array.isArray(value) ? [] : {};
  for (const [name, member] of Object.entries(value)) {
    const inner = chance(0.5) ? disguised(member) : member;
    const descriptor = chance(0.3) ? { get: disturbed(() => inner) } : { value: inner };
    Object.defineProperty(copy, name, { ...descriptor, enumerable: true });
  }
  return copy;
}

let depth = 0,
  inner = 0;
/**
 * Wraps a function that reads a value. Before some reads, the wrapper validates a different value in two
 * ways, as a value and as JSON bytes. It asserts that both ways find the same issues.
 */
const disturbed =
  (read) =>
  (...args) => {
    if (depth < 2 && chance(0.2)) {
      depth += 1;
      inner += 1;
      const other = request();
      const value = chance(0.3) ? disguised(other) : other;
      assert.deepEqual(validate(value), validateBytes(encode(JSON.stringify(other))));
      depth -= 1;
    }
    return read(...args);
  };

const encode = (json) => new TextEncoder().encode(json);

/**
 * Asserts that `validate` and `validateBytes` find the same issues in a value, with and without WebAssembly.
 * Compares all issues, and also a limited number of them.
 */
function assertSame(plain, value) {
  const bytes = encode(JSON.stringify(plain));
  const seen = validate(value);
  assert.deepEqual(seen, validateBytes(bytes));
  assert.deepEqual(withoutWasm.validate(value), seen);
  assert.deepEqual(withoutWasm.validateBytes(bytes), seen);
  if (seen.length > 1) {
    const maxIssues = 1 + below(seen.length - 1);
    const first = validate(value, { maxIssues });
    assert.deepEqual(first, validateBytes(bytes, { maxIssues }));
    assert.deepEqual(first.slice(0, maxIssues), seen.slice(0, maxIssues));
    const rest = first.slice(maxIssues).map(({ code, count }) => [code, count]);
    const left = ["more_issues", seen.length - maxIssues];
    assert.deepEqual(rest, maxIssues === 1 ? [] : [left]);
  }
  return seen;
}

test(`${count} values, seed ${seed}`, () => {
  let valid = 0;
  for (let i = 0; i < count; i++) {
    const plain = chance(0.05) ? anything() : request();
    const value = chance(0.1) ? disguised(plain) : plain;
    try {
      if (assertSame(plain, value).length === 0) valid += 1;
    } catch (error) {
      throw new Error(`value ${i} of seed ${seed}: ${JSON.stringify(plain)}`, { cause: error });
    }
  }
  assert.ok(
    valid > count / 10 && valid < (count * 9) / 10 && inner > count / 20,
    `${valid} of ${count} are valid, ${inner} inside others: too few to prove anything`,
  );
});
