/** `impact-pledge/validate` in Chromium: a plain module, the rows of the rules, and pages whose policy forbids wasm. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { FLAGS } from "../../scripts/lib/browser.mjs";
import { ready } from "../../scripts/lib/ready.mjs";

const root = join(import.meta.dirname, "..", "..");
const POLICIES = { "/allowed": "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'", "/forbidden": "default-src 'none'; script-src 'self'" };
const PAGE = '<!doctype html><title>validate</title><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>';
const SCRIPTS = { "/page.js": 'import * as rules from "/validate.js";\nglobalThis.rules = rules;\n', "/validate.js": readFileSync(join(root, "pkg", "validate.js")), "/nested.mjs": readFileSync(join(import.meta.dirname, "nested.mjs")), "/bench/data.mjs": readFileSync(join(root, "bench", "data.mjs")) };

const rows = readdirSync(join(root, "tests/fixtures/validation")).flatMap((file) => JSON.parse(readFileSync(join(root, "tests/fixtures/validation", file), "utf8")).rows);

let server, browser, origin;

before(async () => {
  const { browser: executablePath } = await ready({ browser: true });
  browser = await chromium.launch({ executablePath, args: FLAGS });
  server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${server.address().port}`;
});

after(async () => {
  await browser?.close();
  server?.close();
});

function answer({ url }, response) {
  if (url in POLICIES) return response.writeHead(200, { "content-type": "text/html", "content-security-policy": POLICIES[url] }).end(PAGE);
  if (url in SCRIPTS) return response.writeHead(200, { "content-type": "text/javascript" }).end(SCRIPTS[url]);
  return response.writeHead(404).end();
}

async function open(path) {
  const page = await browser.newPage();
  await page.goto(origin + path);
  await page.waitForFunction("globalThis.rules !== undefined");
  return page;
}

test("every row, as bytes and as a value", async () => {
  const page = await open("/allowed");
  // As text: what carries values to the page would lose members named `__proto__`.
  const wrong = await page.evaluate((text) => {
    const rows = JSON.parse(text);
    const short = (issues) => JSON.stringify(issues.map(({ path, code }) => ({ path, code })));
    const bytesOf = ({ hex, json, value }) => (hex === undefined ? new TextEncoder().encode(json ?? JSON.stringify(value)) : Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16)));
    const valueOf = (row) => JSON.parse(new TextDecoder().decode(bytesOf(row)));
    const isWrong = (row) => {
      const expected = JSON.stringify(row.issues.map(({ path, code }) => ({ path, code })));
      const asBytes = short(globalThis.rules.validateBytes(bytesOf(row))) === expected;
      return !asBytes || (row.only !== "bytes" && short(globalThis.rules.validate(valueOf(row))) !== expected);
    };
    return rows.filter(isWrong).map(({ name }) => name);
  }, JSON.stringify(rows));
  assert.deepEqual(wrong, []);
  assert.ok(rows.length > 900);
  await page.close();
});

test("validations in the middle of others", async () => {
  const page = await open("/allowed");
  const { wrong, inner, invalid } = await page.evaluate(async () => (await import("/nested.mjs")).nestedCalls(globalThis.rules, { seed: 20261121, count: 500 }));
  assert.deepEqual(wrong, []);
  assert.ok(inner > 500 && invalid > 250, `${inner} inner ones, ${invalid} invalid: too few to prove anything`);
  await page.close();
});

test("a policy that forbids wasm is named, and how to allow it", async () => {
  const page = await open("/forbidden");
  const message = await page.evaluate(() => {
    try {
      return `no error, but ${globalThis.rules.validate({}).length} issues`;
    } catch (error) {
      return error.message;
    }
  });
  assert.match(message, /WebAssembly: allow 'wasm-unsafe-eval' in script-src, or import impact-pledge\/validate\/js/);
  const ahead = await page.evaluate(() => globalThis.rules.ready().catch((error) => error.message));
  assert.match(ahead, /'wasm-unsafe-eval'/);
  await page.close();
});
