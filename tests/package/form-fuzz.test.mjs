/**
 * Fuzzes `readForm` with unlikely names and values. It must never throw or change a prototype, and must
 * return the same issues as a check of its payload. `FC_SEED` and `FC_PATH` repeat a failed case. `FC_RUNS`
 * and `FC_MINUTES` run more cases.
 */
import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { REQUEST } from "../../pkg-templates/generated/fields.ts";
import { readForm } from "../../pkg/form.js";
import { validate } from "../../pkg/validate.js";

const { FC_SEED, FC_PATH, FC_RUNS = "400", FC_MINUTES } = process.env;
const seed = Number(FC_SEED ?? (FC_MINUTES ? Date.now() % 2 ** 31 : 20261122));
const settings = {
  seed,
  ...(FC_PATH && { path: FC_PATH }),
  ...(FC_MINUTES
    ? { numRuns: 1e9, interruptAfterTimeLimit: Number(FC_MINUTES) * 20_000 } // three properties
    : { numRuns: Number(FC_RUNS) }),
  markInterruptAsFailure: false,
};

/** Returns the paths of all values that a form can set. Paths into lists contain an index. */
function paths({ members = {}, item }, path) {
  const items = item ? ["0", "1", "12"].map((index) => [index, item]) : [];
  const inner = [...Object.entries(members), ...items].flatMap(([step, shape]) =>
    paths(shape, path ? `${path}.${step}` : step),
  );
  return path ? [path, ...inner] : inner;
}
const PATHS = paths(REQUEST, "");
const ODD = ["__proto__", "constructor", "prototype", "toString", "length", "", ".", "..", "shop"];
ODD.push("pledges.", "pledges.-1", "pledges.01", "pledges.1e3", "pledges.999999999");
ODD.push("pledges.9999999999", "pledges[0].impact.amount", "pledges.__proto__.impact");
ODD.push("pledges.0.__proto__.amount", "recipient.__proto__", "__proto__.email", "pledges.0.0");
ODD.push("recipient.constructor.prototype.email", "recipient.x", "recipient.", "pledges.x");
ODD.push("notifications.0.0", "reference.x", "\0", "\ud800", "é", "a\u0301");
const VALUES = [
  "",
  "0",
  "1",
  "-0",
  "007",
  "+1",
  ".5",
  "1e3",
  " 2e1 ",
  "1e999",
  " 1 ",
  "x",
  "Email",
];
VALUES.push("ada@example.org", "https://a.b", "2026-01-31", "2026-01-31T12:00", "__proto__");
VALUES.push("2026-01-31T12:00:00Z", "\ud800", "\0", '"\\\u0007é😀\u2028');

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

const namesOfPrototypes = () =>
  [Object.prototype, Array.prototype, String.prototype].map(Object.getOwnPropertyNames);

function holds(t, property) {
  const before = namesOfPrototypes();
  const details = fc.check(property, settings);
  t.diagnostic(`${details.numRuns} forms, seed ${seed}`);
  const again = `FC_SEED=${seed} FC_PATH=${details.counterexamplePath} node --test --test-name-pattern="${t.name}" tests/package/form-fuzz.test.mjs`;
  assert.ok(
    !details.failed,
    `${JSON.stringify(details.counterexample)}: ${details.errorInstance?.stack}\n${again}`,
  );
  assert.deepEqual(namesOfPrototypes(), before);
}

/**
 * The maximum number of issues about missing required members of the request and its pledges. These issues
 * belong to no control of the form. Each control adds at most four further issues.
 */
const REQUESTED = 30;

test("any names and values are read, with the issues of the payload, and no prototype is changed", (t) => {
  const all = fc.array(control, { maxLength: 30 });
  const property = fc.property(all, fc.boolean(), (controls, optional) => {
    const { payload, valid, issues } = readForm(controls, { optional });
    assert.equal(valid, issues.length === 0);
    assert.ok(issues.length <= 4 * (controls.length + REQUESTED), `${issues.length} issues`);
    const names = new Set([null, ...controls.map(([name]) => name)]);
    for (const issue of issues)
      assert.ok(names.has(issue.name) && issue.message.length > 0, JSON.stringify(issue));
    if (payload === null) return assert.ok(optional && valid);
    if (issues.some(({ code }) => code === "duplicate_member")) return; // no object has a member twice
    const codes = (all) =>
      [...new Set(all.map(({ code, pointer }) => `${code} ${pointer}`))].sort();
    assert.deepEqual(codes(issues), codes(validate(payload)));
  });
  holds(t, property);
});

const digits = fc.stringMatching(/^\d{1,9}$/);
const decimal = fc
  .tuple(
    fc.constantFrom("", "+", "-"),
    fc.oneof(
      digits,
      fc.tuple(fc.option(digits, { nil: "" }), digits).map((two) => two.join(".")),
    ),
    fc.constantFrom("", "e", "e+", "e-", "E-"),
    fc.nat(99),
  )
  .map(([sign, number, e, exponent]) => sign + number + (e && e + exponent));

test("any decimal is read as the number that JavaScript reads", (t) => {
  const property = fc.property(decimal, (text) => {
    const { pledges } = readForm([["pledges.0.impact.amount", text]]).payload;
    assert.equal(pledges[0].impact.amount, Number(text));
  });
  holds(t, property);
});

const ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"].concat(
  "Pacific/Apia",
  "America/Sao_Paulo",
);

test("any local time is read as JavaScript's Date reads it in that zone", (t) => {
  const minute = fc.date({
    min: new Date("1990-01-01"),
    max: new Date("2040-01-01"),
    noInvalidDate: true,
  });
  const local = fc.tuple(minute, fc.constantFrom(...ZONES));
  const { TZ } = process.env;
  t.after(() => {
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
  });
  const property = fc.property(local, ([at, timeZone]) => {
    process.env.TZ = timeZone;
    const text = at.toISOString().slice(0, 16);
    const { date } = readForm([["trigger.date", text]], { timeZone }).payload.trigger;
    assert.match(date, /[+-]\d\d:\d\d$/);
    assert.equal(Date.parse(date), new Date(text).getTime(), date);
  });
  holds(t, property);
});
