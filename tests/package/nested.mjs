/**
 * Values whose getters, Proxies and `toJSON` start validations of their own: the outer one and the inner ones must
 * each have the result that they have alone. Plain JavaScript, for Node and for a page.
 */
import { generator } from "../../proofs/bench/data.mjs";

const EMAILS = [
  "ada@example.org",
  "not-an-email",
  "",
  "ü@b.c",
  "a@b",
  `${"x".repeat(300)}@example.org`,
];
const URIS = [
  "https://shop.example/a?b#c",
  "/path",
  "x y",
  "https://shop.example/ü",
  `https://shop.example/${"p".repeat(3_000)}`,
];
const DATES = ["2026-01-31T12:00:00Z", "2026-02-30T12:00:00Z", "today"];

/**
 * @param {typeof import("../../pkg/validate.js")} rules
 * @param {{seed: number, count: number}} plan
 * @returns {{wrong: string[], inner: number, invalid: number}} what went wrong, and how much was tried
 */
export function nestedCalls(rules, { seed, count }) {
  const next = generator(seed);
  const below = (end) => Math.floor(next() * end);
  const one = (list) => list[below(list.length)];
  /** @type {ReturnType<typeof nestedCalls>} */
  const result = { wrong: [], inner: 0, invalid: 0 };
  const bytes = (value) => new TextEncoder().encode(JSON.stringify(value));
  const alone = (value) => JSON.stringify(rules.validateBytes(bytes(value)));

  const pledge = () => ({
    impact: { amount: below(4), offeringId: "tree" },
    detail: { name: "ä", image: one(URIS), externalUrl: one(URIS) },
  });
  const request = () => ({
    reference: "order",
    recipient: { email: one(EMAILS), firstName: "Ada" },
    pledges: Array.from({ length: 1 + below(4) }, pledge),
    trigger: { date: one(DATES), externalUrl: one(URIS) },
    notifications: Array.from({ length: below(5) }, () => one(["Email", "Pigeon"])),
    ...(next() < 0.2 ? { extra: 1 } : {}),
  });

  /** Validations to start: each returns its result, and the one that the value has alone. */
  const inner = [
    (value, expected) => [JSON.stringify(rules.validate(value)), expected],
    (value, expected) => [JSON.stringify(rules.validateBytes(bytes(value))), expected],
    (value, expected) => [
      JSON.stringify(rules.createPledgeTransactionSchema["~standard"].validate(value).issues ?? []),
      expected,
    ],
    () => [rules.validateAt("/recipient/email", "x").length, 1],
    () => [rules.validateBytes(new Uint8Array(60_000)).length, 1], // more memory
    (value, expected, depth) => [
      JSON.stringify(rules.validate(disturbing(value, depth + 1))),
      expected,
    ],
  ];

  function disturb(depth) {
    if (depth > 1 || next() < 0.8) return;
    const value = request();
    const [seen, expected] = one(inner)(value, alone(value), depth);
    result.inner += 1;
    if (seen !== expected)
      result.wrong.push(`inner, of ${JSON.stringify(value)}: ${seen} instead of ${expected}`);
  }

  /** The same value, but reading it starts validations. */
  function disturbing(value, depth) {
    if (typeof value !== "object") return value;
    const copy = Array.isArray(value) ? [] : {};
    /** Makes something that reads call `disturb` first. */
    const disturbed =
      (read) =>
      (...args) => {
        disturb(depth);
        return read(...args);
      };
    for (const name of Object.keys(value)) {
      const member = disturbing(value[name], depth);
      const get = disturbed(() => member);
      if (next() < 0.2) Object.defineProperty(copy, name, { get, enumerable: true });
      else copy[name] = member;
    }
    const kind = below(12);
    if (kind === 0) return new Proxy(copy, { get: disturbed(Reflect.get) });
    if (kind === 1) return { toJSON: disturbed(() => copy) };
    if (kind === 2) return new Proxy(copy, { ownKeys: disturbed(Reflect.ownKeys) });
    return copy;
  }

  for (let i = 0; i < count && result.wrong.length < 5; i += 1) {
    const value = request();
    const expected = alone(value);
    const seen = JSON.stringify(rules.validate(disturbing(value, 0)));
    if (expected !== "[]") result.invalid += 1;
    if (seen !== expected)
      result.wrong.push(`outer, of ${JSON.stringify(value)}: ${seen} instead of ${expected}`);
  }
  return result;
}
