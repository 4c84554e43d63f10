/**
 * Tests the installed locale packs: complete, plain and small, and accepted wherever `messages` is an option.
 */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { packed } from "./packed.mjs";

const project = await packed();
const { createSchema, safeParse, validate, validateAt, validateBytes } =
  await project.load("impact-pledge/validate");
const names = readdirSync(join(project.folder, "node_modules", "impact-pledge", "locales")).flatMap(
  (file) => file.match(/^([\w-]+)\.js$/)?.[1] ?? [],
);
/** `de-informal` exports `deInformal`. */
const exportOf = (name) => name.replace(/-(.)/, (_, letter) => letter.toUpperCase());
const packs = Object.fromEntries(
  await Promise.all(
    names.map(async (name) => [
      name,
      (await project.load(`impact-pledge/locales/${name}`))[exportOf(name)],
    ]),
  ),
);

/** An issue of each code, with every `meta` that a text may use. */
const CODES =
  "invalid_type required unknown_member duplicate_member too_few_items too_many_items not_positive not_finite not_allowed invalid_email invalid_uri invalid_date_time lone_surrogate invalid_utf8 too_deep malformed_json unreadable unknown_pointer more_issues".split(
    " ",
  );
const ISSUES = CODES.flatMap((code) =>
  ["number", "string"].map((expected) => ({
    path: [],
    pointer: "",
    code,
    message: "",
    meta: { expected, actual: "null", minimum: 1, maximum: 3, allowed: ["a"] },
    count: 22,
  })),
);
const FORM_TEXTS = ["summary", "submit_failed", "retry", "too_low", "too_high", "invalid_value"];
const textOf = (pack, issue) =>
  typeof pack[issue.code] === "function" ? pack[issue.code](issue) : pack[issue.code];

test("there are packs of thirteen languages, and informal ones where the others are formal", () => {
  const all = "da de de-informal en es es-informal fr fr-informal it ja nl pl pt pt-BR sv zh";
  assert.deepEqual(names.sort().join(" "), all);
});

for (const [name, pack] of Object.entries(packs)) {
  test(`${name}: every code has a text that a shopper can read`, () => {
    for (const issue of ISSUES) {
      const text = textOf(pack, issue);
      assert.match(text, /^[^`{}#_]{2,90}$/u, issue.code);
      assert.doesNotMatch(text, /undefined|null|NaN|string|JSON|RFC|pledges/, issue.code);
    }
    for (const text of [1, 2, 5, 22].map((count) => pack.summary({ count })))
      assert.match(text, /^[^`{}#_]{2,60}$/u);
    const limits = [pack.too_low, pack.too_high].map((limit) => limit({ meta: {}, count: "0.5" }));
    for (const text of limits) assert.match(text, /0\.5/);
    for (const text of [pack.submit_failed, pack.retry, pack.invalid_value, ...limits])
      assert.match(text, /^[^`{}#_]{2,60}$/u);
    assert.deepEqual(
      Object.keys(pack).sort(),
      [...CODES, ...FORM_TEXTS].sort(),
      "and nothing else is in it",
    );
  });

  test(`${name}: the named export, the default export and \`require\` are the same`, async () => {
    const required = project.require(`impact-pledge/locales/${name}`);
    assert.equal(required.default, required[exportOf(name)]);
    assert.equal(required.default.required, pack.required);
  });
}

test("an informal pack differs from the formal one in how it addresses, and nowhere a polite form is left", () => {
  const polite = { de: /\b(Sie|Ihr)\b/, es: /\b(Rellene|Introduzca|Elija|Revise)\b/, fr: /ez\b/ };
  for (const [name, formal] of Object.entries(polite)) {
    const texts = (pack) => ISSUES.map((issue) => textOf(pack, issue)).join("\n");
    const informal = packs[`${name}-informal`];
    assert.match(texts(packs[name]), formal);
    assert.doesNotMatch(texts(informal), formal);
    assert.notEqual(texts(informal), texts(packs[name]));
  }
});

test("counts have the plural of their language", () => {
  const counts = (name) => [1, 2, 5, 22].map((count) => packs[name].summary({ count }));
  const entries = ["1 entry", "2 entries", "5 entries", "22 entries"];
  assert.deepEqual(
    counts("en"),
    entries.map((words) => `Please check ${words}`),
  );
  assert.deepEqual(
    counts("pl"),
    ["1 pole", "2 pola", "5 pól", "22 pola"].map((words) => `Sprawdź ${words}`),
  );
});

describe("messages", () => {
  const WRONG = {
    recipient: { email: "ada@" },
    pledges: [{ impact: { amount: "x", offeringId: "tree" } }],
    notifications: ["Email", "Email", "Email", "Email"],
  };
  const bytes = new TextEncoder().encode(JSON.stringify(WRONG));
  const DOORS = {
    validate: (options) => validate(WRONG, options),
    validateBytes: (options) => validateBytes(bytes, options),
    validateAt: (options) => validateAt("", WRONG, options),
    safeParse: (options) => safeParse(WRONG, options).issues,
    createSchema: (options) => createSchema(options)["~standard"].validate(WRONG).issues,
    "libraryOptions of a call": (options) =>
      createSchema()["~standard"].validate(WRONG, { libraryOptions: options }).issues,
  };
  const [REQUIRED, EMAIL, NUMBER, THREE] = [
    "is required",
    "must be an e-mail address such as `ada@example.org`",
    "must be a number, not a string",
    "must have at most 3 items",
  ];
  const byCode = {
    required: "fehlt",
    invalid_type: ({ meta }) => `${meta.expected}, nicht ${meta.actual}`,
    too_many_items: () => undefined,
  };
  const byFunction = ({ code, pointer }) => (code === "required" ? `${pointer} fehlt` : undefined);
  const OWN = {
    "a locale pack": [
      packs.de,
      [
        "Bitte füllen Sie dieses Feld aus",
        "Geben Sie eine E-Mail-Adresse wie ada@example.org ein",
        "Geben Sie eine Zahl ein",
        "Wählen Sie höchstens 3 Einträge",
      ],
    ],
    "a map by code": [byCode, ["fehlt", EMAIL, "number, nicht string", THREE]],
    "a function": [byFunction, ["/reference fehlt", EMAIL, NUMBER, THREE]],
    nothing: [undefined, [REQUIRED, EMAIL, NUMBER, THREE]],
    "what gives no text": [() => false, [REQUIRED, EMAIL, NUMBER, THREE]],
  };
  for (const [what, [messages, texts]] of Object.entries(OWN)) {
    test(`are those of ${what}, by each way`, () => {
      for (const [door, issues] of Object.entries(DOORS))
        assert.deepEqual(
          issues({ messages }).map(({ message }) => message),
          texts,
          door,
        );
    });
  }

  test("options with wrong names are refused, by each way", () => {
    const message = "the options are `messages` and `maxIssues`, not `message`";
    for (const [door, issues] of Object.entries(DOORS))
      assert.throws(() => issues({ message: byCode }), { name: "TypeError", message }, door);
    assert.throws(() => createSchema({ maxissues: 1 }), TypeError);
  });

  test("the options of a call override those of the schema", () => {
    const schema = createSchema({ messages: packs.de, maxIssues: 2 })["~standard"];
    assert.deepEqual(
      schema
        .validate(WRONG, { libraryOptions: { messages: { required: "missing" } } })
        .issues.map(({ message }) => message)[0],
      "missing",
    );
    assert.deepEqual(
      schema.validate(WRONG).issues.map(({ code }) => code),
      ["required", "invalid_email", "more_issues"],
    );
  });
});

test("messages for developers begin in a way by which a form distinguishes them from a server's own", () => {
  const bytes = (text) => validateBytes(new TextEncoder().encode(text));
  const messages = [
    ...validate({
      x: 1,
      reference: 1,
      recipient: { email: "ada@", name: "\ud800" },
      pledges: [{ impact: { amount: 0 } }, { impact: { amount: Infinity, offeringId: "tree" } }],
      trigger: { date: "x", externalUrl: "x" },
      notifications: ["x", "x", "x", "x"],
    }),
    ...validate({ pledges: [] }),
    ...validate({}, { maxIssues: 2 }),
    ...validate({
      get reference() {
        throw 1;
      },
    }),
    ...validateAt("/x", 1),
    ...bytes("{"),
    ...bytes('{"reference":"a","reference":"b"}'),
    ...bytes("[".repeat(70)),
    ...validateBytes(Buffer.from('{"reference":"\xff"}', "latin1")),
  ];
  assert.deepEqual(new Set(messages.map(({ code }) => code)), new Set(CODES));
  for (const { message } of messages) assert.match(message, /^(must|is|has|could) /);
});

test("an issue's `meta` has the values of its text", () => {
  const ROWS = [
    ["/reference", 1, { expected: "string", actual: "number" }],
    ["/reference", null, { expected: "string", actual: "null" }],
    ["/reference", () => 1, { expected: "string", actual: "unserializable" }],
    ["/pledges/0/impact/amount", true, { expected: "number", actual: "boolean" }],
    ["/pledges/0/impact/amount", 0, { minimum: 0, exclusive: true }],
    ["/pledges/0/impact/amount", Infinity, {}],
    ["/pledges", {}, { expected: "array", actual: "object" }],
    ["/pledges", [], { minimum: 1 }],
    ["/notifications", Array(4).fill("Email"), { maximum: 3 }],
    [
      "/notifications/0",
      "Pigeon",
      { allowed: ["Email", "MessagingServiceA", "MessagingServiceB", "MessagingServiceC"] },
    ],
    [
      "/recipient",
      { email: "ada@example.org", phone: "1" },
      { allowed: ["email", "firstName", "name"] },
    ],
    ["/recipient/email", "ada@", {}],
    ["/recipient/email", undefined, {}],
    ["/nothing", 1, {}],
  ];
  for (const [pointer, value, meta] of ROWS)
    assert.deepEqual(
      validateAt(pointer, value).map(({ meta }) => meta),
      [meta],
      `${JSON.stringify(value)} at ${pointer}`,
    );
});
