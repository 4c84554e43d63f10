/** What wasm-opt leaves in a wasm and the build takes out. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import binaryen from "binaryen";
import { root } from "../../scripts/lib/bootstrap.mjs";
import { shortenNames, withoutPanics } from "../../scripts/lib/wasm.mjs";

const HANDLER = "__rustc[b7974e8690430dd9]::rust_begin_unwind";
const LONG = ["__wbg_fetch_be52a27b3b6dddb7", "__wbg___wbindgen_throw_4c88d8bf264fd984", "__wbindgen_init_externref_table"];

/** A file of a module that calls its imports in order, and panics when asked to. @param {import("node:test").TestContext} t */
function sample(t) {
  const module = binaryen.parseText(`(module
    ${LONG.map((name) => `(import "./client_bg.js" "${name}" (func $${name}))`).join("\n")}
    (memory (export "memory") 1)
    (global (export "area") i32 (i32.const 8))
    (data (i32.const 8) "kept/home/ada/.cargo/registry/src/x-1.0/src/lib.rskept")
    (func $"${HANDLER}" (call $${LONG[1]}))
    (func (export "__wbindgen_malloc"))
    (func (export "run") (param i32)
      ${LONG.map((name) => `(call $${name})`).join("\n")}
      (if (local.get 0) (then (call $"${HANDLER}")))))`);
  const previous = binaryen.getDebugInfo();
  binaryen.setDebugInfo(true);
  const file = fileOf(t, "client_bg.wasm", module.emitBinary());
  binaryen.setDebugInfo(previous);
  return file;
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

test("what describes a panic is gone, and a panic still traps", async (t) => {
  const file = sample(t);
  await withoutPanics(file);
  const text = readFileSync(file, "latin1");
  assert.ok(!text.includes(".cargo") && text.includes("kept\0"));
  let thrown = 0;
  const imports = { "./client_bg.js": Object.fromEntries(LONG.map((name) => [name, () => (thrown += 1)])) };
  const { run } = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(file)), imports).exports;
  run(0);
  assert.equal(thrown, 3);
  assert.throws(() => run(1), WebAssembly.RuntimeError);
  assert.equal(thrown, 6);
});

test("a wasm without the panic handler is not taken for one without panics", async (t) => {
  const module = binaryen.parseText("(module (func $f))");
  await assert.rejects(withoutPanics(fileOf(t, "a.wasm", module.emitBinary())), /panic handler/);
});

test("imports have short names, the same in the wasm and in its JavaScript, and other exports keep theirs", async (t) => {
  const file = sample(t);
  const glueFile = fileOf(t, "client.js", `function glue(calls) {\n${GLUE}\n}`);
  await shortenNames({ root, env: process.env }, file, glueFile);
  const glue = readFileSync(glueFile, "utf8");
  for (const name of [...LONG, "__wbindgen_malloc"]) assert.ok(!glue.includes(name));
  const module = new WebAssembly.Module(readFileSync(file));
  for (const { module: from, name } of WebAssembly.Module.imports(module)) assert.ok(from.length <= 2 && name.length <= 2, `${from} ${name}`);
  const calls = [];
  const { imports, malloc } = new Function(`${glue}\nreturn glue;`)()(calls);
  const { exports } = new WebAssembly.Instance(module, imports);
  exports.run(0);
  assert.deepEqual(calls, LONG.map((name) => name.slice(0, 8)));
  assert.equal(typeof malloc(exports), "function");
  assert.ok(exports.memory instanceof WebAssembly.Memory && exports.area.value === 8);
});
