/** Taking out of a wasm what wasm-opt leaves in. */
import assert from "node:assert/strict";
import test from "node:test";
import binaryen from "binaryen";
import { withShortImports, withoutPanics } from "../../scripts/lib/shrink.mjs";

const HANDLER = "__rustc[b7974e8690430dd9]::rust_begin_unwind";
const LONG = ["__wbg_fetch_be52a27b3b6dddb7", "__wbg___wbindgen_throw_4c88d8bf264fd984", "__wbindgen_init_externref_table"];

/** A module that calls its imports in order, and panics when asked to. */
function sample() {
  const module = binaryen.parseText(`(module
    ${LONG.map((name) => `(import "./client_bg.js" "${name}" (func $${name}))`).join("\n")}
    (memory (export "memory") 1)
    (data (i32.const 8) "kept/home/ada/.cargo/registry/src/x-1.0/src/lib.rskept")
    (func $"${HANDLER}" (call $${LONG[1]}))
    (func (export "run") (param i32)
      ${LONG.map((name) => `(call $${name})`).join("\n")}
      (if (local.get 0) (then (call $"${HANDLER}")))))`);
  const previous = binaryen.getDebugInfo();
  binaryen.setDebugInfo(true);
  const wasm = module.emitBinary();
  binaryen.setDebugInfo(previous);
  return wasm;
}

const GLUE = `const import0 = {\n${LONG.map((name) => `  ${name}: function() { calls.push("${name.slice(0, 8)}"); },`).join("\n")}\n};\nreturn { "./client_bg.js": import0 };`;

test("what describes a panic is gone, and a panic still traps", async () => {
  const wasm = await withoutPanics(sample());
  const text = Buffer.from(wasm).toString("latin1");
  assert.ok(!text.includes(".cargo") && text.includes("kept\0"));
  let thrown = 0;
  const imports = { "./client_bg.js": Object.fromEntries(LONG.map((name) => [name, () => (thrown += 1)])) };
  const { run } = new WebAssembly.Instance(new WebAssembly.Module(wasm), imports).exports;
  run(0);
  assert.equal(thrown, 3);
  assert.throws(() => run(1), WebAssembly.RuntimeError);
  assert.equal(thrown, 6);
});

test("a wasm without the panic handler is not taken for one without panics", async () => {
  const module = binaryen.parseText("(module (func $f))");
  await assert.rejects(withoutPanics(module.emitBinary()), /panic handler/);
});

test("imports have short names, the same in the wasm and in its JavaScript", async () => {
  const { wasm, glue } = withShortImports(sample(), GLUE);
  for (const name of LONG) assert.ok(!glue.includes(name));
  const module = new WebAssembly.Module(wasm);
  for (const { module: from, name } of WebAssembly.Module.imports(module)) assert.ok(from.length <= 3 && name.length <= 3, `${from} ${name}`);
  const calls = [];
  const imports = new Function("calls", glue)(calls);
  new WebAssembly.Instance(module, imports).exports.run(0);
  assert.deepEqual(calls, LONG.map((name) => name.slice(0, 8)));
});
