/** Tests that the operator's commands are built once in a clone, and again when the sources have changed. */
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { x } from "tinyexec";

const ROOT = join(import.meta.dirname, "../..");
const ID = `ptran_${"a".repeat(42)}`;
const MODULE = pathToFileURL(join(ROOT, "scripts", "lib", "operator.mjs"));

/** Creates a clone that shares the packages, the cache and the compiled code. */
function clone(t) {
  const root = mkdtempSync(join(tmpdir(), "impact-pledge-operator-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const name of [
    "src",
    "Cargo.toml",
    "Cargo.lock",
    "package.json",
    "tests/support",
    "tests/proofs/fuzz/targets",
  ])
    cpSync(join(ROOT, name), join(root, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"), "junction");
  return root;
}

/** Loads the operator's functions in a separate process, because a process loads a module only once. */
async function load(root) {
  const code = `import { operator } from ${JSON.stringify(MODULE.href)}; const { markedBy } = await operator({ root: ${JSON.stringify(root)} }); console.log(await markedBy("erased:${ID}"))`;
  const { stdout, stderr, exitCode } = await x(process.execPath, [
    "--input-type=module",
    "--eval",
    code,
  ]);
  assert.equal(exitCode, 0, stderr);
  assert.equal(stdout, `transaction:${ID}\n`);
  return stderr;
}

test("it is built if it is missing or outdated, with a line of output, and by only one of several processes", async (t) => {
  const root = clone(t);
  const stamp = join(root, "build", "operator", "stamp");
  const outputs = await Promise.all([load(root), load(root)]);
  const built = outputs.filter((output) => output !== ""); // one that starts late finds it built
  assert.ok(built.length > 0);
  for (const output of built) assert.match(output, /^building the operator's commands/);
  const state = readFileSync(stamp, "utf8");
  assert.equal(await load(root), "");
  writeFileSync(stamp, "of other sources");
  assert.match(await load(root), /^building the operator's commands/);
  assert.equal(readFileSync(stamp, "utf8"), state);
});
