/**
 * Every entry where the platform lacks what it needs: importing works, and an error of the first
 * use names what is missing.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

const pkg = join(import.meta.dirname, "..", "..", "pkg");

/** Needs the wasm; and, because of the umlaut, what makes bytes of text. */
const USES = {
  index: 'pkg.validate({ recipient: { email: "ü@b.c" } })',
  validate: 'pkg.validate({ recipient: { email: "ü@b.c" } })',
  form: 'pkg.readForm([["recipient.email", "ü@b.c"]]).issues',
};
const MISSING = {
  WebAssembly: ["WebAssembly"],
  "TextDecoder and TextEncoder": ["TextDecoder", "TextEncoder"],
  "all of them": ["TextDecoder", "TextEncoder", "WebAssembly"],
};
const LOADERS = {
  js: (file) => `await import(${file})`,
  cjs: (file) => `(await import("node:module")).createRequire(${file})(${file})`,
};

for (const [entry, use] of Object.entries(USES)) {
  for (const [format, load] of Object.entries(LOADERS)) {
    for (const [what, names] of Object.entries(MISSING)) {
      test(`${entry}.${format} where ${what} are missing`, () => {
        const code = `process.getBuiltinModule = undefined;
          for (const name of ${JSON.stringify(names)}) delete globalThis[name];
          const pkg = ${load(JSON.stringify(join(pkg, `${entry}.${format}`)))};
          try { console.log("no error", ${use}); } catch (error) { console.log(error.message); }`;
        const { status, stdout, stderr } = spawnSync(
          process.execPath,
          ["--input-type=module", "--eval", code],
          { encoding: "utf8" },
        );
        assert.deepEqual([status, stderr], [0, ""]);
        assert.match(stdout, new RegExp(`impact-pledge needs (${names.join("|")}) or a polyfill`));
      });
    }
  }
}

test("a client where WebAssembly is missing", () => {
  const code = `delete globalThis.WebAssembly;
    const { PledgeClient } = await import(${JSON.stringify(join(pkg, "index.js"))});
    try { new PledgeClient({ apiKey: "service_sk_test_x", baseUrl: "https://pledges.example.org" }); } catch (error) { console.log(error.message); }`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", code], {
    encoding: "utf8",
  });
  assert.match(stdout, /impact-pledge needs WebAssembly/, stderr);
});

test("a call with a signal where making code of text is forbidden, as on Workers and by most Content-Security-Policies", () => {
  const code = `const { PledgeClient } = await import(${JSON.stringify(join(pkg, "index.js"))});
    const fetch = async () => Response.json({ error: "Pledge transaction not found" }, { status: 404 });
    const client = new PledgeClient({ apiKey: "service_sk_test_x", baseUrl: "https://pledges.example.org", fetch });
    await client.getPledgeTransaction("ptran_1", { signal: new AbortController().signal }).catch((error) => console.log(error.code));`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--disallow-code-generation-from-strings", "--input-type=module", "--eval", code],
    { encoding: "utf8" },
  );
  assert.equal(stdout, "not_found\n", stderr);
});
