/**
 * Tests the WebAssembly builds: they contain no folder names of this machine, use short names, and give the
 * same results as the plain JavaScript build.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import binaryen from "binaryen";
import { root } from "../../scripts/lib/bootstrap.mjs";
import { prepareTools } from "../../scripts/setup/tools.mjs";
import { buildCrate, removePanics, shortenNames, writePlain } from "../../scripts/lib/wasm.mjs";

const LONG = [
  "__wbg_fetch_be52a27b3b6dddb7",
  "__wbg___wbindgen_throw_4c88d8bf264fd984",
  "__wbindgen_init_externref_table",
];

/**
 * Writes a wasm file that calls the functions it imports, in order.
 * @param {import("node:test").TestContext} t
 */
function sample(t) {
  const module = binaryen.parseText(`(module
    ${LONG.map((name) => `(import "./client_bg.js" "${name}" (func $${name}))`).join("\n")}
    (memory (export "memory") 1)
    (global (export "area") i32 (i32.const 8))
    (func (export "__wbindgen_malloc"))
    (func (export "run") ${LONG.map((name) => `(call $${name})`).join("\n")}))`);
  return fileOf(t, "client_bg.wasm", module.emitBinary());
}

function fileOf(t, name, content) {
  const folder = mkdtempSync(join(tmpdir(), "wasm-test-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

const GLUE = `const import0 = {\n${LONG.map((name) => `  ${name}: function() { calls.push("${name.slice(0, 8)}"); },`).join("\n")}\n};
function malloc(wasm) { return wasm.__wbindgen_malloc; }
return { imports: { "./client_bg.js": import0 }, malloc };`;

test("imports have the same short names in the wasm and in its JavaScript, and other exports keep their names", async (t) => {
  const file = sample(t);
  const glueFile = fileOf(t, "client.js", `function glue(calls) {\n${GLUE}\n}`);
  await shortenNames({ root, env: process.env }, file, glueFile);
  const glue = readFileSync(glueFile, "utf8");
  for (const name of [...LONG, "__wbindgen_malloc"]) assert.ok(!glue.includes(name));
  const module = new WebAssembly.Module(readFileSync(file));
  for (const { module: from, name } of WebAssembly.Module.imports(module))
    assert.ok(from.length <= 2 && name.length <= 2, `${from} ${name}`);
  const calls = [];
  const { imports, malloc } = new Function(`${glue}\nreturn glue;`)()(calls);
  const { exports } = new WebAssembly.Instance(module, imports);
  exports.run();
  assert.deepEqual(
    calls,
    LONG.map((name) => name.slice(0, 8)),
  );
  assert.equal(typeof malloc(exports), "function");
  assert.ok(exports.memory instanceof WebAssembly.Memory && exports.area.value === 8);
});

/**
 * Writes a wasm file whose function `run` panics.
 * @param {import("node:test").TestContext} t
 * @param {string} panic the path of the function that panics
 */
function panicking(t, panic) {
  const module = binaryen.parseText(`(module
    (import "a" "b" (func $print))
    (func $"${panic}" (call $print))
    (func $work (export "work") (call $print))
    (func (export "run") (call $"${panic}")))`);
  binaryen.setDebugInfo(true);
  return fileOf(t, "client_bg.wasm", module.emitBinary());
}

test("a panic of the client traps before it writes a message, and a wasm with unknown names is refused", async (t) => {
  const file = panicking(t, "core[37ee0ce0c4cd57d5]::panicking::panic_fmt");
  await removePanics(file);
  let printed = 0;
  const imports = { a: { b: () => (printed += 1) } };
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(file)), imports);
  assert.throws(exports.run, WebAssembly.RuntimeError);
  assert.equal(printed, 0);
  exports.work();
  assert.equal(printed, 1);
  await assert.rejects(
    removePanics(panicking(t, "core::panic")),
    /functions that handle panics have new names/,
  );
});

/**
 * A module in WebAssembly text format. Its data begins after one page of stack, as in Rust's builds. Its
 * `fill` uses an instruction that JavaScript lacks, so wasm2js has to add a helper function.
 */
const DATA = `(module
  (memory (export "memory") 2)
  (data (i32.const 65600) "ab\\ff\\00\\22\\5c")
  (data (i32.const 65700) "z")
  (func (export "read") (param i32) (result i32) (i32.load8_u (local.get 0)))
  (func (export "fill") (param i32 i32) (memory.fill (local.get 0) (local.get 1) (i32.const 2))))`;

test("a wasm as JavaScript has its data, keeps it as memory grows, and shares nothing between instances", async (t) => {
  const module = binaryen.parseText(DATA);
  module.setFeatures(binaryen.Features.All);
  const wasm = fileOf(t, "a.wasm", module.emitBinary());
  const file = wasm.replace("a.wasm", "a.mjs");
  await writePlain({ root, env: process.env }, wasm, file);
  const { instantiate } = await import(pathToFileURL(file));
  const [one, other] = [instantiate(), instantiate()];
  one.fill(65_700, 7);
  assert.equal(one.memory.grow(3), 2);
  const at = [65_600, 65_601, 65_602, 65_603, 65_604, 65_605, 65_606, 65_700, 65_701, 65_702];
  assert.deepEqual(at.map(one.read), [97, 98, 255, 0, 34, 92, 0, 7, 7, 0]);
  assert.deepEqual(at.map(other.read), [97, 98, 255, 0, 34, 92, 0, 122, 0, 0]);
  const pages = ({ memory }) => memory.buffer.byteLength / 65_536;
  assert.deepEqual([pages(one), pages(other)], [5, 2]);
});

test("the compiled crate in the cache contains no folder of the clone that compiled it", async () => {
  const folder = await buildCrate(await prepareTools(), "testing");
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  assert.ok(files.length > 1, "the wasm, and its JavaScript");
  for (const file of files) assert.ok(!readFileSync(file).includes(root), file);
});
