/**
 * Generates hostile requests of every kind and size. When run as a script, it prints the number of issues that
 * each function of the package finds. At the end, it prints the CPU time that this took.
 */
import { pathToFileURL } from "node:url";
import { validate, validateBytes } from "../../pkg/validate.js";

export const encode = (value) => new TextEncoder().encode(JSON.stringify(value));
export const good = () => ({
  reference: "order-1",
  recipient: { email: "ada@example.org" },
  pledges: [{ impact: { amount: 1, offeringId: "tree" } }],
});
export const wrongPledges = (count) => ({ ...good(), pledges: Array(count).fill(1) });

/**
 * Returns members that the contract does not know.
 * @param {number} count
 * @param {(index: number) => string | number} [name]
 * @param {unknown} [value]
 */
export const unknown = (count, name = (i) => `extra${i}`, value = 1) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [name(i), value]));
const detail = { image: "x y", externalUrl: "" };

/**
 * Functions by description. Each function makes a hostile request of the size `n`, for example one with `n`
 * unknown members.
 */
export const HOSTILE = {
  "unknown members": (n) => ({ ...good(), ...unknown(n) }),
  "unknown members of a pledge": (n) => ({ ...good(), pledges: [unknown(n)] }),
  "unknown members in several objects": (n) => ({
    ...good(),
    recipient: unknown(n / 2),
    trigger: unknown(n / 2),
  }),
  "unknown members that are indices": (n) => ({ ...good(), ...unknown(n, (i) => i) }),
  "names that a pointer escapes": (n) => ({ ...good(), ...unknown(n, (i) => `~/${i}`) }),
  "a long name": (n) => ({ ...good(), ["~/ü".repeat(n)]: 1 }),
  "unknown members and an umlaut": (n) => ({ ...good(), recipient: { email: "ü" }, ...unknown(n) }),
  "unknown members that are objects": (n) => ({ ...good(), ...unknown(n, undefined, {}) }),
  "wrong pledges": (n) => wrongPledges(n),
  "empty pledges": (n) => ({ ...good(), pledges: Array.from({ length: n }, () => ({})) }),
  "wrong pledges behind a wrong address": (n) => ({
    ...wrongPledges(n),
    recipient: { email: "x" },
  }),
  "texts without their formats": (n) => ({
    ...good(),
    pledges: Array.from({ length: n }, () => ({ impact: { amount: 1, offeringId: "t" }, detail })),
  }),
  notifications: (n) => ({ ...good(), notifications: Array(n).fill("Email") }),
  "wrong notifications": (n) => ({ ...good(), notifications: Array(n).fill("Pigeon") }),
  "lone surrogates": (n) => ({ ...good(), notifications: Array(n).fill("\ud800") }),
  "numbers with exponents": (n) => ({
    ...good(),
    pledges: Array(n).fill({ impact: { amount: 1e21, offeringId: "t" } }),
  }),
  "deep members": (n) => ({ ...good(), extra: Array(n / 10).fill([[[[[[[[[[]]]]]]]]]]) }),
  "a text of escapes": (n) => ({
    ...good(),
    reference: "\n".repeat(n),
    recipient: { email: "\n".repeat(n) },
  }),
  // Too deep for JSON.stringify: never checked as bytes.
  "a deep member": (n) => ({
    ...good(),
    extra: Array.from({ length: n }).reduce((inner) => ({ inner }), 0),
  }),
};

function main(count) {
  for (const [name, make] of Object.entries(HOSTILE)) {
    const value = make(count);
    const seen = [validate(value), validate({ toJSON: () => value })];
    if (name !== "a deep member") seen.push(validateBytes(encode(value)));
    console.log(JSON.stringify([name, seen.map(({ length }) => length)]));
  }
  const problems = new TextEncoder().encode(`{"pledges":[${"0,".repeat(count * 20)}0]}`);
  console.log(JSON.stringify(["problems in JSON", [validateBytes(problems).at(-1)?.count]]));
  console.log(JSON.stringify(["CPU time in ms", [process.cpuUsage().user / 1_000]]));
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) main(Number(process.argv[2]));
