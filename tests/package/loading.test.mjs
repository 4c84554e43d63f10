/** The packed package in the environments that every run tries; `npm run matrix` tries many more. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join, normalize } from "node:path";
import test from "node:test";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { createTestHarness } from "wrangler";
import { FLAGS } from "../../scripts/lib/browser.mjs";
import { prepareTools } from "../../scripts/lib/tools.mjs";
import { created, json, serve } from "./mock-server.mjs";
import { nodes } from "./nodes.mjs";
import { onLoopback } from "../support/loopback.mjs";
import { packed } from "./packed.mjs";

process.env.CLOUDFLARE_CF_FETCH_ENABLED ??= "false";
const tools = await prepareTools({ browser: true });
const project = await packed();

/** How each environment loads the package, and the expected result. */
const SMOKE = `async function smoke(pkg, baseUrl) {
  const request = { reference: "order-1", recipient: { email: "ada@example.org" }, pledges: [{ impact: { amount: 1, offeringId: "tree" } }] };
  const client = new pkg.PledgeClient({ apiKey: "service_sk_test_x", baseUrl });
  const { id, charge } = await client.createPledgeTransaction(request);
  const refused = await client.createPledgeTransaction({}).catch((error) => [error.name, error instanceof pkg.ValidationError, error.issues.length]);
  return JSON.stringify([pkg.validate(request).length, pkg.validate({}).map(({ code }) => code), id, charge.amount, refused]);
}`;
const EXPECTED = JSON.stringify([
  0,
  ["required", "required", "required"],
  "ptran_1",
  "0.50",
  ["ValidationError", true, 3],
]);

const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-headers": "authorization, content-type",
};

async function service(t) {
  const answer = (response, seen) =>
    seen.method === "OPTIONS"
      ? response.writeHead(204, CORS).end()
      : json(created(), { headers: CORS })(response, seen);
  const { baseUrl, close } = await serve(answer);
  t.after(close);
  return baseUrl;
}

function write(name, text) {
  const file = join(project.folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

async function output(program, args) {
  const child = spawn(program, args, { cwd: project.folder, stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (out += data));
  const [code] = await once(child, "close");
  return code === 0 ? out.trim() : `exit code ${code}: ${out}`;
}

const ESM = `import * as pkg from "impact-pledge";\n${SMOKE}\nconsole.log(await smoke(pkg, process.argv[2]));\n`;
const CJS = `const pkg = require("impact-pledge");\n${SMOKE}\nsmoke(pkg, process.argv[2]).then(console.log);\n`;

for (const { name, node } of nodes()) {
  test(`${name}: import and require`, async (t) => {
    const baseUrl = await service(t);
    assert.equal(await output(node, [write("esm.mjs", ESM), baseUrl]), EXPECTED);
    assert.equal(await output(node, [write("cjs.cjs", CJS), baseUrl]), EXPECTED);
  });
}

/** As Jest runs tests under jsdom: globals of a realm of their own, without the coders of text. */
for (const entry of ["index", "validate", "form"]) {
  test(`${entry}.cjs where TextEncoder and TextDecoder are missing`, () => {
    const exports = {};
    const globals = createContext({ process, module: { exports }, exports, URLSearchParams });
    assert.deepEqual(
      runInContext("[typeof TextEncoder, typeof TextDecoder]", globals).join(),
      "undefined,undefined",
    );
    runInContext(
      readFileSync(join(project.folder, "node_modules", "impact-pledge", `${entry}.cjs`), "utf8"),
      globals,
    );
    const { validate, readForm } = globals.module.exports;
    const issues = validate ? validate({ größe: 1 }) : readForm([["recipient.größe", "1"]]).issues;
    assert.ok(
      issues.some(({ code, path }) => code === "unknown_member" && path.at(-1).endsWith("größe")),
      JSON.stringify(issues),
    );
  });
}

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
 * As Next.js runs edge routes: the platform's module was compiled in another realm than the one
 * that it is used in.
 */
for (const entry of ["index", "validate", "form", "testing"]) {
  test(`${entry}.edge-light.js with a wasm module of another realm`, async () => {
    const home = join(project.folder, "node_modules", "impact-pledge");
    const { outputFiles } = await build({
      entryPoints: [join(home, `${entry}.edge-light.js`)],
      bundle: true,
      format: "iife",
      globalName: "pkg",
      write: false,
      plugins: [fromOutside],
    });
    const globals = createContext({
      foreign: new WebAssembly.Module(readFileSync(join(home, `${entry}.wasm`))),
      TextEncoder,
      TextDecoder,
      URL,
      crypto,
    });
    assert.equal(runInContext("foreign instanceof WebAssembly.Module", globals), false);
    runInContext(outputFiles[0].text.replace("var pkg", "globalThis.pkg"), globals);
    const { PledgeClient, createTestService, readForm, validate } = globals.pkg;
    if (createTestService) return assert.equal((await createTestService().fetch("/x")).status, 404);
    assert.equal((validate?.({}) ?? readForm([]).issues).length, 3);
    if (PledgeClient)
      assert.ok(
        new PledgeClient({ apiKey: "service_sk_test_x", baseUrl: "https://pledges.example.org" }),
      );
  });
}

test("bundled by esbuild", async (t) => {
  const outfile = join(project.folder, "bundle.mjs");
  await build({
    entryPoints: [write("bundled.mjs", ESM)],
    bundle: true,
    minify: true,
    format: "esm",
    platform: "node",
    outfile,
    logLevel: "error",
  });
  assert.equal(await output(process.execPath, [outfile, await service(t)]), EXPECTED);
});

test("workerd, through wrangler", async (t) => {
  write(
    "worker/index.mjs",
    `import * as pkg from "impact-pledge";\n${SMOKE}\nexport default { fetch: async (request) => new Response(await smoke(pkg, new URL(request.url).searchParams.get("service"))) };\n`,
  );
  const configPath = write(
    "worker/wrangler.json",
    JSON.stringify({ name: "smoke", main: "index.mjs", compatibility_date: "2026-10-01" }),
  );
  const harness = createTestHarness({ workers: [{ configPath }] });
  t.after(() => harness.close());
  const { url } = await harness.listen();
  const answer = await fetch(`${url}?service=${encodeURIComponent(await service(t))}`);
  assert.equal(await answer.text(), EXPECTED);
});

test("a page of Chromium, with a policy that allows wasm and no eval", async (t) => {
  const baseUrl = await service(t);
  const origin = await serveFiles(t, "script-src 'self' 'wasm-unsafe-eval'");
  write(
    "page.mjs",
    `import * as pkg from "/node_modules/impact-pledge/index.js";\n${SMOKE}\nconst baseUrl = new URLSearchParams(location.search).get("service");\nwindow.result = smoke(pkg, baseUrl);\nwindow.live = (() => { try { new pkg.PledgeClient({ apiKey: "service_sk_live_x", baseUrl }); return "taken"; } catch (error) { return error.code; } })();\n`,
  );
  write(
    "page.html",
    '<!doctype html><title>x</title><script type="module" src="/page.mjs"></script>',
  );
  const page = await newPage(t);
  await page.goto(`${origin}/page.html?service=${encodeURIComponent(baseUrl)}`);
  await page.waitForFunction(() => window.live !== undefined);
  assert.equal(await page.evaluate(() => window.result), EXPECTED);
  assert.equal(await page.evaluate(() => window.live), "live_key_in_browser");
});

test("a page that forbids wasm learns how to allow it", async (t) => {
  const origin = await serveFiles(t, "script-src 'self'");
  write(
    "blocked.mjs",
    'import { validate } from "/node_modules/impact-pledge/index.js";\ntry { validate({}); window.result = "valid"; } catch (error) { window.result = error.message; }\n',
  );
  write(
    "blocked.html",
    '<!doctype html><title>x</title><script type="module" src="/blocked.mjs"></script>',
  );
  const page = await newPage(t);
  await page.goto(`${origin}/blocked.html`);
  await page.waitForFunction(() => window.result !== undefined);
  assert.match(await page.evaluate(() => window.result), /'wasm-unsafe-eval'/);
});

async function newPage(t) {
  const browser = await chromium.launch({ executablePath: tools.browser, args: FLAGS });
  t.after(() => browser.close());
  return browser.newPage();
}

const TYPES = { html: "text/html", mjs: "text/javascript", js: "text/javascript" };

async function serveFiles(t, policy) {
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url, "http://x").pathname);
    try {
      const body = readFileSync(join(project.folder, path));
      response
        .writeHead(200, {
          "content-type": TYPES[path.split(".").at(-1)] ?? "application/octet-stream",
          "content-security-policy": policy,
        })
        .end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  const { origin, close } = await onLoopback(server);
  t.after(close);
  return origin;
}
