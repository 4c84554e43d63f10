/** Validations in the middle of others. `FUZZ_SEED` and `NESTED_COUNT` choose others. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as rules from "../../pkg/validate.js";
import { nestedCalls } from "./nested.mjs";

const plan = {
  seed: Number(process.env.FUZZ_SEED ?? 20261121),
  count: Number(process.env.NESTED_COUNT ?? 1_500),
};

test(`${plan.count} values that ask for validations while they are read, seed ${plan.seed}`, () => {
  const { wrong, inner, invalid } = nestedCalls(rules, plan);
  assert.deepEqual(wrong, []);
  assert.ok(
    inner > plan.count && invalid > plan.count / 2,
    `${inner} inner ones, ${invalid} invalid: too few to prove anything`,
  );
});

test("a getter that validates leaves an address that came before it wrong", () => {
  const value = {
    reference: "r",
    recipient: { email: "not-an-email" },
    get pledges() {
      rules.validate({ recipient: { email: "a@b.c" } });
      rules.validateBytes(new Uint8Array(100_000));
      return [{ impact: { amount: 1, offeringId: "t" } }];
    },
  };
  Object.defineProperty(value.recipient, "name", {
    enumerable: true,
    get() {
      rules.validate({ recipient: { email: "ada@example.org" } });
      return "Ada";
    },
  });
  assert.deepEqual(
    rules.validate(value).map(({ code }) => code),
    ["invalid_email"],
  );
});
