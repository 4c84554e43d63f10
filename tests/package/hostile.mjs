/** Hostile requests of any size, and every way to the issues of a request. */
import {
  createPledgeTransactionSchema,
  validate,
  validateAt,
  validateBytes,
} from "../../pkg/validate.js";

export const encode = (value) => new TextEncoder().encode(JSON.stringify(value));
export const good = () => ({
  reference: "order-1",
  recipient: { email: "ada@example.org" },
  pledges: [{ impact: { amount: 1, offeringId: "tree" } }],
});
export const wrongPledges = (count) => ({
  ...good(),
  pledges: Array.from({ length: count }, () => 1),
});

/** Every way to the issues of a request. */
export const WAYS = {
  validate: (value, options) => validate(value, options),
  "validate, serialized": (value, options) => validate({ toJSON: () => value }, options),
  validateBytes: (value, options) => validateBytes(encode(value), options),
  "validateAt the request": (value, options) => validateAt("", value, options),
  schema: (value, options) =>
    createPledgeTransactionSchema["~standard"].validate(value, { libraryOptions: options })
      .issues ?? [],
};

/** Makes a request of so many parts, of all sorts that grow. */
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
    pledges: Array.from({ length: n }, () => ({
      impact: { amount: 1, offeringId: "t" },
      detail: { image: "x y", externalUrl: "" },
    })),
  }),
  notifications: (n) => ({ ...good(), notifications: Array(n).fill("Email") }),
  "wrong notifications": (n) => ({ ...good(), notifications: Array(n).fill("Pigeon") }),
  "lone surrogates": (n) => ({ ...good(), notifications: Array(n).fill("\ud800") }),
  "numbers with exponents": (n) => ({
    ...good(),
    pledges: Array(n).fill({ impact: { amount: 1e21, offeringId: "t" } }),
  }),
  "deep members": (n) => ({ ...good(), extra: Array(n / 10).fill([[[[[[[[[[]]]]]]]]]]) }),
  "a deep member": (n) => ({
    ...good(),
    extra: Array.from({ length: n }).reduce((inner) => ({ inner }), 0),
  }),
  "a text of escapes": (n) => ({
    ...good(),
    reference: "\n".repeat(n),
    recipient: { email: "\n".repeat(n) },
  }),
};

/**
 * Members that the contract has not.
 * @param {number} count
 * @param {(index: number) => string | number} [name]
 * @param {unknown} [value]
 */
function unknown(count, name = (i) => `extra${i}`, value = 1) {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [name(i), value]));
}
