/** `impact-pledge/form` as installed: every row, its size, and what a server reads with it. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { brotliCompressSync } from "node:zlib";
import { build } from "esbuild";
import { packed } from "./packed.mjs";
import { fixturesIn } from "../support/fixtures.mjs";

const project = await packed();
const { fieldAttributes, readForm } = await project.load("impact-pledge/form");
const { validate } = await project.load("impact-pledge/validate");
const files = fixturesIn("form");
const rows = files.flatMap(({ rows }) => rows ?? []);
const amounts = files.flatMap(({ amounts }) => amounts ?? []);
const dates = files.flatMap(({ dates }) => dates ?? []);

for (const { name, optional, controls, json, payload = JSON.parse(json), problems } of rows) {
  test(`rows: ${name}`, () => {
    const unseen = new Set(controls.filter(([, , hidden]) => hidden).map(([name]) => name));
    const found = readForm(controls, { optional, hidden: (name) => unseen.has(name) });
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

test("without a time zone a server's local times are UTC, wherever it runs", () => {
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

test("any local time is the one that JavaScript's Date reads in that zone", () => {
  const below = random(12);
  const two = (number) => `${number}`.padStart(2, "0");
  const zone = process.env.TZ;
  try {
    for (const timeZone of [
      "Europe/Berlin",
      "America/New_York",
      "Australia/Lord_Howe",
      "Asia/Kolkata",
      "Pacific/Apia",
      "America/Sao_Paulo",
    ]) {
      process.env.TZ = timeZone;
      for (let run = 0; run < 2_000; run += 1) {
        const text = `${1990 + below(50)}-${two(1 + below(12))}-${two(1 + below(28))}T${two(below(24))}:${two(below(60))}`;
        const { date } = readForm([["trigger.date", text]], { timeZone }).payload.trigger;
        assert.match(date, /[+-]\d\d:\d\d$/);
        assert.equal(Date.parse(date), new Date(text).getTime(), `${text} ${timeZone} ${date}`);
      }
    }
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
});

test("options of other names and types are errors that name the option", () => {
  const wrong = [
    [
      { hiden: () => true },
      "`hiden` is not an option here; the options are `hidden`, `messages`, `maxIssues`, `optional`, `timeZone`",
    ],
    [{ hidden: "x" }, "`hidden` must be a function"],
    [{ hidden: null }, "`hidden` must be a function"],
    [{ optional: "yes" }, "`optional` must be a boolean"],
    [{ maxIssues: 0, optional: true }, "`maxIssues` must be a whole number greater than 0"],
    [{ timeZone: "Europe/Nowhere" }, "`timeZone` must be a time zone such as `Europe/Berlin`"],
    [{ timeZone: 1 }, "`timeZone` must be a time zone such as `Europe/Berlin`"],
    [
      "UTC",
      "`0` is not an option here; the options are `hidden`, `messages`, `maxIssues`, `optional`, `timeZone`",
    ],
  ];
  for (const [options, message] of wrong)
    assert.throws(() => readForm([], options), { name: "TypeError", message });
  assert.throws(() => readForm([], null), TypeError);
  readForm([], {
    hidden: undefined,
    maxIssues: undefined,
    optional: undefined,
    timeZone: undefined,
  });
});

test("texts are for shoppers, in English or in the shop's own", async () => {
  const { de } = await project.load("impact-pledge/locales/de");
  const { en } = await project.load("impact-pledge/locales/en");
  const posted = [
    ["recipient.email", "ada@"],
    ["pledges.0.impact.amount", "x"],
    ["recipient.emial", "x"],
  ];
  const texts = (messages) => readForm(posted, { messages }).issues.map(({ message }) => message);
  const english = [
    "Fill in this field",
    "Enter an e-mail address such as ada@example.org",
    "Enter a number",
    "Fill in this field",
    "This field is not used here",
  ];
  assert.deepEqual(texts(undefined), english);
  assert.deepEqual(texts(en), english);
  assert.deepEqual(texts(de), [
    "Bitte füllen Sie dieses Feld aus",
    "Geben Sie eine E-Mail-Adresse wie ada@example.org ein",
    "Geben Sie eine Zahl ein",
    "Bitte füllen Sie dieses Feld aus",
    "Dieses Feld ist hier nicht vorgesehen",
  ]);
  assert.deepEqual(
    texts({ required: ({ name, pointer }) => `${name} ${pointer}` })[3],
    "null /pledges/0/impact/offeringId",
  );
  assert.deepEqual(
    texts(({ code }) => (code === "required" ? "fehlt" : undefined)),
    ["fehlt", ...english.slice(1, 3), "fehlt", english[4]],
  );
});

test("attributes of every field of the request, and of nothing else", () => {
  const text = (name) => ({ name, type: "text" }),
    url = (name) => ({ name, type: "url" });
  const amount = {
    name: "pledges.7.impact.amount",
    type: "number",
    min: "5e-324",
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
  assert.deepEqual(fieldAttributes(amount.name, { optional: true }), { ...amount, min: "0" });
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

test("a form of 100,000 fields is read, and the next one after it", () => {
  const many = Array.from({ length: 50_000 }, (_, index) => [
    [`pledges.${index}.impact.amount`, "x"],
    ["notifications", `${index}`],
  ]).flat();
  const { payload, issues } = readForm(many, { maxIssues: 1_000_000 });
  assert.equal(payload.pledges.length, 50_000);
  assert.equal(issues.length, 150_003);
  assert.deepEqual(readForm([["reference", "r"]]).payload, { reference: "r" });
});

// ---- Generated forms ----

const NAMES =
  "reference recipient recipient.email recipient.x pledges pledges.0 pledges.1.impact pledges.0.impact.amount pledges.1.impact.amount pledges.2.impact.offeringId pledges.0.detail.image pledges.x pledges.0.0 trigger.date notifications notifications.0 notifications.0.0 shop . recipient.".split(
    " ",
  );
const VALUES = [
  "",
  "",
  "1",
  "x",
  "a@example.org",
  "Email",
  '"\\\u0007é😀',
  "https://example.org/",
  " 2e1 ",
];

/** A linear congruential generator: the same numbers at every run. */
function random(seed) {
  let state = seed;
  return (end) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return (state % 65_521) % end;
  };
}

test("a payload without duplicates has the issues that `validate` finds, each with a field of the form or none", () => {
  const below = random(20_261_121);
  let compared = 0;
  for (let run = 0; run < 20_000; run += 1) {
    const fields = Array.from({ length: below(20) }, () => [
      NAMES[below(NAMES.length)],
      VALUES[below(VALUES.length)],
    ]);
    const { payload, issues } = readForm(fields, { hidden: (name) => name.length % 3 === run % 3 });
    for (const { name, code } of issues) {
      assert.ok(name === null || fields.some(([other]) => other === name), JSON.stringify(fields));
      assert.notEqual(code, "malformed_json");
    }
    const short = issues.map(({ pointer, code }) => `${pointer} ${code}`);
    if (
      issues.some(({ code }) => code === "duplicate_member") ||
      new Set(short).size < short.length
    )
      continue;
    assert.deepEqual(
      short,
      validate(payload).map(({ pointer, code }) => `${pointer} ${code}`),
      JSON.stringify(fields),
    );
    compared += 1;
  }
  assert.ok(compared > 5_000, `${compared}`);
});

test("any decimal is the number that JavaScript reads", () => {
  const below = random(7);
  const digits = (least) => Array.from({ length: least + below(9) }, () => below(10)).join("");
  const sign = () => ["", "+", "-"][below(3)];
  for (let run = 0; run < 5_000; run += 1) {
    const text =
      sign() +
      [digits(1), `${digits(1)}.${digits(1)}`, `.${digits(1)}`][below(3)] +
      ["", `e${sign()}${below(99)}`][below(2)];
    assert.equal(
      readForm([["pledges.0.impact.amount", text]]).payload.pledges[0].impact.amount,
      Number(text),
      text,
    );
  }
});

test("items go by their indexes, whatever the order of the fields", () => {
  const shuffled = Array.from({ length: 300 }, (_, n) => (n * 7_919) % 300);
  const { payload } = readForm(shuffled.map((n) => [`pledges.${n * 31}.impact.amount`, `${n}`]));
  assert.deepEqual(
    payload.pledges.map(({ impact }) => impact.amount),
    [...shuffled].sort((a, b) => a - b),
  );
});

// ---- Hostile forms: quadratic work would take most of an hour, linear work takes seconds ----

const LIMIT_MS = 120_000;
const FIELDS = 200_000;
const many = (field) => Array.from({ length: FIELDS }, (_, n) => field(n));
/** The amounts of one item each. */
const amountsOf = (texts) => texts.map((text, n) => [`pledges.${n}.impact.amount`, text]);

/** By name: the fields, how many issues they have, and how many of these belong to a field. */
const HOSTILE = {
  "200,000 times one name": [() => many(() => ["reference", "r"]), 200_001, 199_999],
  "200,000 times one misspelt name": [() => many(() => ["recipient.x", "r"]), 200_003, 200_000],
  "200,000 misspelt names": [() => many((n) => [`recipient.x${n}`, "r"]), 200_003, 200_000],
  "200,000 boxes of one group": [() => many((n) => ["notifications", `${n}`]), 200_004, 200_001],
  "200,000 items with indexes far apart, the last first": [
    () => many((n) => [`pledges.${999_999_999 - n * 4_999}.impact.amount`, "x"]),
    400_002,
    200_000,
  ],
  "200,000 dates": [() => many(() => ["trigger.date", "2026-03-29T02:30"]), 200_002, 199_999],
  "200,000 texts that are almost dates, and one that is long": [
    () => [
      ...many(() => ["trigger.date", "2026-02-30T12:00:00.12"]),
      ["trigger.date", `2026-01-31T12:00:00.${"1".repeat(FIELDS)}`],
    ],
    200_004,
    200_001,
  ],
  "200,000 items that are left out": [() => many((n) => [`pledges.${n}.impact.amount`, ""]), 3, 1],
  "names of 200,000 steps, and indexes that are too large": [
    () =>
      [
        `recipient${".a".repeat(FIELDS)}`,
        `pledges${".0".repeat(FIELDS)}`,
        `pledges.${"1".repeat(FIELDS)}`,
        "pledges.4294967295.impact.amount",
      ].map((name) => [name, "x"]),
    7,
    4,
  ],
  "texts of 200,000 characters that are almost numbers": [
    () =>
      amountsOf([
        `${"0".repeat(FIELDS)}x`,
        `${" ".repeat(FIELDS)}x`,
        `${"1".repeat(FIELDS)}e`,
        `1${" ".repeat(FIELDS)}x`,
        `.${"0".repeat(FIELDS)}.`,
      ]),
    12,
    5,
  ],
};

for (const [name, [fields, issues, owned]] of Object.entries(HOSTILE)) {
  test(`hostile: ${name}`, async () => {
    assert.deepEqual(await counted(fields()), { issues, owned });
  });
}

/** Reads a form in a thread of its own, which can be ended. */
async function counted(fields) {
  const form = pathToFileURL(
    join(project.folder, "node_modules", "impact-pledge", "form.cjs"),
  ).href;
  const workerData = { form: fileURLToPath(import.meta.resolve(form)), fields }; // or what validate-js.test.mjs has in its place
  const worker = new Worker(COUNT, { eval: true, workerData });
  const limit = setTimeout(() => worker.terminate(), LIMIT_MS);
  const [result] = await Promise.race([
    once(worker, "message"),
    once(worker, "exit").then(() => ["more than two minutes"]),
  ]);
  clearTimeout(limit);
  await worker.terminate();
  return result;
}

const COUNT = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { issues } = require(workerData.form).readForm(workerData.fields, { maxIssues: 1_000_000 });
  parentPort.postMessage({ issues: issues.length, owned: issues.filter(({ name }) => name !== null).length });
`;

// ---- The package ----

test("CommonJS has the same", () => {
  const { readForm, bindForm } = project.require("impact-pledge/form");
  assert.deepEqual(readForm([["reference", "r"]]).payload, { reference: "r" });
  assert.throws(() => bindForm(null), {
    name: "TypeError",
    message: "`bindForm` takes a form element",
  });
});

/**
 * Imports and the most bytes that they cost, brotli, the rules included. A page binds forms; it
 * does not read posted ones.
 */
const SIZES = { "{ bindForm }": 12_500, "{ readForm }": 9_500, "*": 12_900 };

async function sizeOf(contents) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: project.folder },
    bundle: true,
    minify: true,
    charset: "utf8",
    format: "esm",
    platform: "browser",
    write: false,
  });
  return brotliCompressSync(outputFiles[0].contents).length;
}

for (const [what, most] of Object.entries(SIZES)) {
  test(`${what} of the form costs no more than ${most} bytes, the rules included`, async (t) => {
    const length = await sizeOf(`export ${what} from "impact-pledge/form"`);
    t.diagnostic(`${length} bytes`);
    assert.ok(length <= most, `${length} bytes`);
  });
}

test("a language adds less than 1,000 bytes to a form", async () => {
  const form = 'export { bindForm } from "impact-pledge/form"';
  const [alone, withGerman] = [
    await sizeOf(form),
    await sizeOf(`${form}; export { de } from "impact-pledge/locales/de"`),
  ];
  assert.ok(withGerman - alone < 1_000, `${withGerman - alone} bytes`);
});
