/**
 * Tests the packed package in a few environments. `npm run matrix` tests many more environments, and
 * `pages.test.mjs` tests Chromium.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import test from "node:test";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { wrangler } from "../../scripts/lib/cloudflare-packages.mjs";
import { REQUEST } from "./mock-server.mjs";
import { nodes } from "./nodes.mjs";
import { packed } from "./packed.mjs";

const { createTestHarness } = wrangler();

process.env.CLOUDFLARE_CF_FETCH_ENABLED ??= "false";
const project = await packed();
const home = join(project.folder, "node_modules", "impact-pledge");
const built = (file) => readFileSync(join(home, file));

/**
 * A shop's code, which validates a request, and creates a transaction although the first answer is lost. The
 * parameters are the package and the package's `testing` entry.
 */
const SMOKE = `async function smoke(pkg, { createTestService }) {
  const service = createTestService({ seed: 1 });
  const { baseUrl, fetch } = service;
  const client = new pkg.PledgeClient({ apiKey: "service_sk_test_dev_unit", baseUrl, fetch, retryCreates: true });
  service.fail({ fault: "lost answer" });
  const { id, charge } = await client.createPledgeTransaction(${JSON.stringify(REQUEST)});
  const { reference } = await client.getPledgeTransaction(id);
  const refused = await client.createPledgeTransaction({}).catch((error) => [error instanceof pkg.ValidationError, error.issues.length]);
  return JSON.stringify([pkg.validate({}).map(({ code }) => code), charge.amount, reference, refused, service.transactions().length, service.requests().length]);
}`;
const EXPECTED = JSON.stringify([
  ["required", "required", "required"],
  "0.50",
  "order-1",
  [true, 3],
  1,
  3,
]);

function write(name, text) {
  const file = join(project.folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** Runs a script in the project, and returns its output. */
async function output(node, script, flags = []) {
  const file = write(`script-${process.pid}.mjs`, script);
  const child = spawn(node, [...flags, file], { stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (out += data));
  const [code] = await once(child, "close");
  return code === 0 ? out.trim() : `exit code ${code}: ${out}`;
}

for (const { name, node } of nodes()) {
  test(`${name}: import and require`, async () => {
    const script = `import { createRequire } from "node:module";
      import * as imported from "impact-pledge";
      import * as testing from "impact-pledge/testing";
      const require = createRequire(import.meta.url);
      ${SMOKE}
      console.log(await smoke(imported, testing));
      console.log(await smoke(require("impact-pledge"), require("impact-pledge/testing")));`;
    assert.equal(await output(node, script), `${EXPECTED}\n${EXPECTED}`);
  });
}

test("globals are not changed, and no code is created from text, which Workers and most pages forbid", async () => {
  const script = `import assert from "node:assert/strict";
    ${SMOKE}
    const shown = () => Reflect.ownKeys(globalThis).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name).value]);
    const listeners = () => process.eventNames().map((name) => [name, process.listenerCount(name)]);
    process.on("warning", (warning) => assert.fail(warning));
    new Response(new Request("http://x").body); // Node creates a global of its own with the first one
    const [globals, before] = [shown(), listeners()];
    const pkg = await import("impact-pledge");
    console.log(await smoke(pkg, await import("impact-pledge/testing")));
    assert.deepEqual(shown().map(([name]) => name), globals.map(([name]) => name));
    for (const [index, [name, value]] of shown().entries()) assert.ok(Object.is(value, globals[index][1]), String(name));
    assert.deepEqual(listeners(), before);
    const fetch = async () => Response.json({ error: "Pledge transaction not found" }, { status: 404 });
    const client = new pkg.PledgeClient({ apiKey: "service_sk_test_x", baseUrl: "https://pledges.example.org", fetch });
    const { signal } = new AbortController();
    await client.getPledgeTransaction("ptran_1", { signal }).catch((error) => console.log(error.code));`;
  const flags = ["--disallow-code-generation-from-strings"];
  assert.equal(await output(process.execPath, script, flags), `${EXPECTED}\nnot_found`);
});

/**
 * For each entry of the package: code that needs WebAssembly. For the entries `index` and `validate`, the code
 * also needs `TextEncoder`, because the code checks an e-mail address with a lone surrogate.
 */
const USES = {
  index: 'pkg.validate({ recipient: { email: "\\ud800@b.c" } })',
  validate: 'pkg.validate({ recipient: { email: "\\ud800@b.c" } })',
  form: 'pkg.readForm([["recipient.email", "ü@b.c"]]).issues',
};
const MISSING = {
  WebAssembly: ["WebAssembly"],
  "TextDecoder and TextEncoder": ["TextDecoder", "TextEncoder"],
  "all of them": ["TextDecoder", "TextEncoder", "WebAssembly"],
};

for (const [what, names] of Object.entries(MISSING)) {
  test(`if ${what} are missing, every entry loads, and the first use reports it`, async () => {
    const isMeant = ([entry]) => entry !== "form" || names.includes("WebAssembly"); // a form needs no bytes of text
    const uses = Object.entries(USES)
      .filter(isMeant)
      .flatMap(([entry, use]) =>
        ["js", "cjs"].map(
          (format) =>
            `await use((pkg) => ${use}, ${JSON.stringify(join(home, `${entry}.${format}`))});`,
        ),
      );
    const script = `import { createRequire } from "node:module";
      process.getBuiltinModule = undefined;
      for (const name of ${JSON.stringify(names)}) delete globalThis[name];
      async function use(call, file) {
        const pkg = file.endsWith(".cjs") ? createRequire(file)(file) : await import(file);
        try { console.log("no error", call(pkg)); } catch (error) { console.log(error.message); }
        if (!pkg.PledgeClient || ${names.length === 2}) return;
        try { new pkg.PledgeClient({ apiKey: "service_sk_test_x", baseUrl: "https://pledges.example.org" }); console.log("no error"); } catch (error) { console.log(error.message); }
      }
      ${uses.join("\n")}`;
    const lines = (await output(process.execPath, script)).split("\n");
    assert.equal(lines.length, names.length === 2 ? 4 : 8, lines.join("\n"));
    for (const line of lines)
      assert.match(line, new RegExp(`impact-pledge needs (${names.join("|")}) or a polyfill`));
  });
}

// ---- Realms ----------------------------------------------------------------------------------------

const GLOBALS = {
  process,
  URL,
  URLSearchParams,
  AbortController,
  setTimeout,
  clearTimeout,
  crypto,
};

/**
 * Runs code as Jest does under jsdom: with the globals of another realm, and without `fetch`, `TextEncoder` and
 * `TextDecoder`.
 */
function inOldRealm(entry) {
  const globals = createContext({ ...GLOBALS });
  const missing = "[typeof Request, typeof TextEncoder, typeof TextDecoder].join()";
  assert.equal(runInContext(missing, globals), "undefined,undefined,undefined");
  const require = (file) => {
    const module = { exports: {} };
    const run = runInContext(`(module, exports, require) => {${built(file)}\n}`, globals);
    run(module, module.exports, require);
    return module.exports;
  };
  return require(`${entry}.cjs`);
}

test("CommonJS without Request, Response, TextEncoder and TextDecoder", async () => {
  const { PledgeClient, validate } = inOldRealm("index");
  const { createTestService } = inOldRealm("testing");
  const { baseUrl, fetch } = createTestService({ seed: 1 });
  const client = new PledgeClient({ apiKey: "service_sk_test_dev_unit", baseUrl, fetch });
  const { id } = await client.createPledgeTransaction(REQUEST);
  assert.equal(id, "ptran_f74hxzdglvtizih7iq4ocnqzxwqu6vjjrwgqw62poq");
  assert.equal((await client.getPledgeTransaction(id)).reference, "order-1");
  await assert.rejects(client.getPledgeTransaction("ptran_1"), { status: 404 });
  const found = [
    validate({ größe: 1 }),
    inOldRealm("validate").validate({ größe: 1 }),
    inOldRealm("form").readForm([["recipient.größe", "1"]]).issues,
  ];
  for (const issues of found)
    assert.ok(
      issues.some(({ code, path }) => code === "unknown_member" && path.at(-1).endsWith("größe")),
    );
});

const fromOutside = {
  name: "from-outside",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\.wasm\?module$/ }, () => ({ path: "wasm", namespace: "outside" }));
    onLoad({ filter: /./, namespace: "outside" }, () => ({
      contents: "export default globalThis.foreign",
    }));
  },
};

/**
 * For each entry of the package: code that imports it the way a Next.js edge route does, that is, with a
 * WebAssembly module that was compiled in another realm.
 */
const EDGE = {
  index: ({ PledgeClient }) =>
    new PledgeClient({ apiKey: "service_sk_test_x", baseUrl: "https://pledges.example.org" }),
  validate: ({ validate }) => assert.equal(validate({}).length, 3),
  form: ({ readForm }) => assert.equal(readForm([]).issues.length, 3),
  testing: async ({ createTestService }) =>
    assert.equal((await createTestService().fetch("/x")).status, 404),
};
for (const [entry, use] of Object.entries(EDGE)) {
  test(`${entry}.edge-light.js with a wasm module of another realm`, async () => {
    const { outputFiles } = await build({
      entryPoints: [join(home, `${entry}.edge-light.js`)],
      bundle: true,
      format: "iife",
      globalName: "pkg",
      write: false,
      plugins: [fromOutside],
    });
    const foreign = new WebAssembly.Module(built(`${entry}.wasm`));
    const globals = createContext({ foreign, TextEncoder, TextDecoder, URL, crypto });
    assert.equal(runInContext("foreign instanceof WebAssembly.Module", globals), false);
    runInContext(outputFiles[0].text.replace("var pkg", "globalThis.pkg"), globals);
    await use(globals.pkg);
  });
}

test("workerd, bundled by wrangler, with a test service made at the top of the module", async (t) => {
  write(
    "worker/index.mjs",
    `import * as pkg from "impact-pledge";
import { createTestService } from "impact-pledge/testing";
createTestService();
${SMOKE}
export default { fetch: async () => new Response(await smoke(pkg, { createTestService })) };\n`,
  );
  const configPath = write(
    "worker/wrangler.json",
    JSON.stringify({ name: "smoke", main: "index.mjs", compatibility_date: "2026-10-01" }),
  );
  const harness = createTestHarness({ workers: [{ configPath }] });
  t.after(() => harness.close());
  const { url } = await harness.listen();
  assert.equal(await (await fetch(url)).text(), EXPECTED);
});
