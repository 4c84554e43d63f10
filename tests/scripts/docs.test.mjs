/** Tests that the pages of `docs` refer only to files, tests and links that exist. */
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";

const ROOT = join(import.meta.dirname, "../..");
const FOLDERS_OF_CODE = ["src", "scripts", "tests", "pkg-templates", "www", "examples"];
const read = (file) => readFileSync(join(ROOT, file), "utf8");

/** Returns the tests that a page names. Each has its name, and its file in `tests`. */
function namedTests(page) {
  const groups = page.matchAll(/`(tests\/[^`]+)`: (`[^`]+`(?:, `[^`]+`)*)/g);
  return [...groups].flatMap(([, file, names]) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => ({ file, name })),
  );
}

for (const page of ["docs/security.md", "docs/reliability.md", "docs/recover.md"]) {
  test(`${page}: every test that it names exists`, () => {
    const named = namedTests(read(page));
    assert.ok(named.length >= 10, `only ${named.length} tests are named`);
    assert.deepEqual(
      named.filter(
        ({ file, name }) => !(existsSync(join(ROOT, file)) && read(file).includes(name)),
      ),
      [],
    );
  });
}

/**
 * The constants whose values the pages of `docs` state. Each row has the page, the code file, how to find the
 * constant in the code, and the words in which the page must state its value.
 * @type {[string, string, RegExp, (value: number) => string][]}
 */
const STATED = [
  [
    "decisions/emails",
    "buyer/delivery/claim",
    /CLAIM_MS: u64 = (.+);/,
    (ms) => `nothing for ${ms / 1000} s, the`,
  ],
  [
    "decisions/emails",
    "buyer/delivery/claim",
    /SETTLE_MS: u32 = (.+);/,
    (ms) => `waits ${ms / 1000} s before it`,
  ],
  [
    "emails",
    "buyer/delivery/schedule",
    /MAX_RETRIES: u32 = (.+);/,
    (n) => `message ${n + 1} times (\`max_retries = ${n}\`)`,
  ],
  [
    "emails",
    "buyer/delivery/schedule",
    /INTO_THE_DAY_MS: u64 = (.+);/,
    (ms) => `at 00:0${ms / 60_000} UTC`,
  ],
  [
    "emails",
    "buyer/delivery/verdict",
    /MAX_A_DAY: usize = (.+);/,
    (n) => `fewer than ${n} e-mails on this day`,
  ],
  [
    "emails",
    "buyer/delivery/verdict",
    /MAX_TESTS_A_DAY: usize = (.+);/,
    (n) => `gets up to ${n} e-mails`,
  ],
  [
    "decisions/emails",
    "buyer/delivery/deliveries",
    /MAX_HELD_BYTES: usize = (.+);/,
    (n) => `within ${n / 2 ** 20} MiB of records`,
  ],
  [
    "emails",
    "doors/mail/mod",
    /SEND_MS: u32 = (.+);/,
    (ms) => `does not answer within ${ms / 1000} s`,
  ],
  [
    "messaging",
    "buyer/delivery/verdict",
    /MAX_A_DAY: usize = (.+);/,
    (n) => `up to ${n} messages a day`,
  ],
  [
    "dashboard",
    "office/mails/operation/batch",
    / PAGE_STEP: usize = (.+);/,
    (n) => `take ${n} at a time`,
  ],
  [
    "shop-systems",
    "office/connections/rule/secrets",
    /MIN_BYTES: usize = (.+);/,
    (n) => `| Secret | ${n} to 255 characters`,
  ],
  [
    "shop-systems",
    "pledges/orders/settings",
    /DEFAULT_CAP: u32 = (.+);/,
    (n) => `| \`cap\`, of a rule | ${n} |`,
  ],
  [
    "shop-systems",
    "office/system/rows/health",
    /CRON_MINUTES: u64 = (.+);/,
    (n) => `reads a delivery again within ${n} minutes`,
  ],
  [
    "shop-systems",
    "pledges/store/order_keys",
    /RECEIVED_DAYS: u32 = (.+);/,
    (n) => `is kept for ${n} days for this`,
  ],
  [
    "shop-systems",
    "office/connections/rows/received",
    /KEPT_DAYS: u64 = (.+);/,
    (n) => `deliveries goes back ${n} days`,
  ],
  [
    "shop-systems",
    "pledges/service/receive",
    /ANSWER_MS: u32 = (.+);/,
    (ms) => `answers within ${ms / 1000} s`,
  ],
  [
    "shop-systems",
    "office/connections/rule/fetch/since",
    /MOST_DAYS: u64 = (.+);/,
    (n) => `fetch the orders of up to ${n} days again`,
  ],
  [
    "shop-systems",
    "office/connections/rule/fetch/shop",
    /MAX_ANSWER_BYTES: usize = (.+);/,
    (n) => `an answer of at most ${n / 1_048_576} MiB`,
  ],
  [
    "shop-systems",
    "doors/dashboard_worker/shop_api",
    /ANSWER_MS: u32 = (.+);/,
    (ms) => `waits at most ${ms / 1000} s`,
  ],
  [
    "shop-systems",
    "office/connections/rows/troubles",
    /WAITING_MS: u64 = (.+);/,
    (ms) => `that wait for more than ${ms / 60_000} minutes`,
  ],
];

for (const [page, file, constant, words] of STATED)
  test(`docs/${page}.md states the value of ${constant.source.split(":")[0]}`, () => {
    const [, value] = read(`src/${file}.rs`).match(constant) ?? [];
    const factors = value.split("*").map((factor) => Number(factor.replaceAll("_", "")));
    const stated = words(factors.reduce((product, factor) => product * factor));
    const text = read(`docs/${page}.md`).replace(/\s+/g, " ");
    assert.ok(text.includes(stated), `"${stated}" is not there`);
  });

/** The groups of operations, such as `keys`. @type {string[]} */
const GROUPS = JSON.parse(read("scripts/lib/operations.json")).map(({ group }) => group);
const LANGUAGES = globSync("src/buyer/recipient/words/*.txt", { cwd: ROOT }).length;

test("`npm run` has each group of operations, and docs/service.md lists them", () => {
  const { scripts } = JSON.parse(read("package.json"));
  const commands = Object.entries(scripts).filter(([, script]) => script.includes(" operator "));
  assert.deepEqual(
    Object.fromEntries(commands),
    Object.fromEntries(GROUPS.map((group) => [group, `node scripts/run.mjs operator ${group}`])),
  );
  const [, listed = ""] = read("docs/service.md").match(/^The groups are ([^.]*)\./m) ?? [];
  assert.deepEqual(
    [...listed.matchAll(/`(\w+)`/g)].map(([, group]) => group),
    GROUPS,
  );
});

/**
 * The numbers of languages in the pages. Each has the number that must be stated.
 * @type {[page: string, counted: RegExp, count: number][]}
 */
const COUNTED = [
  ["CONTRIBUTING.md", /words`, in (\w+) languages/, LANGUAGES],
  ["docs/decisions/own-code.md", /plurals of (\w+) languages/, LANGUAGES],
  [
    "docs/npm.md",
    /texts for shoppers.* in (\w+) languages/,
    new Set(
      globSync("pkg-templates/locales/*.ts", { cwd: ROOT, exclude: ["**/pack.ts"] }).map((file) =>
        file.replace(/(-informal)?\.ts$/, ""),
      ),
    ).size,
  ],
];

for (const [page, counted, count] of COUNTED)
  test(`${page} states how many languages there are`, () => {
    const [, stated] = read(page).replace(/\s+/g, " ").match(counted) ?? [];
    assert.equal(stated, String(count));
  });

test("CONTRIBUTING.md names no migration and no time that the next change makes wrong", () => {
  assert.deepEqual(read("CONTRIBUTING.md").match(/\b\d{4}_\w+\.sql|\b\d+ min\b/g), null);
});

/** Returns the anchors that GitHub makes from a page's headings. */
const anchorsOf = (page) =>
  [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );

test("every link between the pages leads to an existing file and heading", () => {
  const pages = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "tests/proofs/README.md",
    ...readdirSync(join(ROOT, "docs"), { recursive: true })
      .filter((name) => name.endsWith(".md"))
      .map((name) => join("docs", name)),
  ];
  const links = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)/g)].map(([, to, anchor]) => ({
      page,
      to: to ? join(page, "..", to) : page,
      anchor,
    })),
  );
  assert.ok(links.length > 10);
  assert.deepEqual(
    links.filter(
      ({ to, anchor }) =>
        !existsSync(join(ROOT, to)) || (anchor !== "" && !anchorsOf(to).includes(anchor)),
    ),
    [],
  );
});

test("every link to a file of the repository by its address leads to one", () => {
  const pages = globSync("{README,docs/*,examples/README,pkg-templates/README}.md", { cwd: ROOT });
  const links = pages.flatMap((page) =>
    [...read(page).matchAll(/\/impact-pledge\/(?:blob|tree)\/main\/([^)#\s]+)/g)].map(
      ([, file]) => [page, file],
    ),
  );
  assert.ok(links.length > 10);
  assert.deepEqual(
    links.filter(([, file]) => !existsSync(join(ROOT, file))),
    [],
  );
});

test("docs/performance.md is tables and how to run; its lessons are in docs/decisions", () => {
  const lines = read("docs/performance.md").trimEnd().split("\n").length;
  assert.ok(lines <= 115, `${lines} lines: move prose to docs/decisions, or leave out rows`);
});

test("docs/commands/transactions.md has each argument and option of `backup`, `restore` and `fetch-backup`", () => {
  const files = ["backup-commands", "fetch-backup"].map((name) => read(`scripts/lib/${name}.mjs`));
  const commands = files.flatMap((code) => code.split('.command("').slice(1));
  const page = read("docs/commands/transactions.md");
  for (const [index, name] of ["backup", "restore", "fetch-backup"].entries()) {
    const [, section] = page.split(`\n## transactions ${name} `);
    const declared = [
      ...commands[index].matchAll(/\s"(--[a-z-]+|[<[][a-z]+)|option\("(--[a-z-]+)/g),
    ];
    const names = declared.map(([, argument, option]) => argument ?? option);
    assert.ok(commands[index].startsWith(name) && names.length >= 1, name);
    const described = section.split("\n## ")[0];
    const missing = names.filter(
      (it) => !described.includes(it.startsWith("--") ? `- \`${it}\`` : `- \`<${it.slice(1)}>\``),
    );
    assert.deepEqual(missing, [], name);
  }
});

test("every section of the contract that the code cites exists", () => {
  const pattern = /^#{2,3} (\d+(?:\.\d+)?)\.? (.*(?:\n(?!#).*)*)/gm;
  const sections = new Map(
    [...read("docs/contract.md").matchAll(pattern)].map(([, section, text]) => [section, text]),
  );
  assert.equal(sections.size, 17);
  const points = new Set(sections.keys());
  for (const [section, text] of sections)
    for (const [, point] of text.matchAll(/^(\d+)\. /gm)) points.add(`${section}.${point}`);
  const cited = FOLDERS_OF_CODE.flatMap((folder) =>
    globSync(`${folder}/**/*.{rs,ts,js,mjs,json,yaml,html}`, {
      cwd: ROOT,
      exclude: (name) => name === "node_modules",
    }),
  ).flatMap((file) =>
    [...read(file).matchAll(/(?<!RFC \d+ )§(\d+(?:\.\d+)*)/g)].map(([, number]) => [file, number]),
  );
  assert.ok(cited.length > 70, `only ${cited.length} are cited`);
  assert.deepEqual(
    cited.filter(([, number]) => !points.has(number)),
    [],
  );
});
