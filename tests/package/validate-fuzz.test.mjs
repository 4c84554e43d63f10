/**
 * Generated values, valid, invalid and beyond JSON: `validate(value)` and `validateBytes(JSON.stringify(value))` give the same
 * issues, all of them and the first, with wasm and without. `FUZZ_SEED` and `FUZZ_COUNT` choose others; a long run has a million.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { generator } from "../../proofs/bench/data.mjs";
import { validate, validateBytes } from "../../pkg/validate.js";
import * as withoutWasm from "../../pkg/validate/js.js";

const seed = Number(process.env.FUZZ_SEED ?? 20261121);
const count = Number(process.env.FUZZ_COUNT ?? 20_000);

const next = generator(seed);
const below = (end) => Math.floor(next() * end);
const one = (list) => list[below(list.length)];
const chance = (likelihood) => next() < likelihood;

const NAMES = [
  "reference",
  "recipient",
  "pledges",
  "trigger",
  "notifications",
  "email",
  "firstName",
  "name",
  "impact",
  "detail",
  "amount",
  "offeringId",
  "description",
  "nounSingular",
  "nounPlural",
  "image",
  "externalId",
  "externalUrl",
  "date",
  "phrase",
  "extra",
  "",
  "a/b~c",
  "__proto__",
  "toString",
  "é",
  "\ud800",
  "constructor",
  "valueOf",
];
const TEXTS = [
  "",
  "tree",
  "a@b.c",
  "a@",
  "ü@b",
  "https://shop.example/a?b#c",
  "https://[::1]/",
  "/path",
  "2026-01-31T12:00:00Z",
  "2026-02-30T12:00:00Z",
  "Email",
  "email",
  "MessagingServiceC",
  "\0",
  "\ud83c\udf33",
  "\udc00",
  '"\\\n',
  "x".repeat(60),
  `https://a.example/${"p".repeat(80)}`,
];
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

/** Own members all of them, `__proto__` too. */
function objectOf(members) {
  const object = {};
  for (const [name, value] of members)
    Object.defineProperty(object, name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  return object;
}

/** A member of the request: mostly as it must be, at times absent or anything. */
function member(make, required = false) {
  if (chance(0.02)) return anything();
  if (!required && chance(0.4)) return undefined;
  return required && chance(0.02) ? undefined : make();
}

function shuffled(object) {
  const members = Object.entries(object).filter(([, value]) => value !== undefined || chance(0.1));
  if (chance(0.04)) members.push([one(NAMES.filter((name) => name !== "toJSON")), anything()]);
  if (chance(0.3)) members.sort(() => next() - 0.5);
  return objectOf(members);
}

const text = () => (chance(0.97) ? `text ${below(1000)}` : one(TEXTS));
const uri = () => (chance(0.95) ? `https://shop.example/${below(1e6)}` : one(TEXTS));
const detail = () =>
  shuffled({
    name: member(text),
    description: member(text),
    nounSingular: member(text),
    nounPlural: member(text),
    image: member(uri),
    externalId: member(text),
    externalUrl: member(uri),
  });
const impact = () =>
  shuffled({
    amount: member(() => (chance(0.95) ? below(1000) / 8 + 0.125 : one(NUMBERS)), true),
    offeringId: member(text, true),
  });
const pledge = () => shuffled({ impact: member(impact, true), detail: member(detail) });
const trigger = () =>
  shuffled({
    date: member(() => (chance(0.9) ? "2026-01-31T12:00:00Z" : one(TEXTS))),
    phrase: member(text),
    externalUrl: member(uri),
  });
const items = (make, most) =>
  Array.from({ length: most }, () => (chance(0.01) ? anything() : make()));

function request() {
  const email = () => (chance(0.95) ? `ada${below(1000)}@example.org` : one(TEXTS));
  const recipient = () =>
    shuffled({ email: member(email, true), firstName: member(text), name: member(text) });
  const pledges = () =>
    items(pledge, chance(0.01) ? 60 + below(150) : below(4) + Number(chance(0.95)));
  const notifications = () =>
    items(() => (chance(0.95) ? "Email" : one(TEXTS)), chance(0.005) ? 130 : below(5));
  return shuffled({
    reference: member(text, true),
    recipient: member(recipient, true),
    pledges: member(pledges, true),
    trigger: member(trigger),
    notifications: member(notifications),
  });
}

/**
 * Wraps what JSON.stringify sees through, so that the value is serialized: that must not differ
 * either.
 */
function disguised(value) {
  const kind = below(4);
  if (kind === 0) return { toJSON: () => value };
  if (kind === 1)
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.assign(Object.create(null), value)
      : value;
  return kind === 2 && typeof value === "object" && value !== null ? new Proxy(value, {}) : value;
}

test(`${count} values, seed ${seed}`, () => {
  let valid = 0;
  for (let i = 0; i < count; i++) {
    const plain = chance(0.05) ? anything() : request();
    const value = chance(0.1) ? disguised(plain) : plain;
    const sent = JSON.stringify(plain);
    const seen = validate(value);
    try {
      const bytes = new TextEncoder().encode(sent);
      assert.deepEqual(seen, validateBytes(bytes));
      assert.deepEqual(withoutWasm.validate(value), seen);
      assert.deepEqual(withoutWasm.validateBytes(bytes), seen);
      if (seen.length > 1) {
        const maxIssues = 1 + below(seen.length - 1);
        const first = validate(value, { maxIssues });
        assert.deepEqual(first, validateBytes(bytes, { maxIssues }));
        assert.deepEqual(first.slice(0, maxIssues), seen.slice(0, maxIssues));
        assert.deepEqual(
          first.slice(maxIssues).map(({ code, count }) => [code, count]),
          [["more_issues", seen.length - maxIssues]],
        );
      }
    } catch (error) {
      throw new Error(`value ${i} of seed ${seed}: ${sent}`, { cause: error });
    }
    if (seen.length === 0) valid += 1;
  }
  assert.ok(
    valid > count / 10 && valid < (count * 9) / 10,
    `${valid} of ${count} are valid: too few of one kind to prove anything`,
  );
});
