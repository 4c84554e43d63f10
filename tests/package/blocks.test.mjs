/**
 * Checks every code block of the documents: JSON and TOML are parsed, command lines are read by the commands that they
 * call, and code is compiled with the types of the package. `readme.test.mjs`, `pages.test.mjs`, tests/browser and
 * tests/consumers run the code.
 */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { wrangler } from "../../scripts/lib/cloudflare-packages.mjs";
import { commandsFor } from "../../scripts/lib/commands.mjs";
import { configuration } from "../../scripts/lib/configuration.mjs";
import { deployCommand } from "../../scripts/lib/deploy-command.mjs";
import { migrateCommand } from "../../scripts/lib/migrate.mjs";
import { groups } from "../../scripts/lib/operations.mjs";
import { blocksOf } from "../support/examples.mjs";
import { compiled, problems } from "./compile.mjs";
import { packed } from "./packed.mjs";

const { registry, globalFlags } = wrangler().experimental_getWranglerCommands();
const root = join(import.meta.dirname, "..", "..");
const project = await packed();
const home = join(project.folder, "node_modules", "impact-pledge");
const { validate } = await project.load("impact-pledge/validate");
/** A folder of this run alone: clones with the same package share the project, and the links below lead into one clone. */
const scratch = mkdtempSync(join(project.folder, "blocks-"));
test.after(() => rmSync(scratch, { recursive: true }));

/** A page whose code uses generated clients. `npm run prove -- clients` runs it. */
const GENERATED = join("docs", "other-languages.md");
const PAGES = globSync(
  "{*,docs/**/*,examples/**/*,pkg-templates/{,service-project/}*,tests/proofs/*}.md",
  {
    cwd: root,
    exclude: (name) => name === "node_modules",
  },
).filter((page) => page !== GENERATED);
const BLOCKS = PAGES.flatMap((page) =>
  blocksOf(join(root, page)).map((block, index) => ({ page, index, ...block })),
);
/** The languages of code blocks, and whether a test below checks them. `text` and `mermaid` are no code. */
const LANGUAGES = {
  ...{ html: true, js: true, jsx: true, json: true, sh: true, toml: true, ts: true },
  ...{ mermaid: false, text: false },
};
const inLanguages = (...languages) => BLOCKS.filter(({ language }) => languages.includes(language));

test("every block of code is in a language that a test checks", () => {
  const unknown = BLOCKS.filter(({ language }) => !Object.hasOwn(LANGUAGES, language));
  assert.deepEqual(unknown, []);
  const fences = PAGES.map(
    (page) => readFileSync(join(root, page), "utf8").match(/^\s*```/gm) ?? [],
  );
  assert.equal(BLOCKS.length * 2, fences.flat().length, "a block has no end, or is not found");
  for (const [language, isCode] of Object.entries(LANGUAGES))
    assert.ok(!isCode || inLanguages(language).length > 0, `no block in ${language}`);
});

test("JSON is JSON", () => {
  for (const { page, code } of inLanguages("json"))
    assert.doesNotThrow(() => JSON.parse(code), `${page}: ${code}`);
});

test("TOML is a part of a configuration that wrangler accepts", async () => {
  const file = join(scratch, "wrangler.toml");
  for (const { page, code } of inLanguages("toml")) {
    writeFileSync(file, `name = "x"\ncompatibility_date = "2026-01-01"\n${code}`);
    const read = await configuration(file);
    assert.ok(Object.keys(read).includes(code.split(" ")[0] ?? ""), page);
  }
});

// ---- Commands ------------------------------------------------------------------------------------

/** Matches a word of a script: in quotes, or bare. */
const WORD = /"((?:[^"\\]|\\.)*)"|'([^']*)'|[^\s"']+(?:"[^"]*")?/g;
const isVariable = (word) => /^[A-Z_]+=/.test(word);

/** Splits a script into the commands that it calls, each as words. Leaves out comments, variables and redirections. */
function commandsIn(code) {
  const lines = code.replaceAll(/\\\n\s*|(?<=\|)\n\s*/g, " ").split("\n");
  return lines.flatMap((line) => {
    const commands = [[]];
    for (const [all, double, single] of line.replace(/(^|\s)#.*$/, "").matchAll(WORD))
      if (all === "|" || all === "&&") commands.push([]);
      else if (commands.at(-1).length > 0 || !isVariable(all))
        commands.at(-1).push(double ?? single ?? all);
    return commands.filter((words) => words.length > 0).map(withoutInput);
  });
}

const withoutInput = (words) => (words.includes("<") ? words.slice(0, words.indexOf("<")) : words);

/** A terminal whose output a failed command line adds to its error. */
const terminal = (said) => ({
  out: (text) => said.push(text),
  err: (text) => said.push(text),
  env: {},
  input: process.stdin,
});

/** Reads a command line with its command, but does not run it. */
async function mustBeRead(program, words) {
  const said = [];
  for (const line of [program, ...program.commands]) line.action(() => {});
  await program.run(words, terminal(said)).catch((error) => {
    const isHelp = error.code === "commander.helpDisplayed";
    assert.ok(isHelp, `${words.join(" ")}: ${said.join("")}`);
  });
}

const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const OWN = {
  init: ([folder, ...more]) => assert.ok(folder && more.length === 0),
  dev: (words) => assert.deepEqual(words, []),
  deploy: (words) =>
    mustBeRead(
      deployCommand(async () => assert.fail(), { isWhole: true }),
      words,
    ),
  migrate: (words) => mustBeRead(migrateCommand(), words),
};

/** Checks a command of `impact-pledge-service`. */
async function ofService([name = "", ...words]) {
  if (groups.includes(name)) return mustBeRead(commandsFor(name), words);
  assert.ok(Object.hasOwn(OWN, name), `there is no command ${name}`);
  return OWN[name](words);
}

/** Checks a command of `impact-pledge` by its help. @param {string[]} words */
function mustBeInHelp([name = "", ...words]) {
  const args = [bin, name, "--help"];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: "utf8" });
  assert.ok(status === 0 && stdout.startsWith(`impact-pledge ${name} `), name);
  for (const option of words.filter((word) => word.startsWith("--")))
    assert.ok(stdout.includes(option), `${name} has no ${option}`);
}

/** Checks a command of wrangler by wrangler's own table of commands. @param {string[]} words */
function mustBeOfWrangler(words) {
  let at = registry;
  let rest = words;
  for (; at.subtree.has(rest[0]); rest = rest.slice(1)) at = at.subtree.get(rest[0]);
  assert.equal(at.definition?.type, "command", words.join(" "));
  const options = { ...at.definition.args, ...globalFlags };
  for (const option of rest.filter((word) => word.startsWith("--")))
    assert.ok(Object.hasOwn(options, option.slice(2)), `${words.join(" ")}: ${option}`);
}

const manifest = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
const bin = join(home, manifest.bin["impact-pledge"]);

/**
 * The programs that the pages call. For each, a function that checks a call.
 * @type {Record<string, (words: string[]) => unknown>}
 */
const CALLED = {
  npx: ([name, ...words]) => {
    if (name === "impact-pledge-service") return ofService(words);
    if (name === "wrangler") return mustBeOfWrangler(words);
    assert.equal(name, "impact-pledge");
    return mustBeInHelp(words);
  },
  npm: ([name = "", ...words]) => {
    const script = name === "run" ? (words.shift() ?? "") : name;
    if (name !== "install") assert.ok(Object.hasOwn(scripts, script), `npm run ${script}`);
  },
  curl: (words) => {
    const data = words.indexOf("-d");
    if (data === -1) return;
    const payload = JSON.parse(words[data + 1] ?? "");
    if (words.some((word) => word.endsWith("/v2/pledge-transaction")))
      assert.deepEqual(validate(payload), []);
  },
  echo: ([text = ""]) => JSON.parse(text),
  ...Object.fromEntries(["cargo", "cd", "export", "jq", "openssl"].map((name) => [name, () => {}])),
};

for (const page of new Set(inLanguages("sh").map(({ page }) => page)))
  test(`${page}: its command lines are those of the commands`, async () => {
    for (const { code } of inLanguages("sh").filter((block) => block.page === page)) {
      execFileSync("sh", ["-n"], { input: code });
      for (const [name = "", ...words] of commandsIn(code)) {
        assert.ok(Object.hasOwn(CALLED, name), `${name} ${words.join(" ")}`);
        await CALLED[name]?.(words);
      }
    }
  });

// ---- Code ----------------------------------------------------------------------------------------

/** The pages whose first blocks of JavaScript are parts of one module, each with the number of these blocks. */
const JOINED = {
  "docs/forms.md": 2,
  "docs/getting-started.md": 3,
  "docs/npm.md": 4,
  "docs/testing.md": 2,
  "pkg-templates/README.md": 9,
};
/**
 * Declarations of names that a page uses without defining them. They belong to the shop, or to another library.
 * @type {Record<string, string>}
 */
const GIVEN = {
  "docs/npm.md": `
    declare const payload: import("impact-pledge/validate").CreatePledgeTransactionRequest;
    declare const form: FormData;
    interface LineItem { quantity: number; price_data: { currency: string; unit_amount: number; product_data: { name: string } } }
    declare const items: LineItem[];
    interface Session { mode: "payment"; line_items: LineItem[]; metadata: Record<string, string>; success_url: string }
    declare const stripe: { checkout: { sessions: { create(session: Session): Promise<{ url: string | null }> } } };`,
  "docs/forms-server.md":
    "declare function saveOrder(data: FormData, payload: unknown): Promise<void>;",
  "docs/testing.md": `
    declare const service: import("impact-pledge/testing").TestService;
    declare const http: { all(url: string, handle: (asked: { request: Request }) => Promise<Response>): void };
    interface Answer { status: number; headers: Record<string, string>; body: Buffer }
    interface Route {
      request(): { method(): string; url(): string; allHeaders(): Promise<Record<string, string>>; postData(): string | null };
      abort(): Promise<void>;
      fulfill(answer: Answer): Promise<void>;
    }
    declare const page: { route(url: string, handle: (route: Route) => Promise<void>): Promise<void> };`,
  "pkg-templates/README.md": "declare function send(data: FormData): Promise<void>;",
};

/** Returns the files that consist of a page's blocks of code. */
function filesOf(page) {
  const blocks = inLanguages("js", "jsx", "ts").filter((block) => block.page === page);
  const joined = blocks.splice(0, JOINED[page] ?? 0).map(({ code }) => code);
  const one = joined.length > 0 ? [{ name: "joined.js", code: joined.join("\n") }] : [];
  return one.concat(
    blocks.map(({ language, code }, index) => ({
      name: code.match(/^\/\/ (\S+\.js)$/m)?.[1] ?? `block-${index}.${language}`,
      code: `${code}\nexport {};\n`,
    })),
  );
}

/** Compiler options of a strict project. Types of parameters may be left out, because JavaScript has none. */
const OPTIONS = {
  allowJs: true,
  checkJs: true,
  noImplicitAny: false,
  noImplicitReturns: false,
  noPropertyAccessFromIndexSignature: false,
  module: "esnext",
  moduleResolution: "bundler",
  lib: ["es2024", "dom", "dom.iterable"],
  jsx: "react-jsx",
  skipLibCheck: true,
  typeRoots: [join(root, "node_modules", "@types")],
  types: ["node", "react"],
};
/** The other packages that examples import. They are those of the clone. */
mkdirSync(join(scratch, "node_modules"));
for (const name of ["@types", "hono", "react", "react-hook-form"])
  symlinkSync(join(root, "node_modules", name), join(scratch, "node_modules", name), "junction");

for (const page of new Set(inLanguages("js", "jsx", "ts").map(({ page }) => page)))
  test(`${page}: its code compiles with the types of the package`, () => {
    const folder = join(scratch, page.replaceAll(/\W/g, "-"));
    mkdirSync(folder, { recursive: true });
    const files = [...filesOf(page), { name: "given.d.ts", code: GIVEN[page] ?? "" }];
    if (page === "docs/testing.md") files.push(...filesOf("docs/getting-started.md"));
    for (const { name, code } of files) writeFileSync(join(folder, name), code);
    const names = files.map(({ name }) => name);
    assert.equal(problems(compiled(folder, names, OPTIONS)), "");
  });
