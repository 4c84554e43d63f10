/**
 * Names and values of forms that are unlikely to be written: `readForm` gives what a simple model gives, throws nothing and changes no
 * prototype. `FC_SEED` and `FC_PATH` play a failure again, `FC_RUNS` and `FC_MINUTES` play more.
 */
import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { REQUEST } from "../../pkg-templates/generated/fields.ts";
import { readForm } from "../../pkg/form.js";
import { validate } from "../../pkg/validate.js";

const { FC_SEED, FC_PATH, FC_RUNS = "1000", FC_MINUTES } = process.env;
const seed = Number(FC_SEED ?? (FC_MINUTES ? Date.now() % 2 ** 31 : 20261122));
const longer = FC_MINUTES
  ? { numRuns: 1e9, interruptAfterTimeLimit: Number(FC_MINUTES) * 30_000 }
  : { numRuns: Number(FC_RUNS) }; // two properties
const settings = {
  seed,
  ...(FC_PATH && { path: FC_PATH }),
  ...longer,
  markInterruptAsFailure: false,
};

/** The paths of all values that a form can fill in, with indexes. */
function paths({ members, item }, path) {
  const inner = [
    ...Object.entries(members ?? {}),
    ...(item
      ? [
          ["0", item],
          ["1", item],
          ["12", item],
        ]
      : []),
  ];
  return [
    ...(path ? [path] : []),
    ...inner.flatMap(([step, shape]) => paths(shape, path ? `${path}.${step}` : step)),
  ];
}
const PATHS = paths(REQUEST, "");
const ODD = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "length",
  "",
  ".",
  "..",
  "pledges.",
  "pledges.-1",
  "pledges.01",
  "pledges.1e3",
  "pledges.999999999",
  "pledges.9999999999",
  "pledges[0].impact.amount",
  "pledges[__proto__].x",
  "pledges.__proto__.impact",
  "pledges.0.__proto__.amount",
  "recipient.__proto__",
  "__proto__.email",
  "recipient.constructor.prototype.email",
  "notifications.0.0",
  "reference.x",
  "\0",
  "\ud800",
  "é",
  "a\u0301",
];
const VALUES = [
  "",
  "0",
  "1",
  "-0",
  "007",
  "+1",
  ".5",
  "1e3",
  "1e999",
  " 1 ",
  "x",
  "Email",
  "ada@example.org",
  "https://a.b",
  "2026-01-31",
  "2026-01-31T12:00",
  "2026-01-31T12:00:00Z",
  "__proto__",
  "\ud800",
  "\0",
  '"\\\u2028',
];

const step = fc.oneof(
  fc.constantFrom(...PATHS.flatMap((path) => path.split(".")), ...ODD),
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.nat().map(String),
);
const name = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...PATHS) },
  { weight: 2, arbitrary: fc.constantFrom(...ODD) },
  { weight: 2, arbitrary: fc.array(step, { maxLength: 7 }).map((steps) => steps.join(".")) },
  fc.string({ unit: "binary", maxLength: 2_000 }),
);
const value = fc.oneof(fc.constantFrom(...VALUES), fc.string({ unit: "binary", maxLength: 200 }));
const control = fc.tuple(name, value);

/** Plays a property, and leaves every prototype as it was. */
function holds(t, property) {
  const before = [Object.prototype, Array.prototype, String.prototype].map(
    Object.getOwnPropertyNames,
  );
  const details = fc.check(property, settings);
  t.diagnostic(`${details.numRuns} forms, seed ${seed}`);
  const again = `FC_SEED=${seed} FC_PATH=${details.counterexamplePath} node --test --test-name-pattern="${t.name}" tests/package/form-fuzz.test.mjs`;
  assert.ok(
    !details.failed,
    `${JSON.stringify(details.counterexample)}: ${details.errorInstance?.stack}\n${again}`,
  );
  assert.deepEqual(
    [Object.prototype, Array.prototype, String.prototype].map(Object.getOwnPropertyNames),
    before,
  );
}

test("any names and values: a reading, its issues those of its payload, and no prototype changed", (t) => {
  holds(
    t,
    fc.property(fc.array(control, { maxLength: 30 }), fc.boolean(), (controls, optional) => {
      const { payload, valid, issues } = readForm(controls, { optional });
      assert.equal(valid, issues.length === 0);
      assert.ok(
        issues.length <= controls.length + 4 * REQUESTED,
        `${issues.length} issues of ${controls.length} controls`,
      );
      const names = new Set([null, ...controls.map(([name]) => name)]);
      for (const issue of issues)
        assert.ok(names.has(issue.name) && issue.message.length > 0, JSON.stringify(issue));
      if (payload === null) return assert.ok(optional && valid);
      if (issues.some(({ code }) => code === "duplicate_member")) return; // no object has a member twice
      const codes = (all) =>
        [...new Set(all.map(({ code, pointer }) => `${code} ${pointer}`))].sort();
      assert.deepEqual(codes(issues), codes(validate(payload)));
    }),
  );
});

/**
 * Required members of a request and of a pledge: what issues there may be beyond one for each
 * control.
 */
const REQUESTED = 30;

test("each field filled in once: the payload is that of a model", (t) => {
  const fields = PATHS.filter((path) => isField(path));
  const filled = fc.uniqueArray(
    fc.tuple(
      fc.constantFrom(...fields),
      fc.constantFrom(...VALUES.filter((value) => !/\d/.test(value))),
    ),
    { selector: ([path]) => path, maxLength: 20 },
  );
  holds(
    t,
    fc.property(filled, (controls) => {
      const { payload } = readForm(controls);
      assert.deepEqual(payload, model(controls));
    }),
  );
});

const shapeAt = (path) =>
  path.split(".").reduce((shape, step) => shape.item ?? shape.members[step], REQUEST);
const isField = (path) => !shapeAt(path).members && !shapeAt(path).item;

/**
 * A form as an object: empty texts are absent unless they are required in something that is there,
 * and items move up.
 */
function model(controls) {
  const build = (shape, prefix) => {
    const own = controls.filter(
      ([path]) => path === prefix || path.startsWith(`${prefix}.`) || prefix === "",
    );
    if (shape.item) {
      const indexes = [
        ...new Set(own.map(([path]) => path.slice(prefix.length + 1).split(".")[0])),
      ].sort((a, b) => a - b);
      const isFilled = (index) =>
        own.some(
          ([path, value]) =>
            value !== "" &&
            (path === `${prefix}.${index}` || path.startsWith(`${prefix}.${index}.`)),
        );
      return indexes.filter(isFilled).map((index) => build(shape.item, `${prefix}.${index}`));
    }
    if (!shape.members) return own[0][1].replaceAll(/[\0\ud800-\udfff]/gu, "\ufffd");
    const members = Object.entries(shape.members).flatMap(([name, inner]) => {
      const path = prefix ? `${prefix}.${name}` : name;
      const inside = controls.filter(([own]) => own === path || own.startsWith(`${path}.`));
      const isThere =
        inner.item || inner.members
          ? inside.some(([, value]) => value !== "") || (inner.isRequired && inside.length > 0)
          : inside.some(([, value]) => value !== "");
      return isThere ? [[name, build(inner, path)]] : [];
    });
    return Object.fromEntries(members);
  };
  return build(REQUEST, "");
}

test("many controls and long names take time that is linear", () => {
  const deep = "a.".repeat(500_000);
  const many = Array.from({ length: 100_000 }, (_, index) => [
    `pledges.${index}.impact.offeringId`,
    "t",
  ]);
  for (const controls of [
    [[deep, "x"]],
    [[`pledges.${"9".repeat(1_000_000)}`, "x"]],
    many,
    Array.from({ length: 100_000 }, () => ["reference", "r"]),
    Array.from({ length: 100_000 }, (_, index) => [`pledges.x${index}`, "x"]),
  ]) {
    const { valid, issues } = readForm(controls); // a quadratic reading would take hours
    assert.equal(valid, false);
    assert.ok(issues.length <= 1_001);
  }
});
