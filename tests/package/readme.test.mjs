/**
 * Runs every example in the READMEs, the pages for shops and the type declarations, exactly as it is written.
 * Examples for a web page run in `pages.test.mjs`. Examples in the pages about forms run in tests/browser and
 * tests/consumers.
 */
import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { format } from "node:util";
import { REQUEST, created, hangUp, json, retrieved, serve } from "./mock-server.mjs";
import { packed } from "./packed.mjs";
import { examplesOf } from "../support/examples.mjs";
import { onLoopback } from "../support/loopback.mjs";

const root = join(import.meta.dirname, "..", "..");
const project = await packed();
const home = join(project.folder, "node_modules", "impact-pledge");
/** The pages whose examples run on a server. */
const PAGES = ["README.md", "docs/getting-started.md", "docs/npm.md", "docs/testing.md"];

/** Returns the JavaScript examples of a page. */
const scriptsOf = (page) =>
  examplesOf(join(home, page))
    .filter(({ language }) => language === "js")
    .map(({ code }) => code);
const isPledges = (code) => code.startsWith("// pledges.js");
const inNode = (page) =>
  scriptsOf(page).filter((code) => !code.includes("impact-pledge/form") && !isPledges(code));

test("no other page has examples", () => {
  const pages = ["", "docs", "examples", "pkg-templates", "tests/proofs", "tests/fixtures"].flatMap(
    (folder) =>
      readdirSync(join(root, folder))
        .filter((name) => name.endsWith(".md"))
        .map((name) => join(folder, name)),
  );
  assert.deepEqual(
    pages.filter((page) => examplesOf(join(root, page)).length > 0),
    [
      "README.md",
      "docs/forms-server.md",
      "docs/forms.md",
      "docs/getting-started.md",
      "docs/npm.md",
      "docs/other-languages.md",
      "docs/react-hook-form.md",
      "docs/testing.md",
      "pkg-templates/README.md",
    ],
  );
});

test("the example of the project's README finds what it says, and pledges", async (t) => {
  const { baseUrl, seen, close } = await serve(answer);
  t.after(close);
  const [{ code }, ...others] = examplesOf(join(root, "README.md"));
  assert.deepEqual(others, []);
  const found = [...code.matchAll(/pointer: "(.*?)", code: "(.*?)"/g)];
  assert.equal(found.length, 2);
  process.env.PLEDGE_API_KEY = "service_sk_test_x";
  const file = join(project.folder, "project-readme.mjs");
  const shown = code.replace(
    /^validate\(.*\);$/m,
    (call) => `console.log(JSON.stringify(${call.slice(0, -1)}));`,
  );
  writeFileSync(
    file,
    `${shown.replaceAll("https://pledges.example.org", baseUrl)}\nconsole.log(timelineUrl);\n`,
  );
  const [issues, timelineUrl] = (await run(t, file)).split("\n");
  assert.deepEqual(
    JSON.parse(issues).map(({ pointer, code }) => [pointer, code]),
    found.map(([, pointer, code]) => [pointer, code]),
  );
  assert.equal(timelineUrl, created().timelineUrl);
  assert.deepEqual(
    seen.map(({ method }) => method),
    ["POST", "GET"],
  );
});

test("the README has examples of every entry", () => {
  for (const entry of [
    "impact-pledge",
    "impact-pledge/validate",
    "impact-pledge/form",
    "impact-pledge/badge",
    "impact-pledge/choice",
    "impact-pledge/orders",
    "impact-pledge/testing",
  ])
    assert.ok(
      scriptsOf("README.md").some((code) => code.includes(`"${entry}"`)),
      entry,
    );
});

const answer = (response, { method, path }) => {
  if (path.endsWith("ptran_unknown"))
    return json({ error: "Pledge transaction not found" }, { status: 404 })(response);
  return json(method === "POST" ? created() : retrieved())(response);
};

/** Runs a script, and returns its output. */
async function run(t, file) {
  const lines = [];
  const log = t.mock.method(console, "log", (...all) => lines.push(`${format(...all)}\n`));
  try {
    await import(pathToFileURL(file).href);
  } finally {
    log.mock.restore();
  }
  return lines.join("");
}

/**
 * Returns a pattern that matches a line of an example's output. `text` is the line as the example's comment
 * states it, with `…` for any text.
 */
const lineOf = (text) =>
  new RegExp(`^${text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("…", ".*")}$`);

const [pledges] = scriptsOf("docs/getting-started.md").filter(isPledges);

for (const page of PAGES)
  test(`${page}: the examples for a server run in sequence, and print what they say`, async (t) => {
    const { createTestService } = await project.load("impact-pledge/testing");
    const service = createTestService();
    const { origin, close } = await onLoopback(createServer(service.handler));
    t.after(close);
    const env = { PLEDGE_API_KEY: "service_sk_test_dev_unit", PLEDGE_BASE_URL: origin };
    const payload = page === "docs/npm.md" ? { ...REQUEST, reference: "order-1001" } : undefined;
    const given = `Object.assign(process.env, ${JSON.stringify(env)});
      ${payload ? `const payload = ${JSON.stringify(payload)};` : ""}\n`;
    const code = inNode(page).join("\n").replace('"./pledges.js"', '"./pledges.mjs"');
    const file = join(project.folder, `${page.replaceAll(/\W/g, "-")}.mjs`);
    writeFileSync(join(project.folder, "pledges.mjs"), pledges);
    writeFileSync(file, given + code);
    const lines = (await run(t, file)).trimEnd().split("\n");
    const stated = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, text]) => text);
    assert.equal(lines.length, stated.length, `${lines}`);
    for (const [index, text] of stated.entries()) assert.match(lines[index], lineOf(text));
    const keys = service.requests().map(({ headers }) => headers["idempotency-key"]);
    if (page !== "docs/testing.md")
      assert.deepEqual(keys, ["web:shop.example.org:1001", undefined]);
  });

test("the webhook's function logs an error that a retry cannot help, and throws any other", async (t) => {
  const { createTestService } = await project.load("impact-pledge/testing");
  const { PledgeClient } = await project.load("impact-pledge");
  const file = join(project.folder, "pledges.mjs");
  writeFileSync(file, pledges);
  const { pledgeFor } = await import(pathToFileURL(file).href);
  const service = createTestService();
  const { baseUrl, fetch } = service;
  const options = { apiKey: "service_sk_test_dev_unit", baseUrl };
  const said = t.mock.method(console, "error", () => {});
  const order = { id: "1", number: "山鳩-101", email: "ada@example.org", trees: 1 };
  const client = new PledgeClient({ ...options, fetch });
  const { id } = await pledgeFor(order, client);
  assert.match(id, /^ptran_/);
  for (const [wrong, problem] of [
    [{ email: "ada@" }, /^not pledged: .*`\/recipient\/email`/],
    [{ trees: 2 }, /^pledged before, and changed since/],
    [{ id: "山鳩-101" }, /^not pledged: `idempotencyKey` .*`encodeURIComponent`/],
    [{ id: "9".repeat(256) }, /^not pledged: `idempotencyKey`/],
  ]) {
    assert.equal(await pledgeFor({ ...order, ...wrong }, client), undefined, "a retry cannot help");
    const logged = JSON.parse(said.mock.calls.at(-1).arguments[0]);
    assert.equal(logged.order, order.number);
    assert.match(logged.problem, problem);
  }
  assert.deepEqual([said.mock.callCount(), service.transactions().length], [4, 1]);
  const cut = new PledgeClient({ ...options, fetch: hangUpNow, maxRetries: 0 });
  await assert.rejects(pledgeFor(order, cut), { code: "connection_failed" });
});

const hangUpNow = () => Promise.reject(new TypeError("fetch failed"));

test("the examples that editors show for a name print the results that their comments state", async (t) => {
  const [up, down] = [await serve(answer), await serve(hangUp)];
  t.after(() => Promise.all([up.close(), down.close()]));
  const types = ["index.d.ts", "validate.d.ts", "badge.d.ts", "orders.d.ts", "testing.d.ts"]
    .map((name) => readFileSync(join(home, name), "utf8"))
    .join("\n");
  const hovers = [...types.matchAll(/^ *\* @example\n *\* ```js\n([\s\S]*?)^ *\* ```$/gm)].map(
    ([, code]) => code.replaceAll(/^ *\* ?/gm, ""),
  );
  assert.ok(hovers.length >= 19, `${hovers.length} examples`);
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
    assert.equal(await run(t, file), expected.join(""), code);
  }
});
