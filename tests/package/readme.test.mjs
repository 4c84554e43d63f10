/**
 * Runs every example of both READMEs and of the types, unchanged. `pages.test.mjs` runs those for a page; tests/browser and
 * tests/consumers run those of forms.md.
 */
import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { format } from "node:util";
import { REQUEST, created, hangUp, json, retrieved, serve } from "./mock-server.mjs";
import { packed } from "./packed.mjs";
import { examplesOf } from "../support/examples.mjs";

const root = join(import.meta.dirname, "..", "..");
const project = await packed();
const examples = examplesOf(join(project.folder, "node_modules", "impact-pledge", "README.md"))
  .filter(({ language }) => language === "js")
  .map(({ code }) => code);
const inNode = examples.filter((code) => !code.includes("impact-pledge/form"));

test("no other page has examples", () => {
  const pages = ["", "docs", "examples", "proofs", "tests/fixtures"].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith(".md"))
      .map((name) => join(folder, name)),
  );
  assert.deepEqual(
    pages.filter((page) => examplesOf(join(root, page)).length > 0),
    ["README.md", "docs/forms.md", "docs/npm.md"],
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
    "impact-pledge/testing",
  ])
    assert.ok(
      examples.some((code) => code.includes(`"${entry}"`)),
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

test("the examples for a server run, one after the other", async (t) => {
  const { baseUrl, seen, close } = await serve(answer);
  t.after(close);
  const env = { PLEDGE_API_KEY: "service_sk_test_x", PLEDGE_BASE_URL: baseUrl };
  const names = `Object.assign(process.env, ${JSON.stringify(env)});
    const payload = ${JSON.stringify(REQUEST)}, bytes = new TextEncoder().encode(JSON.stringify(payload)),
      order = { number: "order-1", email: "ada@example.org", trees: 1 };\n`;
  const check =
    '\nconsole.log(validate(payload).length, validateAt("/recipient/email", "ada@")[0].code, validateBytes(bytes).length, pledged.id, service.transactions().length);\n';
  const file = join(project.folder, "readme.mjs");
  writeFileSync(file, names + inNode.join("\n") + check);
  assert.equal(await run(t, file), "0 invalid_email 0 ptran_1 1\n");
  assert.deepEqual(
    seen.map(({ method }) => method),
    ["POST", "GET"],
  );
  const { firstName: _, ...recipient } = REQUEST.recipient;
  assert.deepEqual(JSON.parse(seen[0].body), { ...REQUEST, recipient });
  assert.equal(seen[0].headers["idempotency-key"], "order-1");

  const said = t.mock.method(console, "error", () => {});
  const { pledgeFor } = await import(pathToFileURL(file).href);
  const order = { number: "order-1", email: "ada@example.org", trees: 1 };
  for (const wrong of [
    { email: "ada@" },
    { number: "" },
    { number: "ü" },
    { number: "9".repeat(256) },
  ])
    assert.equal(await pledgeFor({ ...order, ...wrong }), undefined, "a retry cannot help");
  assert.deepEqual([said.mock.callCount(), seen.length], [4, 2]);
  const { PledgeClient } = await project.load("impact-pledge");
  const client = new PledgeClient({ apiKey: "service_sk_test_x", baseUrl, fetch: hangUpNow });
  await assert.rejects(pledgeFor(order, client), { code: "connection_failed" });
});

const hangUpNow = () => Promise.reject(new TypeError("fetch failed"));

test("the examples that editors show for a name print the results that their comments state", async (t) => {
  const [up, down] = [await serve(answer), await serve(hangUp)];
  t.after(() => Promise.all([up.close(), down.close()]));
  const types = ["index.d.ts", "validate.d.ts", "badge.d.ts", "testing.d.ts"]
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
    assert.equal(await run(t, file), expected.join(""), code);
  }
});
