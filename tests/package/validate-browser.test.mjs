/** `impact-pledge/validate` and `impact-pledge/validate/js` in Chromium: plain modules, the rows of the rules, and pages whose policy forbids wasm. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { FLAGS } from "../../scripts/lib/browser.mjs";
import { prepareTools } from "../../scripts/lib/tools.mjs";

const root = join(import.meta.dirname, "..", "..");
const FORBIDDEN = "default-src 'none'; script-src 'self'",
  ALLOWED = `${FORBIDDEN} 'wasm-unsafe-eval'`;
/** The policy of each page, and the entry that it imports. */
const PAGES = {
  "/allowed": [ALLOWED, "/validate.js"],
  "/forbidden": [FORBIDDEN, "/validate.js"],
  "/plain": [FORBIDDEN, "/validate/js.js"],
};
const pageAt = (path) =>
  `<!doctype html><title>validate</title><script type="module" src="${path}.js"></script>`;
const scriptOf = (entry) => `import * as rules from "${entry}";
  const violations = [];
  addEventListener("securitypolicyviolation", ({ effectiveDirective }) => violations.push(effectiveDirective));
  Object.assign(globalThis, { rules, violations });`;
const built = (path) => [path, readFileSync(join(root, "pkg", path))];
const SCRIPTS = {
  ...Object.fromEntries(
    Object.entries(PAGES).map(([path, [, entry]]) => [`${path}.js`, scriptOf(entry)]),
  ),
  ...Object.fromEntries(["/validate.js", "/validate/js.js"].map(built)),
  "/nested.mjs": readFileSync(join(import.meta.dirname, "nested.mjs")),
  "/proofs/bench/data.mjs": readFileSync(join(root, "proofs", "bench", "data.mjs")),
};

const rows = readdirSync(join(root, "tests/fixtures/validation")).flatMap(
  (file) => JSON.parse(readFileSync(join(root, "tests/fixtures/validation", file), "utf8")).rows,
);

let server, browser, origin;

before(async () => {
  const { browser: executablePath } = await prepareTools({ browser: true });
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
  if (url in PAGES)
    return response
      .writeHead(200, { "content-type": "text/html", "content-security-policy": PAGES[url][0] })
      .end(pageAt(url));
  if (url in SCRIPTS)
    return response.writeHead(200, { "content-type": "text/javascript" }).end(SCRIPTS[url]);
  return response.writeHead(404).end();
}

async function open(path) {
  const page = await browser.newPage();
  await page.goto(origin + path);
  await page.waitForFunction("globalThis.rules !== undefined");
  return page;
}

/** The page's violations of its policy. */
const violations = (page) =>
  page.evaluate(
    () => new Promise((resolve) => setTimeout(() => resolve(globalThis.violations), 100)),
  );

for (const path of ["/allowed", "/plain"])
  test(`every row, as bytes and as a value, at ${path}`, async () => {
    const page = await open(path);
    // As text: what carries values to the page would lose members named `__proto__`.
    const wrong = await page.evaluate((text) => {
      const rows = JSON.parse(text);
      const short = (issues) => JSON.stringify(issues.map(({ path, code }) => ({ path, code })));
      const bytesOf = ({ hex, json, value }) =>
        hex === undefined
          ? new TextEncoder().encode(json ?? JSON.stringify(value))
          : Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));
      const rowValue = (row) => JSON.parse(new TextDecoder().decode(bytesOf(row)));
      const isWrong = (row) => {
        const expected = JSON.stringify(row.issues.map(({ path, code }) => ({ path, code })));
        const asBytes = short(globalThis.rules.validateBytes(bytesOf(row))) === expected;
        return (
          !asBytes ||
          (row.only !== "bytes" && short(globalThis.rules.validate(rowValue(row))) !== expected)
        );
      };
      return rows.filter(isWrong).map(({ name }) => name);
    }, JSON.stringify(rows));
    assert.deepEqual([wrong, await violations(page)], [[], []]);
    assert.ok(rows.length > 900);
    await page.close();
  });

for (const path of ["/allowed", "/plain"])
  test(`validations in the middle of others, at ${path}`, async () => {
    const page = await open(path);
    const { wrong, inner, invalid } = await page.evaluate(async () =>
      (await import("/nested.mjs")).nestedCalls(globalThis.rules, { seed: 20261121, count: 500 }),
    );
    assert.deepEqual(wrong, []);
    assert.ok(
      inner > 500 && invalid > 250,
      `${inner} inner ones, ${invalid} invalid: too few to prove anything`,
    );
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
  assert.match(
    message,
    /WebAssembly; allow 'wasm-unsafe-eval' in script-src, or import impact-pledge\/validate\/js/,
  );
  const ahead = await page.evaluate(() => globalThis.rules.ready().catch((error) => error.message));
  assert.match(ahead, /'wasm-unsafe-eval'/);
  assert.deepEqual(await violations(page), ["script-src", "script-src"]);
  await page.close();
});
