/** Every example of the package's README and of its types, run as it is written. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import test from "node:test";
import { chromium } from "playwright-core";
import { FLAGS } from "../../scripts/lib/browser.mjs";
import { prepareTools } from "../../scripts/lib/tools.mjs";
import { onLoopback } from "../support/loopback.mjs";
import { REQUEST, created, hangUp, json, retrieved, serve } from "./mock-server.mjs";
import { packed } from "./packed.mjs";

const tools = await prepareTools({ browser: true });
const project = await packed();
const readme = readFileSync(
  join(project.folder, "node_modules", "impact-pledge", "README.md"),
  "utf8",
);
const examples = [...readme.matchAll(/^```js\n([\s\S]*?)^```/gm)].map(([, code]) => code);
const inNode = examples.filter((code) => !code.includes("impact-pledge/form"));
const inBrowser = examples.filter((code) => code.includes("impact-pledge/form"));

test("the README has examples of every entry", () => {
  for (const entry of [
    "impact-pledge",
    "impact-pledge/validate",
    "impact-pledge/form",
    "impact-pledge/testing",
  ])
    assert.ok(
      examples.some((code) => code.includes(`"${entry}"`)),
      entry,
    );
  assert.equal(inBrowser.length, 1);
});

const answer = (response, { method, path }) => {
  if (path.endsWith("ptran_unknown"))
    return json({ error: "Pledge transaction not found" }, { status: 404 })(response);
  return json(method === "POST" ? created() : retrieved())(response);
};

/** The output of a script. */
async function run(file) {
  const child = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (out += data));
  await once(child, "close");
  return out;
}

test("the examples for a server run, one behind the other", async (t) => {
  const { baseUrl, seen, close } = await serve(answer);
  t.after(close);
  const names = `const payload = ${JSON.stringify(REQUEST)}, bytes = new TextEncoder().encode(JSON.stringify(payload)), apiKey = "service_sk_test_x", orderId = "order-1";\n`;
  const code = inNode.join("\n").replaceAll("https://pledges.example.org", baseUrl);
  const check =
    '\nconsole.log(validate(payload).length, validateAt("/recipient/email", "ada@")[0].code, validateBytes(bytes).length, id, transaction.reference, service.transactions().length);\n';
  const file = join(project.folder, "readme.mjs");
  writeFileSync(file, names + code + check);
  assert.equal(await run(file), "no such transaction\n0 invalid_email 0 ptran_1 order-1 1\n");
  assert.deepEqual(
    seen.map(({ method }) => method),
    ["POST", "GET", "GET"],
  );
  assert.equal(seen[0].headers["idempotency-key"], "order-1");
});

test("the examples that editors show beside a name print what stands behind them", async (t) => {
  const [up, down] = [await serve(answer), await serve(hangUp)];
  t.after(() => Promise.all([up.close(), down.close()]));
  const types = ["index.d.ts", "validate.d.ts", "testing.d.ts"]
    .map((name) =>
      readFileSync(join(project.folder, "node_modules", "impact-pledge", name), "utf8"),
    )
    .join("\n");
  const hovers = [...types.matchAll(/^ *\* @example\n *\* ```js\n([\s\S]*?)^ *\* ```$/gm)].map(
    ([, code]) => code.replaceAll(/^ *\* ?/gm, ""),
  );
  assert.ok(hovers.length >= 17, `${hovers.length} examples`);
  assert.equal(hovers.length, types.split("* @example\n").length - 1);
  const given = (code) => `import * as given from "impact-pledge";
    const payload = ${JSON.stringify(REQUEST)}, apiKey = "service_sk_test_x", orderId = "order-1";
    Object.assign(process.env, { PLEDGE_API_KEY: apiKey, PLEDGE_BASE_URL: "${up.baseUrl}" });
    ${code.includes("const client =") ? "" : `const client = new given.PledgeClient({ apiKey, baseUrl: "${code.includes("ConnectionError") ? down.baseUrl : up.baseUrl}" });`}\n`;
  for (const [index, code] of hovers.entries()) {
    const file = join(project.folder, `hover-${index}.mjs`);
    writeFileSync(file, given(code) + code.replaceAll("https://pledges.example.org", up.baseUrl));
    const expected = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(
      ([, text]) => `${text}\n`,
    );
    assert.ok(expected.length > 0, code);
    assert.equal(await run(file), expected.join(""), code);
  }
});

const FORM = `<form><input name="reference" value="order-1"><input name="recipient.email" value="ada@example.org">
<input name="pledges.0.impact.amount" value="1"><input name="pledges.0.impact.offeringId" value="tree"><button>Send</button></form>`;

test("the example for a page runs in Chromium, and gives the payload of the form", async (t) => {
  const code = inBrowser[0].replace('"impact-pledge/form"', '"/form.js"');
  const files = {
    "/": [
      "text/html",
      `<!doctype html><title>x</title>${FORM}<script type="module" src="/example.js"></script>`,
    ],
    "/example.js": [
      "text/javascript",
      `const send = (payload) => { window.sent = payload; };\n${code}\nwindow.bound = true;\n`,
    ],
    "/form.js": [
      "text/javascript",
      readFileSync(join(project.folder, "node_modules", "impact-pledge", "form.js"), "utf8"),
    ],
  };
  const server = createServer(({ url }, response) => {
    const [type, body] = files[url] ?? ["text/plain", ""];
    response.writeHead(200, { "content-type": type }).end(body);
  });
  const { origin, close } = await onLoopback(server);
  t.after(close);
  const browser = await chromium.launch({ executablePath: tools.browser, args: FLAGS });
  t.after(() => browser.close());
  const page = await browser.newPage();
  await page.goto(`${origin}/`);
  await page.waitForFunction(() => window.bound);
  await page.click("button");
  await page.waitForFunction(() => window.sent);
  const sent = await page.evaluate(() => window.sent);
  assert.deepEqual(sent, {
    reference: "order-1",
    recipient: { email: "ada@example.org" },
    pledges: [{ impact: { amount: 1, offeringId: "tree" } }],
  });
});
