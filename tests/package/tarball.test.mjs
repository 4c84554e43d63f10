/**
 * Tests the tarball: resolvers find its entries, it is small, and it contains the licences of all software in
 * it. It contains nothing about the machine that built it.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { brotliCompressSync } from "node:zlib";
import { build, transform } from "esbuild";
import { rollup } from "rollup";
import { bytesOf } from "../../pkg-templates/loaders/printable.ts";
import { bundledParts, licenceTexts, linkedParts } from "../../scripts/lib/licences.mjs";
import { prepareTools } from "../../scripts/setup/tools.mjs";
import { packed } from "./packed.mjs";

const tools = await prepareTools();
const { root } = tools;
const project = await packed();
const home = join(project.folder, "node_modules", "impact-pledge");
const manifest = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
const shipped = readdirSync(home, { encoding: "utf8", recursive: true }).filter((name) =>
  statSync(join(home, name)).isFile(),
);

// ---- Entries ---------------------------------------------------------------------------------------

/** Runs a tool on the tarball. */
function check(script, ...args) {
  const path = join(root, "node_modules", script);
  return spawnSync(process.execPath, [path, ...args, project.tarball], { encoding: "utf8" });
}

test("publint reports nothing, however strict", () => {
  const { status, stdout } = check("publint/src/cli.js", "--strict");
  assert.equal(status, 0, stdout);
  assert.match(stdout, /All good/);
});

test("arethetypeswrong finds no problem in the types of any entry", () => {
  const { status, stdout } = check("@arethetypeswrong/cli/dist/index.js", "--format", "json");
  assert.equal(status, 0, stdout);
  assert.deepEqual(JSON.parse(stdout).problems ?? {}, {});
});

test("every file that the exports name exists, and types come first", () => {
  const conditions = (value) =>
    typeof value === "string" ? [value] : [value, ...Object.values(value).flatMap(conditions)];
  const all = conditions(manifest.exports);
  const files = all.filter((value) => typeof value === "string");
  assert.ok(files.length >= 16, `${files}`);
  for (const file of files) assert.ok(existsSync(join(home, file)), file);
  for (const each of all)
    if (typeof each === "object" && "types" in each) assert.equal(Object.keys(each)[0], "types");
  const { sideEffects, type, dependencies } = manifest;
  const elements = ["./badge.js", "./badge.cjs", "./choice.js", "./choice.cjs"];
  assert.deepEqual(sideEffects, elements, "what defines an element");
  assert.deepEqual([type, dependencies], ["module", undefined]);
});

test("the manifest has an author and URLs, and the changelog is in the tarball", () => {
  const site = "https://github.com/impact-pledge/impact-pledge";
  const { author, repository, homepage, bugs } = manifest;
  assert.equal(author, "The Impact Pledge authors");
  assert.deepEqual(repository, { type: "git", url: `git+${site}.git` });
  assert.deepEqual([homepage, bugs], [`${site}#readme`, { url: `${site}/issues` }]);
  assert.ok(readFileSync(join(root, "LICENSE"), "utf8").includes(`Copyright (c) 2026 ${author}\n`));
  const [own, packed] = [root, home].map((path) =>
    readFileSync(join(path, "CHANGELOG.md"), "utf8"),
  );
  assert.equal(packed, own);
});

test("no entry imports another package, which bundlers could not find if npm left it out", async () => {
  const entryPoints = shipped
    .filter((name) => /\.c?js$/.test(name) && !name.startsWith("bin"))
    .map((name) => join(home, name));
  const options = { bundle: true, write: false, metafile: true, logLevel: "error" };
  const { metafile } = await build({
    ...options,
    entryPoints,
    outdir: home,
    entryNames: "[name]-[hash]",
    packages: "external",
    external: ["*.wasm", "*.wasm?module"],
  });
  const imported = Object.values(metafile.outputs).flatMap(({ imports }) =>
    imports.map(({ path }) => path),
  );
  assert.ok(imported.includes("impact-pledge/form"));
  assert.deepEqual(
    imported.filter((path) => !/^impact-pledge\/|\.wasm(\?module)?$/.test(path)),
    [],
  );
});

test("the command and the test service are in no other entry", () => {
  const parts = { "Ctrl-C ends it.": /^bin/, createTestService: /^(bin|testing\.)/ };
  const scripts = shipped.filter((name) => /\.c?js$/.test(name));
  for (const [text, where] of Object.entries(parts)) {
    const found = scripts.filter((name) => readFileSync(join(home, name), "utf8").includes(text));
    assert.ok(found.length > 0 && found.every((name) => where.test(name)), `${text}: ${found}`);
  }
});

// ---- Sizes -----------------------------------------------------------------------------------------

/**
 * The size limit of each export: the maximum number of bytes that the export may add to a page, and a
 * tolerance. If the real size is below the limit by more than the tolerance, the limit must be lowered.
 */
const BUDGETS = {
  '{ validate } from "impact-pledge/validate"': [8_800, 300],
  '{ validate } from "impact-pledge"': [8_800, 300],
  '* from "impact-pledge/validate"': [10_800, 300],
  '{ validate } from "impact-pledge/validate/js"': [10_550, 300],
  '{ PledgeClient } from "impact-pledge"': [33_500, 2_000],
  '* from "impact-pledge"': [35_000, 2_000],
  '{ bindForm } from "impact-pledge/form"': [13_200, 500],
  '{ readForm } from "impact-pledge/form"': [6_900, 500],
  '* from "impact-pledge/form"': [13_600, 500],
  '{ pledgeResolver } from "impact-pledge/react-hook-form"': [8_300, 300],
  '* from "impact-pledge/badge"': [1_400, 100],
  '* from "impact-pledge/choice"': [1_900, 100],
  '{ read } from "impact-pledge/orders"': [2_620, 100],
  '{ verify } from "impact-pledge/orders"': [650, 100],
  '* from "impact-pledge/orders"': [3_072, 60],
  '* from "impact-pledge/testing"': [300_000, 15_000],
};

/**
 * Returns how many bytes a page loads at once for this code, minified by esbuild and compressed with brotli.
 */
async function sizeOf(contents, way = {}) {
  const {
    outputFiles: [file],
  } = await build({
    stdin: { contents, resolveDir: project.folder },
    bundle: true,
    minify: true,
    charset: "utf8",
    format: "esm",
    platform: "browser",
    outdir: project.folder,
    splitting: !way.format,
    chunkNames: "[name]", // a hash in it would change the compressed size by dozens of bytes
    write: false,
    logLevel: "error",
    ...way,
  });
  return brotliCompressSync(file.contents).length;
}

for (const [what, [budget, slack]] of Object.entries(BUDGETS)) {
  test(`export ${what} costs at most ${budget} bytes`, async (t) => {
    const length = await sizeOf(`export ${what};`);
    t.diagnostic(`${length} bytes`);
    assert.ok(length <= budget, `${length} bytes`);
    assert.ok(length > budget - slack, `${length} bytes: lower the budget`);
  });
}

/**
 * The sizes that pages state, in KB or in bytes. Each has the export whose size it is.
 * @type {[page: string, stated: RegExp, what: string][]}
 */
const STATED = [
  ["README.md", /validation is ([\d.]+) KB/, '{ validate } from "impact-pledge/validate"'],
  ["README.md", /client ([\d.]+) KB/, '{ PledgeClient } from "impact-pledge"'],
  ["docs/npm.md", /: client ([\d.]+) KB/, '{ PledgeClient } from "impact-pledge"'],
  ["docs/npm.md", /`validate` ([\d.]+) KB/, '{ validate } from "impact-pledge/validate"'],
  ["docs/npm.md", /form ([\d.]+) KB/, '{ bindForm } from "impact-pledge/form"'],
  ["docs/npm.md", /badge ([\d.]+) KB/, '* from "impact-pledge/badge"'],
  ["docs/npm.md", /choice ([\d.]+) KB/, '* from "impact-pledge/choice"'],
  ["docs/npm.md", /orders ([\d.]+) KB/, '* from "impact-pledge/orders"'],
  ["docs/npm.md", /test service ([\d.]+) KB/, '* from "impact-pledge/testing"'],
  [
    "docs/performance.md",
    /\| a client of a service +\| +([\d,]+) /,
    '{ PledgeClient } from "impact-pledge"',
  ],
  [
    "docs/performance.md",
    /\| a check of a value +\| +([\d,]+) /,
    '{ validate } from "impact-pledge"',
  ],
];

for (const [page, stated, what] of STATED)
  test(`${page} states the size of ${what}`, async () => {
    const [, figure = ""] = readFileSync(join(root, page), "utf8").match(stated) ?? [];
    const bytes = Number(figure.replaceAll(",", "")) * (figure.includes(",") ? 1 : 1_000);
    const length = await sizeOf(`export ${what};`);
    const tolerance = figure.includes(",") ? length * 0.02 : Math.max(length * 0.03, 600);
    assert.ok(Math.abs(bytes - length) <= tolerance, `${length} bytes; stated: ${figure}`);
  });

/**
 * Scripts that use `validate`. The test bundles each script with each of the settings in `WAYS`. The sizes of
 * the bundles differ by a few bytes, because minified names differ.
 */
const USES = [
  'export { validate as check } from "impact-pledge/validate";',
  'import { validate } from "impact-pledge/validate"; console.log(validate({}));',
];
const WAYS = [{ format: "iife" }, { target: "es2022" }, { target: "es2020", platform: "neutral" }];

test("validate alone costs at most 9,000 bytes, however it is bundled", async () => {
  for (const use of USES)
    for (const way of WAYS) assert.ok((await sizeOf(use, way)) <= 9_000, use + JSON.stringify(way));
});

test("an application that uses both entries loads the rules once", async () => {
  const main = 'export * from "impact-pledge";';
  const check = 'export { validate as check } from "impact-pledge/validate";';
  const added = (await sizeOf(main + check)) - (await sizeOf(main));
  assert.ok(added < 200, `${added}`);
});

test("Rollup, too, bundles only the validator for `validate` of the main entry", async () => {
  const page = { entry: 'export { validate } from "impact-pledge";' };
  const bundle = await rollup({
    input: "entry",
    plugins: [
      {
        name: "package",
        resolveId: (id) =>
          id === "impact-pledge"
            ? {
                id: join(home, "index.js"),
                moduleSideEffects: manifest.sideEffects.includes("./index.js"),
              }
            : page[id] && id,
        load: (id) => page[id],
      },
    ],
  });
  const [{ code, modules }] = (await bundle.generate({ format: "es" })).output;
  const used = Object.keys(modules).filter((id) => modules[id].renderedLength > 0);
  assert.deepEqual(used, [join(home, "validate.js")]);
  const minified = await transform(code, { minify: true, charset: "utf8" });
  assert.ok(brotliCompressSync(minified.code).length <= 9_000);
});

test("an unused import of an element still defines it, and an unused import of another entry is dropped", async () => {
  assert.ok((await sizeOf('import "impact-pledge/badge";')) > 800);
  assert.ok((await sizeOf('import "impact-pledge/choice";')) > 1_500);
  assert.ok((await sizeOf('import "impact-pledge/form";')) < 10);
});

test("the rules without wasm cost at most 3,650 bytes in a single file, and nothing elsewhere until they are needed", async () => {
  const use = 'export { bindForm } from "impact-pledge/form";';
  const added = (await sizeOf(use, { format: "iife" })) - (await sizeOf(use));
  assert.ok(added > 3_000 && added <= 3_650, `${added}`);
});

test("a language costs less than 1,000 bytes", async () => {
  for (const file of shipped.filter((name) => /^locales\/[\w-]+\.js$/.test(name)))
    assert.ok((await sizeOf(`export * from "impact-pledge/${file.slice(0, -3)}";`)) < 1_000, file);
});

// ---- Parts and their licences ----------------------------------------------------------------------

const [client, server, both] = await Promise.all(
  ["client", "server", "client,server"].map((features) => linkedParts(tools, features)),
);
const bundled = bundledParts(root, home);
const names = (parts) => parts.map(({ name }) => name);
const worker = [
  "impact_pledge_bg.wasm",
  "impact_pledge.js",
  "worker.js",
  "no-registry.js",
  "broken.js",
  "recover.js",
].map((name) => join(root, "build", name));

test("no file that ships names a folder of this machine", () => {
  const folders = [root, homedir(), "/.cargo/", "/registry/src/", "/target/wasm"];
  for (const file of [...worker, ...shipped.map((name) => join(home, name))]) {
    const text = readFileSync(file, "latin1");
    const wasm = (text.match(/(?<=")[!#-[\]-|]{1000,}(?=")/g) ?? []).map((ascii) =>
      Buffer.from(bytesOf(ascii)).toString("latin1"),
    );
    for (const each of [text, ...wasm])
      for (const folder of folders) assert.ok(!each.includes(folder), `${file} has \`${folder}\``);
    assert.ok(worker.includes(file) || !text.includes("/rustc/"), file); // the Worker's panics name std
  }
});

test("the crates that the Worker's wasm names are among its parts, in these versions", () => {
  // Panic messages name the crates; only the Worker's wasm keeps these messages.
  const crate = /\/crates\/([\w-]+?)-(\d+\.\d+\.\d+[\w.+-]*)\//g;
  const crates = [...readFileSync(worker[0], "latin1").matchAll(crate)];
  const named = new Set(crates.map(([, name, version]) => `${name} ${version}`));
  assert.ok(named.size >= 10, `${[...named]}`);
  const known = new Set(server.map(({ name, version }) => `${name} ${version}`));
  assert.deepEqual(
    [...named].filter((each) => !known.has(each)),
    [],
  );
});

/** Crates that are used only for building or testing. Nothing that ships contains them. */
const TOOLS =
  "maud_macros proc-macro2 proptest quote serde_derive strum_macros syn wasm-bindgen-macro wasm-bindgen-test";

test("parts are the packages that are linked or bundled, without tools and macros, and differ by entry", () => {
  const lock = readFileSync(join(root, "Cargo.lock"), "utf8");
  for (const tool of TOOLS.split(" ")) {
    assert.ok(lock.includes(`name = "${tool}"\n`), `${tool} is not used any more`);
    assert.ok(!names(both).includes(tool), tool);
  }
  assert.ok(names(server).includes("worker") && !names(client).includes("worker"));
  assert.deepEqual(names(bundled), ["jsonc-parser"]);
  for (const name of ["serde", "sha2", "the Rust standard library", "wasm-bindgen"])
    assert.ok(names(client).includes(name), name);
});

test("the package has the licences of all its parts, with their texts", () => {
  const parts = [...both, ...bundled];
  const text = readFileSync(join(home, "THIRD-PARTY-LICENSES.txt"), "utf8");
  assert.equal(text, licenceTexts(root, parts));
  for (const { name, version, license } of parts)
    assert.ok(text.includes(`\n${version ? `${name} ${version}` : name} (${license})\n`), name);
  for (const licence of ["Copyright (c) Microsoft", "UNICODE LICENSE V3", "Apache License"])
    assert.ok(text.includes(licence), licence);
  assert.ok(text.includes("Redistribution and use in source and binary forms"));
});
