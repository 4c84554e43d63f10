/** The tarball: resolvers find its entries, it is small, and it reveals nothing of who built it. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { brotliCompressSync } from "node:zlib";
import { build } from "esbuild";
import { bytesOf } from "../../pkg-templates/loaders/printable.ts";
import { packed } from "./packed.mjs";

const root = join(import.meta.dirname, "..", "..");
const project = await packed();
const home = join(project.folder, "node_modules", "impact-pledge");
const manifest = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));

/** Runs a command of the tools' packages on the tarball. */
function check(...path) {
  const [script, ...args] = path;
  return spawnSync(
    process.execPath,
    [join(root, "node_modules", script), ...args, project.tarball],
    { encoding: "utf8" },
  );
}

test("publint reports nothing, however strict", () => {
  const { status, stdout } = check("publint/src/cli.js", "--strict");
  assert.equal(status, 0, stdout);
  assert.match(stdout, /All good/);
});

test("are the types wrong? They are right on every entry", () => {
  const { status, stdout } = check("@arethetypeswrong/cli/dist/index.js", "--format", "json");
  assert.equal(status, 0, stdout);
  assert.deepEqual(JSON.parse(stdout).problems ?? {}, {});
});

test("every file that the exports name is there, types first", () => {
  const files = (value) =>
    typeof value === "string" ? [value] : Object.values(value).flatMap(files);
  const named = files(manifest.exports);
  assert.ok(named.length >= 16, `${named}`);
  for (const file of named) assert.ok(existsSync(join(home, file)), file);
  const conditions = (value) =>
    typeof value === "string" ? [] : [value, ...Object.values(value).flatMap(conditions)];
  for (const each of conditions(manifest.exports))
    if ("types" in each) assert.equal(Object.keys(each)[0], "types");
  assert.deepEqual(
    [manifest.sideEffects, manifest.type, manifest.dependencies],
    [false, "module", undefined],
  );
});

test("the manifest has author and addresses, and the changelog is in the tarball", () => {
  const site = "https://github.com/impact-pledge/impact-pledge";
  const { author, repository, homepage, bugs } = manifest;
  assert.deepEqual(
    { author, repository, homepage, bugs },
    {
      author: "The Impact Pledge authors",
      repository: { type: "git", url: `git+${site}.git` },
      homepage: `${site}#readme`,
      bugs: { url: `${site}/issues` },
    },
  );
  assert.ok(readFileSync(join(root, "LICENSE"), "utf8").includes(`Copyright (c) 2026 ${author}\n`));
  assert.equal(
    readFileSync(join(home, "CHANGELOG.md"), "utf8"),
    readFileSync(join(root, "CHANGELOG.md"), "utf8"),
  );
});

test("no file reveals the machine that built it", () => {
  for (const name of readdirSync(home, { recursive: true })) {
    if (!statSync(join(home, name)).isFile()) continue;
    const bytes = readFileSync(join(home, name));
    const texts = [
      bytes.toString("latin1"),
      ...(bytes.toString("latin1").match(/(?<=")[!#-[\]-|]{1000,}(?=")/g) ?? []).map((text) =>
        Buffer.from(bytesOf(text)).toString("latin1"),
      ),
    ];
    for (const text of texts)
      for (const path of [homedir(), root, "/.cargo/", "/rustc/"])
        assert.ok(!text.includes(path), `${name} has \`${path}\``);
  }
});

test("the command and the test service are in no other entry", () => {
  const parts = { "Ctrl-C ends it.": /^bin/, createTestService: /^(bin|testing\.)/ };
  const scripts = readdirSync(home, { recursive: true }).filter((name) => /\.c?js$/.test(name));
  for (const [text, where] of Object.entries(parts)) {
    const found = scripts.filter((name) => readFileSync(join(home, name), "utf8").includes(text));
    assert.ok(found.length > 0 && found.every((name) => where.test(name)), `${text}: ${found}`);
  }
});

/** The sizes of a browser's downloads, in bytes. */
const BUDGETS = { "impact-pledge": 46_000 };

for (const [entry, most] of Object.entries(BUDGETS)) {
  test(`${entry} is at most ${most} bytes, minified and compressed`, async (t) => {
    const source = join(project.folder, "whole.js");
    writeFileSync(source, `export * from "${entry}";\n`);
    const { outputFiles } = await build({
      entryPoints: [source],
      bundle: true,
      minify: true,
      format: "esm",
      write: false,
      logLevel: "error",
    });
    const { length } = brotliCompressSync(outputFiles[0].contents);
    t.diagnostic(`${length} bytes`);
    assert.ok(length <= most, `${length} bytes`);
  });
}
