/** The recipes of `examples`: built and started by their own scripts, and tried as a shopper or a shop does. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { REQUEST } from "../shared/smoke.mjs";

const KEY = "service_sk_test_recipe";
export const ORDER = {
  reference: "order-1001",
  recipient: { email: "ada@example.org" },
  pledges: [{ impact: { amount: 3, offeringId: "tree" } }],
};
export const TIMELINE = "https://pledges.example.org/timeline/ptran_1?edit_key=secret";

/** A recipe is tried with the versions that it pins. */
function mustPin(workspace, folder = ".") {
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(join(workspace.folder, folder, "package.json"), "utf8"),
  );
  const { "impact-pledge": ours, ...others } = { ...dependencies, ...devDependencies };
  assert.equal(ours, workspace.packageVersion());
  for (const [name, version] of Object.entries(others))
    assert.equal(`${name} ${version}`, workspace.version(name));
}

/** The order that the service has seen last, with the key that came with it. */
export function recorded({ service }) {
  const { method, path, headers, body } = service.seen.at(-1);
  assert.deepEqual(
    [method, path, headers.authorization],
    ["POST", "/v2/pledge-transaction", `Bearer ${KEY}`],
  );
  return JSON.parse(body);
}

const settings = (workspace) => ({
  PLEDGE_API_KEY: KEY,
  PLEDGE_BASE_URL: workspace.service.baseUrl,
});

function nodeServer(workspace, folder) {
  return workspace.start(() => [workspace.npm, "start", "--silent"], {
    env: settings(workspace),
    folder,
  });
}

/**
 * A page whose every byte is looked at, from the first one on, and the statuses of what it posts.
 */
async function watchedPage(workspace, options) {
  const page = await workspace.openPage(options);
  /** @type {Promise<string>[]} */
  const received = [];
  /** @type {number[]} */
  const posts = [];
  page.on(
    "response",
    (response) => response.request().method() === "POST" && posts.push(response.status()),
  );
  page.on("response", (response) =>
    received.push(
      response.text().catch(() => ""),
      Promise.resolve(JSON.stringify(response.headers())),
    ),
  );
  await page.route("https://pledges.example.org/**", (route) =>
    route.fulfill({ contentType: "text/html", body: "<title>The timeline</title>" }),
  );
  const mustBeClean = async () => {
    const texts = await Promise.all(received);
    assert.ok(texts.length > 2, "the page has received something");
    for (const text of texts) assert.ok(!text.includes(KEY), "the key must never reach the page");
  };
  return { page, posts, mustBeClean };
}

/**
 * From a mistyped address to the timeline.
 * @param {import("../lib/workspace.mjs").Workspace} workspace
 * @param {string} url
 * @param {{problem: string | RegExp, arrive: (page: import("playwright-core").Page) => Promise<void>, bound?: boolean}} wish
 */
async function walk(workspace, url, { problem, arrive, bound }) {
  const { page, posts, mustBeClean } = await watchedPage(workspace);
  const before = workspace.service.seen.length;
  await page.goto(url);
  if (bound) await page.waitForFunction(() => document.querySelector("form")?.noValidate);
  await page.getByLabel("Trees").fill("3");
  await page.getByLabel("E-mail address").fill("ada@");
  await page.getByRole("button", { name: "Workspace order" }).click();
  await page.getByText(problem).first().waitFor();
  if (bound) assert.deepEqual(posts, [], "the page itself has found it");
  assert.equal(workspace.service.seen.length, before, "nothing is sent");
  await page.getByLabel("E-mail address").fill("ada@example.org");
  await page.getByRole("button", { name: "Workspace order" }).click();
  await arrive(page);
  assert.deepEqual(recorded(workspace), ORDER);
  await mustBeClean();
}

/**
 * The same where a browser without JavaScript posts the form: what HTML lets through, the server
 * refuses in the page.
 */
async function walkWithoutScript(workspace, url) {
  const { page, posts, mustBeClean } = await watchedPage(workspace, { javaScriptEnabled: false });
  const before = workspace.service.seen.length;
  const [trees, email, button] = [
    page.getByLabel("Trees"),
    page.getByLabel("E-mail address"),
    page.getByRole("button", { name: "Workspace order" }),
  ];
  await page.goto(url);
  await trees.fill("3");
  await email.fill("ada@");
  await button.click();
  assert.deepEqual(posts, [], "the browser itself refuses what is no address at all");
  await email.fill("ada..lovelace@example.org");
  await button.click();
  await page.getByText(MUST_BE).waitFor();
  assert.deepEqual(
    [posts, await email.getAttribute("aria-invalid"), await trees.inputValue()],
    [[422], "true", "3"],
  );
  assert.equal(workspace.service.seen.length, before, "nothing is sent");
  await email.fill("ada@example.org");
  await button.click();
  await atTimeline(page);
  assert.deepEqual(recorded(workspace), ORDER);
  await mustBeClean();
}

const MUST_BE = /enter an e-mail address/i;
const atTimeline = (page) => page.waitForURL(TIMELINE);

const post = (url, body) =>
  fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });

/** An order as JSON: good, wrong, and not JSON at all. */
async function mustTakeOrders(workspace, url) {
  const good = await post(url, JSON.stringify(REQUEST));
  assert.deepEqual(
    [good.status, await good.json()],
    [200, { id: "ptran_1", timelineUrl: TIMELINE }],
  );
  assert.deepEqual(recorded(workspace), REQUEST);
  const count = workspace.service.seen.length;
  const wrong = await post(url, JSON.stringify({ ...REQUEST, recipient: { email: "ada@" } }));
  const { message, issues } = await wrong.json();
  assert.deepEqual(
    [wrong.status, typeof message, issues.map(({ path }) => path)],
    [422, "string", [["recipient", "email"]]],
  );
  assert.equal((await post(url, "{")).status, 400);
  assert.equal(workspace.service.seen.length, count, "what is wrong is not sent");
}

/** The answer of a shop's server when the service can't be reached. */
async function mustSaySorry(url) {
  const { status, body } = await post(url, JSON.stringify(REQUEST)).then(async (response) => ({
    status: response.status,
    body: await response.json(),
  }));
  assert.equal(status, 502);
  assert.match(body.message, /try again/);
}

/**
 * A Worker of the service's name, which passes on to the service what comes by the recipe's
 * binding.
 * @returns flags for `wrangler dev`
 */
function bindHonoToPledges(workspace) {
  workspace.write(
    "pledges/index.js",
    `export default { fetch: (request) => fetch(new Request(${JSON.stringify(workspace.service.baseUrl)} + new URL(request.url).pathname, request)) };\n`,
  );
  workspace.write(
    "pledges/wrangler.toml",
    'name = "impact-pledge"\nmain = "index.js"\ncompatibility_date = "2026-10-01"\n',
  );
  workspace.change("wrangler.toml", (text) =>
    text.replace(/^# (?=\[\[services|binding|service =)/gm, ""),
  );
  return ["--config", "wrangler.toml", "--config", "pledges/wrangler.toml"];
}

const FIELDS = {
  reference: "order-1001",
  "recipient.email": "ada@example.org",
  "pledges.0.impact.amount": "3",
  "pledges.0.impact.offeringId": "tree",
};

/** The answer to a posted form when its fields are not to blame. */
async function mustRefuseInPage(url, { fields, status: expected, text }) {
  const response = await fetch(url, {
    method: "POST",
    headers: { accept: "text/html", origin: new URL(url).origin },
    body: new URLSearchParams(fields),
  });
  const page = await response.text();
  assert.equal(response.status, expected);
  assert.match(page, text);
  assert.doesNotMatch(
    page.match(/<main>.*<\/main>/s)?.[0] ?? page,
    /\/reference/,
    "a shopper is shown no paths",
  );
}

const UNREACHABLE = { PLEDGE_API_KEY: KEY, PLEDGE_BASE_URL: "http://127.0.0.1:9" };

/**
 * A page that is built by Vite, with the shop's server of the Node recipe behind it.
 * @returns {Promise<string>} its origin
 */
export async function startFrontEnd(workspace, name) {
  workspace.copyRecipe(name);
  workspace.copyRecipe("node", "server");
  mustPin(workspace);
  await workspace.node(workspace.npm, "run", "build", "--silent");
  const shop = await nodeServer(workspace, "server");
  return workspace.start(
    (port) => [
      workspace.npm,
      "start",
      "--silent",
      "--",
      "--host",
      "127.0.0.1",
      "--port",
      String(port),
      "--strictPort",
    ],
    { env: { SHOP_SERVER: shop } },
  );
}

const frontEnd = (name, expected) => ({
  name: `recipe-${name}`,
  version: (workspace) => workspace.version("vite"),
  run: async (workspace) => walk(workspace, await startFrontEnd(workspace, name), expected),
});

/**
 * A framework whose server takes the form itself, from pages with a script and without.
 * @param {(port: number) => string[]} [flags] for its start
 */
const fullStack = (name, framework, flags = () => []) => ({
  name: `recipe-${name}`,
  version: (workspace) => workspace.version(framework),
  async run(workspace) {
    workspace.copyRecipe(name);
    mustPin(workspace);
    await workspace.node(workspace.npm, "run", "build", "--silent");
    const start = (env) =>
      workspace.start((port) => [workspace.npm, "start", "--silent", "--", ...flags(port)], {
        env: { ...env, HOST: "127.0.0.1" },
      });
    const url = `${await start(settings(workspace))}/`;
    await walk(workspace, url, { problem: MUST_BE, arrive: atTimeline, bound: true });
    await walkWithoutScript(workspace, url);
    await mustRefuseInPage(url, {
      fields: { ...FIELDS, reference: "" },
      status: 422,
      text: /Your order was not taken/,
    });
    await mustRefuseInPage(`${await start(UNREACHABLE)}/`, {
      fields: FIELDS,
      status: 502,
      text: /did not record your order\. Please try again/,
    });
  },
});

/** @type {import("../main.mjs").Environment[]} */
export const environments = [
  frontEnd("plain-html", { problem: "This is not an e-mail address yet.", arrive: atTimeline }),
  frontEnd("react", {
    problem: MUST_BE,
    arrive: async (page) =>
      assert.equal(
        await page.getByRole("link", { name: "See what becomes of it" }).getAttribute("href"),
        TIMELINE,
      ),
  }),
  fullStack("sveltekit", "@sveltejs/kit", (port) => [
    "--host",
    "127.0.0.1",
    "--port",
    String(port),
    "--strictPort",
  ]),
  fullStack("nuxt", "nuxt"),
  fullStack("astro", "astro"),
  fullStack("react-router", "react-router"),
  {
    name: "recipe-nextjs",
    version: (workspace) => workspace.version("next"),
    async run(workspace) {
      workspace.copyRecipe("nextjs");
      mustPin(workspace);
      await workspace.node(workspace.npm, "run", "build", "--silent");
      const start = (env) =>
        workspace.start(
          (port) => [
            workspace.npm,
            "start",
            "--silent",
            "--",
            "--hostname",
            "127.0.0.1",
            "--port",
            String(port),
          ],
          { env },
        );
      const origin = await start(settings(workspace));
      await mustTakeOrders(workspace, `${origin}/api/orders`);
      await walk(workspace, origin, { problem: MUST_BE, arrive: atTimeline });
      await mustSaySorry(`${await start(UNREACHABLE)}/api/orders`);
    },
  },
  {
    name: "recipe-hono",
    version: (workspace) => workspace.version("hono"),
    async run(workspace) {
      workspace.copyRecipe("hono");
      mustPin(workspace);
      await workspace.node(workspace.npm, "run", "build", "--silent");
      const start = (env, ...flags) => {
        workspace.write(
          ".dev.vars",
          Object.entries(env)
            .map(([name, value]) => `${name}=${value}\n`)
            .join(""),
        );
        return workspace.start((port) => [
          workspace.npm,
          "start",
          "--silent",
          "--",
          "--ip",
          "127.0.0.1",
          "--port",
          String(port),
          "--inspector-port",
          "0",
          "--show-interactive-dev-session=false",
          ...flags,
        ]);
      };
      await mustTakeOrders(workspace, `${await start(settings(workspace))}/orders`);
      await mustSaySorry(`${await start(UNREACHABLE)}/orders`);
      const flags = bindHonoToPledges(workspace);
      await mustTakeOrders(
        workspace,
        `${await start({ ...settings(workspace), PLEDGE_BASE_URL: "https://pledges.invalid" }, ...flags)}/orders`,
      );
    },
  },
  {
    name: "recipe-node",
    version: () => `node ${process.versions.node}`,
    async run(workspace) {
      workspace.copyRecipe("node");
      mustPin(workspace);
      const origin = await nodeServer(workspace);
      await mustTakeOrders(workspace, `${origin}/orders`);
      await walk(workspace, origin, { problem: MUST_BE, arrive: atTimeline });
      await mustSaySorry(
        `${await workspace.start(() => [workspace.npm, "start", "--silent"], { env: UNREACHABLE })}/orders`,
      );
    },
  },
];
