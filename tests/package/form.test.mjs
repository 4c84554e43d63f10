/**
 * Tests the installed `impact-pledge/form`: every row of tests/fixtures/form, how a server reads a form, and forms
 * of any size.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { join } from "node:path";
import test from "node:test";
import { Worker } from "node:worker_threads";
import { packed } from "./packed.mjs";
import { fixturesIn } from "../support/fixtures.mjs";

const project = await packed();
const { fieldAttributes, readForm } = await project.load("impact-pledge/form");
const files = fixturesIn("form");
const rows = files.flatMap(({ rows }) => rows ?? []);
const amounts = files.flatMap(({ amounts }) => amounts ?? []);
const dates = files.flatMap(({ dates }) => dates ?? []);

for (const { name, optional, controls, json, payload = JSON.parse(json), problems } of rows) {
  test(`rows: ${name}`, () => {
    const found = readForm(controls, { optional });
    assert.deepEqual(found.payload, payload);
    if (json)
      assert.equal(
        JSON.stringify(found.payload),
        JSON.stringify(JSON.parse(json)),
        "members are in order",
      );
    assert.equal(found.valid, problems.length === 0);
    const named = problems.map(([control, pointer, code]) => ({
      name: control === null ? null : controls[control][0],
      pointer,
      code,
    }));
    assert.deepEqual(
      found.issues.map(({ name, pointer, code }) => ({ name, pointer, code })),
      named,
    );
  });
}

test("amounts as people type them", () => {
  assert.ok(amounts.length > 30);
  for (const [typed, json] of amounts) {
    const { payload } = readForm([["pledges.0.impact.amount", typed]]);
    assert.deepEqual(payload, { pledges: [{ impact: { amount: JSON.parse(json) } }] }, typed);
  }
});

test("dates and local times in a time zone", () => {
  assert.ok(dates.length > 50);
  for (const [typed, timeZone, expected] of dates) {
    const { payload, issues } = readForm([["trigger.date", typed]], { timeZone });
    assert.equal(payload.trigger.date, expected ?? typed, `${typed} ${timeZone}`);
    const isRefused = issues.some(
      ({ code, name }) => code === "invalid_date_time" && name === "trigger.date",
    );
    assert.equal(isRefused, expected === null, `${typed} ${timeZone}`);
  }
});

test("without a time zone a server reads local times as UTC, wherever it runs", () => {
  const zone = process.env.TZ;
  process.env.TZ = "Asia/Tokyo";
  try {
    assert.equal(new Date(2026, 0, 31).getTimezoneOffset(), -540);
    assert.equal(
      readForm([["trigger.date", "2026-01-31T12:00"]]).payload.trigger.date,
      "2026-01-31T12:00:00Z",
    );
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
});

test("options with wrong names or types are errors that name the option", () => {
  const wrong = [
    [
      { hidden: () => true },
      "`hidden` is not an option here; the options are `messages`, `maxIssues`, `optional`, `timeZone`",
    ],
    [{ messages: "x" }, "`messages` must be a function or object"],
    [{ messages: null }, "`messages` must be a function or object"],
    [{ optional: "yes" }, "`optional` must be a boolean"],
    [{ maxIssues: 0, optional: true }, "`maxIssues` must be a whole number greater than 0"],
    [{ timeZone: "Europe/Nowhere" }, "`timeZone` must be a time zone such as `Europe/Berlin`"],
    [{ timeZone: 1 }, "`timeZone` must be a time zone such as `Europe/Berlin`"],
    [
      "UTC",
      "`0` is not an option here; the options are `messages`, `maxIssues`, `optional`, `timeZone`",
    ],
  ];
  for (const [options, message] of wrong)
    assert.throws(() => readForm([], options), { name: "TypeError", message });
  assert.throws(() => readForm([], null), TypeError);
  readForm([], {
    maxIssues: undefined,
    optional: undefined,
    timeZone: undefined,
  });
});

test("texts are for shoppers, in English or in the shop's own", async () => {
  const { de } = await project.load("impact-pledge/locales/de");
  const posted = [
    ["recipient.email", "ada@"],
    ["pledges.0.impact.amount", "x"],
  ];
  const texts = (messages) => readForm(posted, { messages }).issues.map(({ message }) => message);
  const [required, email, number] = [
    "Fill in this field",
    "Enter an e-mail address such as ada@example.org",
    "Enter a number",
  ];
  for (const none of [undefined, () => false, { required: 5 }])
    assert.deepEqual(texts(none), [required, email, number, required]);
  assert.equal(texts(de)[2], "Geben Sie eine Zahl ein");
  const placed = texts({ required: ({ name, pointer }) => `${name} ${pointer}` });
  assert.deepEqual(placed.slice(1), [email, number, "null /pledges/0/impact/offeringId"]);
  const own = texts(({ code }) => (code === "required" ? "fehlt" : undefined));
  assert.deepEqual(own, ["fehlt", email, number, "fehlt"]);
});

test("every field of the request has attributes, and nothing else has", () => {
  const text = (name) => ({ name, type: "text" }),
    url = (name) => ({ name, type: "url" });
  const amount = {
    name: "pledges.7.impact.amount",
    type: "number",
    min: "0",
    step: "any",
    inputmode: "decimal",
  };
  const expected = [
    { ...text("reference"), required: true },
    { name: "recipient.email", type: "email", autocomplete: "email", required: true },
    { ...text("recipient.firstName"), autocomplete: "given-name" },
    { ...text("recipient.name"), autocomplete: "name" },
    { ...amount, required: true },
    { ...text("pledges.7.impact.offeringId"), required: true },
    ...["name", "description", "nounSingular", "nounPlural", "externalId"].map((name) =>
      text(`pledges.0.detail.${name}`),
    ),
    ...["image", "externalUrl"].map((name) => url(`pledges.0.detail.${name}`)),
    { name: "trigger.date", type: "datetime-local", step: "any" },
    text("trigger.phrase"),
    url("trigger.externalUrl"),
    { name: "notifications", type: "checkbox" },
    { name: "notifications.0", type: "checkbox" },
  ];
  for (const attributes of expected) assert.deepEqual(fieldAttributes(attributes.name), attributes);
  assert.deepEqual(fieldAttributes(amount.name, { optional: true }), amount);
  assert.deepEqual(
    fieldAttributes("pledges.0.impact.offeringId", { optional: true }),
    text("pledges.0.impact.offeringId"),
  );
  assert.equal(fieldAttributes("recipient.email", { optional: true }).required, true);
  assert.deepEqual(fieldAttributes("recipient.email", { jsx: true }), {
    name: "recipient.email",
    type: "email",
    autoComplete: "email",
    required: true,
  });
  assert.equal(fieldAttributes(amount.name, { jsx: true }).inputMode, "decimal");
  for (const path of [
    "",
    "email",
    "recipient",
    "pledges",
    "pledges.0",
    "pledges.0.impact",
    "pledges.01.impact.amount",
    "pledges.x.impact.amount",
    "recipient.emial",
    "recipient.email.x",
    "__proto__",
    "recipient.constructor",
    `a${".a".repeat(100_000)}`,
    7,
    null,
  ]) {
    assert.throws(() => fieldAttributes(path), {
      name: "TypeError",
      message: `\`${path}\` is not a field of the request`,
    });
  }
  assert.throws(() => fieldAttributes("reference", { JSX: true }), {
    name: "TypeError",
    message: "`JSX` is not an option here; the options are `optional`, `jsx`",
  });
});

test("posted data is read from FormData and URLSearchParams, and files are passed over", () => {
  const data = new FormData();
  data.append("recipient.email", "ada@");
  data.append("notifications", "Email");
  data.append("notifications", new Blob(["x"]), "x.txt");
  for (const posted of [data, new URLSearchParams("recipient.email=ada%40&notifications=Email")]) {
    const { payload, issues } = readForm(posted);
    assert.deepEqual(payload, { recipient: { email: "ada@" }, notifications: ["Email"] });
    assert.deepEqual(
      issues.map(({ path, code, name, message }) => [path, code, name, message])[1],
      [
        ["recipient", "email"],
        "invalid_email",
        "recipient.email",
        "Enter an e-mail address such as ada@example.org",
      ],
    );
  }
});

test("NUL and halves of surrogate pairs, which no browser sends, are replaced", () => {
  const { payload } = readForm([
    ["reference", "a\0recipient.email\0b"],
    ["recipient.name", "\ud800😀\udc00"],
    ["trigger.\ud800", "x"],
  ]);
  assert.deepEqual(payload, {
    reference: "a\uFFFDrecipient.email\uFFFDb",
    recipient: { name: "\uFFFD😀\uFFFD" },
    "trigger.\uFFFD": "x",
  });
});

test("items are sorted by their indexes, whatever the order of the fields", () => {
  const shuffled = Array.from({ length: 300 }, (_, n) => (n * 7_919) % 300);
  const { payload } = readForm(shuffled.map((n) => [`pledges.${n * 31}.impact.amount`, `${n}`]));
  assert.deepEqual(
    payload.pledges.map(({ impact }) => impact.amount),
    [...shuffled].sort((a, b) => a - b),
  );
});

test("an e-mail address of any length is checked completely", () => {
  for (const length of [65_000, 66_000, 200_000, 9_000_000])
    for (const [end, codes] of [
      ["", []],
      [" x", ["invalid_uri"]],
    ]) {
      const url = `data:image/png;base64,${"A".repeat(length)}${end}`;
      const { issues } = readForm([["trigger.externalUrl", url]], { maxIssues: 9 });
      assert.deepEqual(
        issues.map(({ code }) => code).filter((code) => code !== "required"),
        codes,
        `${length}`,
      );
    }
});

test("CommonJS has the same exports", () => {
  const { readForm, bindForm } = project.require("impact-pledge/form");
  assert.deepEqual(readForm([["reference", "r"]]).payload, { reference: "r" });
  for (const none of [null, undefined, "form", {}]) {
    const message = `\`bindForm\` takes a form element, not ${none}: is it in the page yet?`;
    assert.throws(() => bindForm(none), { name: "TypeError", message });
  }
});

// ---- Hostile forms: quadratic work would take many minutes, linear work takes seconds --------------

/**
 * The maximum processor time of this process. Unlike the elapsed time, it does not depend on other programs.
 */
const LIMIT_MICROSECONDS = 120_000_000;
const MANY = Number(process.env.HOSTILE_COUNT ?? 60_000);
const many = (field) => Array.from({ length: MANY }, (_, n) => field(n));
const zeros = "0".repeat(MANY),
  ones = "1".repeat(MANY),
  spaces = " ".repeat(MANY);
const amount = (n, text = "x") => [`pledges.${n}.impact.amount`, text];
const almostNumbers = [`${zeros}x`, `${spaces}x`, `${ones}e`, `1${spaces}x`, `.${zeros}.`];
const longNames = [`recipient${".a".repeat(MANY)}`, `pledges${".0".repeat(MANY)}`];
longNames.push(`pledges.${ones}`, "pledges.4294967295.impact.amount");

/** Hostile forms by name: the fields, the number of issues, and the number of issues that belong to a field. */
const HOSTILE = {
  "one name": [many(() => ["reference", "r"]), MANY + 1, MANY - 1],
  "one misspelt name": [many(() => ["recipient.x", "r"]), MANY + 3, MANY],
  "misspelt names": [many((n) => [`recipient.x${n}`, "r"]), MANY + 3, MANY],
  "boxes of one group": [many((n) => ["notifications", `${n}`]), MANY + 4, MANY + 1],
  "indexes far apart, the last first": [
    many((n) => amount(999_999_999 - n * 4_999)),
    2 * MANY + 2,
    MANY,
  ],
  dates: [many(() => ["trigger.date", "2026-03-29T02:30"]), MANY + 2, MANY - 1],
  "texts that are almost dates": [
    many((n) => ["trigger.date", n ? "2026-02-30T12:00:00.12" : `2026-01-31T12:00:00.${ones}`]),
    MANY + 3,
    MANY,
  ],
  "items that are left out": [many((n) => amount(n, "")), 3, 1],
  "long names, and indexes that are too large": [longNames.map((name) => [name, "x"]), 7, 4],
  "long texts that are almost numbers": [almostNumbers.map((text, n) => amount(n, text)), 12, 5],
};

for (const [name, [fields, issues, owned]] of Object.entries(HOSTILE)) {
  test(`${MANY} of ${name}`, async () => {
    assert.deepEqual(await counted(fields), { issues, owned });
  });
}

/** Reads a form in a thread, so that a reading that takes too long can be stopped. */
async function counted(fields) {
  const form = join(project.folder, "node_modules", "impact-pledge", "form.cjs");
  const worker = new Worker(COUNT, { eval: true, workerData: { form, fields } });
  const began = process.cpuUsage();
  const limit = setInterval(() => {
    if (process.cpuUsage(began).user > LIMIT_MICROSECONDS) worker.terminate();
  }, 1_000);
  const ended = once(worker, "exit").then(() => ["more than two minutes"]);
  const [result] = await Promise.race([once(worker, "message"), ended]);
  clearInterval(limit);
  await worker.terminate();
  return result;
}

const COUNT = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { issues } = require(workerData.form).readForm(workerData.fields, { maxIssues: 1_000_000 });
  parentPort.postMessage({ issues: issues.length, owned: issues.filter(({ name }) => name !== null).length });
`;
