/** Tests that each error code and notice of the project is explained, and has an address in the site. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { root } from "../../scripts/lib/bootstrap.mjs";
import { codesByName, codesOf } from "../../www/site/codes.js";
import { errorAddress, ORIGIN } from "../../www/site/origin.js";
import { documents } from "../../www/site/pages.js";

const read = (file) => readFileSync(join(root, file), "utf8");
const DOCUMENTS = documents(root);

/** Writes the name of a variant as serde and strum do. @type {Record<string, (words: string[]) => string>} */
const CASES = {
  snake: (words) => words.join("_"),
  kebab: (words) => words.join("-"),
  lower: (words) => words.join(""),
};

/** Returns the codes of an enum in Rust: a variant is a line with four blanks at its beginning. */
function variants(file, name, written) {
  const [, body = ""] =
    read(file).match(new RegExp(`^pub enum ${name} \\{\\n([\\s\\S]*?)^\\}`, "m")) ?? [];
  const names = [...body.matchAll(/^ {4}([A-Z]\w*)/gm)].map(([, variant]) => variant);
  assert.ok(names.length >= 3, `${file} has no enum ${name}`);
  return names.map((variant) =>
    CASES[written](variant.match(/[A-Z][a-z0-9]*/g)?.map((word) => word.toLowerCase()) ?? []),
  );
}

/** Returns the codes of a union of texts in TypeScript. */
function members(file, name) {
  const [, body = ""] =
    read(file).match(new RegExp(`export type ${name} =\\n((?: +\\| "\\w+".*\\n)+)`)) ?? [];
  const codes = [...body.matchAll(/"(\w+)"/g)].map(([, code]) => code);
  assert.ok(codes.length >= 3, `${file} has no type ${name}`);
  return codes;
}

/** Returns the members that begin the Workers' log lines, except the line for each answer. */
function logLines() {
  const sources = globSync("src/doors/**/*.rs", { cwd: root }).map(read);
  const found = (pattern) =>
    sources.flatMap((code) => [...code.matchAll(pattern)].map(([, it]) => it));
  return [
    ...found(/log_error\(&\[\("(\w+)"/g),
    ...found(/console_error!\(r#"\{\{"(\w+)"/g),
    ...found(
      /^struct (?:\w+Log|(?!JsonLine|WorkLine)\w+Line|FailedCall)\b.*\{\n(?: +(?:#|\/\/).*\n)* +(\w+):/gm,
    ),
    ...found(/log_work\(\s*\(\s*"(\w+)"/g), // a work's name begins its line
    ...[
      ...read("src/doors/cloudflare/recover.js").matchAll(
        /console\.error\(\s*JSON\.stringify\(\{ (\w+):/g,
      ),
    ].map(([, it]) => it),
  ];
}

/** @type {[document: string, codes: () => string[]][]} */
const FAMILIES = [
  ["validation", () => variants("src/pledges/validate/code.rs", "Code", "snake")],
  ["api", () => variants("src/pledges/api/problem.rs", "Problem", "kebab")],
  [
    "package",
    () => [
      ...members("pkg-templates/types.ts", "PledgeErrorCode"),
      ...members("pkg-templates/orders/error.ts", "OrderErrorCode"),
    ],
  ],
  [
    "refusals",
    () => [
      ...variants("src/office/shared/rule/refused.rs", "RefusalCode", "snake"),
      ...[...read("scripts/lib/output.mjs").matchAll(/isUsage \? "(\w+)"/g)].map(([, it]) => it),
    ],
  ],
  ["logs", logLines],
];

const sorted = (codes) => [...new Set(codes)].sort();

for (const [name, codes] of FAMILIES)
  test(`docs/errors/${name}.md has each code of its kind, and no other`, () => {
    const page = DOCUMENTS.find(({ file }) => file === `docs/errors/${name}.md`);
    assert.ok(page);
    const explained = codesOf(page).map(({ code }) => code);
    assert.deepEqual(explained.toSorted(), sorted(codes()), "a code is missing, or is there twice");
  });

/** The codes that tables of other documents explain. @type {[document: string, codes: string[]][]} */
const IN_TABLES = [
  ["docs/ledger.md", variants("src/office/system/rows/findings.rs", "FindingKind", "lower")],
  ["docs/dashboard.md", variants("src/office/notices/rows/notices.rs", "NoticeKind", "lower")],
  ["docs/shop-systems.md", variants("src/office/connections/rows/received.rs", "Fate", "lower")],
  ["docs/emails.md", variants("src/office/mails/rule/status.rs", "State", "kebab")],
  [
    "docs/emails.md or docs/messaging.md",
    variants("src/buyer/delivery/marker.rs", "Reason", "kebab"),
  ],
];
const NAMES = codesByName(DOCUMENTS);

for (const [document, codes] of IN_TABLES)
  test(`${document} explains ${codes.length} codes in a table`, () => {
    const explained = NAMES.filter(({ meanings }) =>
      meanings.some(({ file }) => document.includes(file)),
    ).map(({ code }) => code);
    assert.deepEqual(
      codes.filter((code) => !explained.includes(code)),
      [],
    );
  });

test("each code says what it means, why, and what to do", () => {
  const texts = DOCUMENTS.filter(({ file }) =>
    FAMILIES.some(([name]) => file === `docs/errors/${name}.md`),
  ).flatMap(codesOf);
  assert.ok(texts.length > 70, `${texts.length}`);
  for (const { code, text } of texts)
    assert.match(text, /^[^*].+[\s\S]*\n\n\*\*Why\.\*\* [\s\S]+\n\n\*\*What to do\.\*\* /, code);
  for (const { code, meanings } of NAMES)
    for (const { text } of meanings) assert.match(text, /\*\*What to do\.\*\* \S/, code);
});

test("the address of a code is below the origin, which only one file states", () => {
  assert.equal(errorAddress("busy"), `${ORIGIN}/errors/busy`);
  const host = new URL(ORIGIN).host;
  const files = globSync(
    "{*.md,docs/**/*.{md,yaml},src/**/*.rs,{scripts,www,pkg-templates}/**/*.{js,mjs,ts,json}}",
    {
      cwd: root,
      exclude: (name) => name === "node_modules",
    },
  );
  assert.ok(files.length > 300);
  assert.deepEqual(
    files.filter((file) => read(file).includes(host)),
    ["www/site/origin.js"],
  );
});
