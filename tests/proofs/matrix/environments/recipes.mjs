/**
 * Tests the recipes (example shops) of `examples`. Each recipe is built and started by its own scripts. Then
 * the tests use it as a shopper or a shop does.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { REQUEST } from "../shared/smoke.mjs";

const KEY = "service_sk_test_recipe";
const TIMELINE = "https://pledges.example.org/timeline/ptran_1?edit_key=secret";
const ORDER = {
  reference: "order-1001",
  recipient: { email: "ada@example.org" },
  pledges: [{ impact: { amount: 3, offeringId: "tree" } }],
};
const FIELDS = {
  reference: "order-1001",
  "recipient.email": "ada@example.org",
  "pledges.0.impact.amount": "3",
  "pledges.0.impact.offeringId": "tree",
};
const MUST_BE = "enter an e-mail address";
/**
 * Returns a selector that finds a field by its label. A search by accessible name finds nothing in Firefox.
 */
const field = (label) =>
  `::-p-xpath(//input[@id = //label[contains(., "${label}")]/@for] | //label[contains(., "${label}")]//input)`;
const [TREES, EMAIL] = ["Trees", "E-mail address"].map(field);
const BUTTON = '::-p-xpath(//button[contains(., "Place order")])';
const LINK = '::-p-xpath(//a[contains(., "See your page")])';
const UNREACHABLE = { PLEDGE_API_KEY: KEY, PLEDGE_BASE_URL: "http://127.0.0.1:9" };
export const SERVE = "npm start --silent";

const settings = ({ service }) => ({ PLEDGE_API_KEY: KEY, PLEDGE_BASE_URL: service.baseUrl });

/** Checks that a recipe's package.json pins exactly the versions that it is tested with. */
export function mustPin(workspace, { usesPackage = true } = {}) {
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(join(workspace.folder, "package.json"), "utf8"),
  );
  const { "impact-pledge": ours, ...others } = { ...dependencies, ...devDependencies };
  const built = join(workspace.tools.root, "pkg", "package.json");
  const { version } = JSON.parse(readFileSync(built, "utf8"));
  assert.equal(ours, usesPackage ? version : undefined);
  for (const [name, version] of Object.entries(others))
    assert.equal(`${name} ${version}`, workspace.version(name));
}

/** Returns the last order that the service received, with its idempotency key. */
function recorded({ service }) {
  const { method, path, headers, body } = service.seen.at(-1);
  assert.deepEqual(
    [method, path, headers.authorization],
    ["POST", "/v2/pledge-transaction", `Bearer ${KEY}`],
  );
  return JSON.parse(body);
}

// ---- As a shopper ------------------------------------------------------------------------------

/**
 * Opens a page of a shop. Records everything that the page loads, and the statuses of the answers to its posts.
 * `policy` is added to the page as its Content-Security-Policy. With {@link NO_SCRIPT}, scripts are not even
 * loaded.
 */
async function openShop(workspace, url, policy) {
  const page = await workspace.openPage();
  const received = [];
  const posts = [];
  page.on("response", (response) => {
    received.push(
      response.text().catch(() => ""),
      JSON.stringify(response.headers()),
    );
    if (response.request().method() === "POST") posts.push(response.status());
  });
  await page.setRequestInterception(true);
  page.on("request", (request) => {
    const isFirst = request.isNavigationRequest() && request.method() === "GET";
    if (request.url() === TIMELINE)
      return request.respond({ contentType: "text/html", body: "<title>The timeline</title>" });
    if (policy && isFirst) return underPolicy(request, policy);
    if (policy === NO_SCRIPT && !request.isNavigationRequest()) return request.abort();
    return request.continue();
  });
  const before = workspace.service.seen.length;
  await page.goto(url);
  return {
    page,
    posts,
    see: (text) =>
      page.waitForFunction(
        // biome-ignore lint/performance/useDomNodeTextContent: what a shopper sees, not what scripts hold
        (source) => new RegExp(source, "i").test(document.body.innerText),
        {},
        text,
      ),
    mustHaveSentNothing: () =>
      assert.equal(workspace.service.seen.length, before, "nothing is sent"),
    async mustHaveOrdered() {
      assert.deepEqual(recorded(workspace), ORDER);
      const texts = await Promise.all(received);
      assert.ok(texts.length > 2, "the page has received something");
      for (const text of texts) assert.ok(!text.includes(KEY), "the key must never reach the page");
    },
  };
}

const NO_SCRIPT = "script-src 'none'";
const NO_WASM = "script-src 'self'";

/**
 * Answers the browser's request for a page, with the policy added as a header. Fetches the page itself,
 * because neither puppeteer nor Firefox can add a header to an answer that passes through.
 */
async function underPolicy(request, policy) {
  const response = await fetch(request.url());
  await request.respond({
    contentType: "text/html",
    headers: { "content-security-policy": policy },
    body: await response.text(),
  });
}

/**
 * Returns a field's validity, the error text that assistive technology reads for it, and whether it has the
 * focus.
 */
const statusOf = (page, field) =>
  page.$eval(field, (input) => [
    input.getAttribute("aria-invalid"),
    document.getElementById(input.getAttribute("aria-describedby"))?.textContent.trim() ?? "",
    document.activeElement === input,
  ]);

const atTimeline = (page) => page.waitForFunction((url) => location.href === url, {}, TIMELINE);

const atBadge = (page, text) =>
  page.waitForFunction(
    (text) => document.querySelector("impact-badge")?.shadowRoot?.textContent === text,
    {},
    text,
  );

async function atLink(page) {
  const link = await page.waitForSelector(LINK);
  assert.equal(await link.evaluate((each) => each.getAttribute("href")), TIMELINE);
}

/**
 * Uses the shop as a shopper does: enters a wrong address, corrects it, places the order, and opens the
 * timeline. `bound`: whether the package validates the form in the page; `badge`: the text that the badge
 * shows for 3 trees.
 */
async function walk(
  workspace,
  url,
  { problem = MUST_BE, arrive = atTimeline, bound = false, badge = "", policy = "" } = {},
) {
  const { page, posts, see, ...shop } = await openShop(workspace, url, policy);
  if (bound) await page.waitForFunction(() => document.querySelector("form")?.noValidate);
  await page.locator(TREES).fill("3");
  if (badge) await atBadge(page, badge);
  await page.locator(EMAIL).fill("ada@");
  await page.locator(BUTTON).click();
  await see(problem);
  if (bound) {
    assert.deepEqual(posts, [], "the page itself has found it");
    const [invalid, why, focused] = await statusOf(page, EMAIL);
    assert.deepEqual([invalid, focused], ["true", true]);
    assert.match(why, new RegExp(problem, "i"));
  }
  shop.mustHaveSentNothing();
  await page.locator(EMAIL).fill("ada@example.org");
  if (bound) assert.deepEqual((await statusOf(page, EMAIL)).slice(0, 2), [null, ""]);
  await page.locator(BUTTON).click();
  await arrive(page);
  await shop.mustHaveOrdered();
}

/**
 * Uses the shop without scripts, so that the browser handles the form. The server must show an error for an
 * invalid value that HTML accepts.
 */
async function walkWithoutScript(workspace, url) {
  const { page, posts, see, ...shop } = await openShop(workspace, url, NO_SCRIPT);
  assert.equal(await page.$eval("form", ({ noValidate }) => noValidate), false);
  await page.locator(TREES).fill("3");
  await page.locator(EMAIL).fill("ada@");
  await page.locator(BUTTON).click();
  assert.deepEqual(posts, [], "the browser itself refuses what is no address at all");
  await page.locator(EMAIL).fill("ada..lovelace@example.org");
  await page.locator(BUTTON).click();
  await see(MUST_BE);
  const trees = await page.$eval(TREES, ({ value }) => value);
  assert.deepEqual([posts, (await statusOf(page, EMAIL))[0], trees], [[422], "true", "3"]);
  shop.mustHaveSentNothing();
  await page.locator(EMAIL).fill("ada@example.org");
  await page.locator(BUTTON).click();
  await atTimeline(page);
  await shop.mustHaveOrdered();
}

// ---- As a shop ---------------------------------------------------------------------------------

const post = (url, body, headers = {}) =>
  fetch(url, { method: "POST", headers: { "content-type": "application/json", ...headers }, body });

const pledge = (amount, offeringId) => ({ impact: { amount, offeringId } });
/** A manipulated order that no page of the shop sends. The server must pledge only what the shop offers. */
const FORGED = {
  ...ORDER,
  reference: "another",
  pledges: [pledge(3, "whale"), pledge(9, "tree")],
  trigger: { phrase: "paid" },
  notifications: ["Email"],
};
const AMOUNT = ["pledges", 0, "impact", "amount"];
/** Invalid orders, each with the path of the invalid value. The server's answer must name this path. */
const REFUSED = [
  [{ ...ORDER, recipient: { email: "ada@" } }, ["recipient", "email"]],
  [{ ...ORDER, pledges: [pledge(101, "tree")] }, AMOUNT],
  [{ ...ORDER, pledges: [pledge(1.5, "tree")] }, AMOUNT],
  [{ ...ORDER, pledges: [pledge(1e300, "tree")] }, AMOUNT],
];

/** Sends orders as JSON: valid, forged, invalid, and not JSON at all. */
async function mustTakeOrders(workspace, url) {
  for (const order of [REQUEST, FORGED]) {
    const good = await post(url, JSON.stringify(order));
    assert.equal(good.status, 200);
    assert.deepEqual(await good.json(), { id: "ptran_1", timelineUrl: TIMELINE });
    const { amount } = order.pledges[0].impact;
    assert.deepEqual(recorded(workspace), { ...ORDER, pledges: [pledge(amount, "tree")] });
  }
  const count = workspace.service.seen.length;
  for (const [order, path] of REFUSED) {
    const wrong = await post(url, JSON.stringify(order));
    const { message, issues } = await wrong.json();
    assert.deepEqual(
      [wrong.status, typeof message, issues.map((issue) => issue.path)],
      [422, "string", [path]],
    );
  }
  assert.equal((await post(url, "{")).status, 400);
  const large = await post(url, JSON.stringify({ ...ORDER, reference: "x".repeat(100_000) }));
  assert.match(String(large.status), /^(400|413)$/);
  assert.equal(workspace.service.seen.length, count, "what is wrong is not sent");
}

const OTHER_SITE = [{ origin: "https://evil.example" }, { origin: "null" }];
const OTHER_SITE_BY_NAME = { "sec-fetch-site": "cross-site", origin: "https://evil.example" };

/**
 * Posts orders with the headers that a browser sends from a page of another site. The server must refuse
 * them.
 */
async function mustRefuseOtherSites(workspace, url) {
  const count = workspace.service.seen.length;
  for (const headers of [...OTHER_SITE, OTHER_SITE_BY_NAME]) {
    const body = new URLSearchParams(FIELDS);
    const { status } = await fetch(url, { method: "POST", headers, body, redirect: "manual" });
    assert.ok(status >= 400 && status < 500, `${status}: ${JSON.stringify(headers)}`);
  }
  assert.equal(workspace.service.seen.length, count, "nothing is sent");
}

/** Sends the beginning of a body and then nothing more. The server must close the connection. */
async function mustEndStalled(origin, path) {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  socket.write(`POST ${path} HTTP/1.1\r\nhost: shop.example\r\ncontent-length: 1000\r\n\r\nx`);
  const closed = text(socket).then(() => true);
  assert.ok(await Promise.race([closed, sleep(15_000, false, { ref: false })]), "it is ended");
}

/**
 * Checks what a shop's server answers if the service can't be reached: status 502, and a text that asks to try
 * again.
 */
async function mustSaySorry(url) {
  const response = await post(url, JSON.stringify(REQUEST));
  assert.equal(response.status, 502);
  assert.match((await response.json()).message, /try again/);
}

/**
 * Posts a form, and checks that the answer is a page with an error. The error concerns no field, so the page
 * must not show the path of a value.
 */
async function mustRefuseInPage(url, { fields, status, text }) {
  const response = await fetch(url, {
    method: "POST",
    headers: { accept: "text/html", origin: new URL(url).origin },
    body: new URLSearchParams(fields),
  });
  const page = await response.text();
  assert.equal(response.status, status);
  assert.match(page, text);
  const shown = page.match(/<main>.*<\/main>/s)?.[0] ?? page;
  assert.doesNotMatch(shown, /\/reference/, "a shopper is shown no paths");
}

/**
 * Posts a form with forged values: the server must record the shop's own offer instead. Then posts a form
 * that is too large: the server must refuse it.
 */
async function mustTakeForms(workspace, url) {
  const headers = { accept: "text/html", origin: new URL(url).origin };
  const send = (body) => fetch(url, { method: "POST", headers, body, redirect: "manual" });
  const forged = { ...FIELDS, reference: "another", "pledges.0.impact.offeringId": "whale" };
  const { status } = await send(new URLSearchParams({ ...forged, notifications: "Email" }));
  assert.equal(status, 303);
  assert.deepEqual(recorded(workspace), ORDER);
  const count = workspace.service.seen.length;
  const large = await send(new URLSearchParams({ ...FIELDS, reference: "x".repeat(100_000) }));
  assert.match(String(large.status), /^(400|413)$/);
  assert.equal(workspace.service.seen.length, count, "nothing is sent");
}

/**
 * Starts a Worker that has the service's name, so that the recipe's service binding finds it. It forwards all
 * requests to the service.
 * @returns flags for `wrangler dev`
 */
function bindHonoToPledges(workspace) {
  const address = JSON.stringify(workspace.service.baseUrl);
  workspace.write(
    "pledges/index.js",
    `export default { fetch: (request) => fetch(new Request(${address} + new URL(request.url).pathname, request)) };\n`,
  );
  workspace.write(
    "pledges/wrangler.toml",
    'name = "impact-pledge"\nmain = "index.js"\ncompatibility_date = "2026-10-01"\n',
  );
  workspace.change("wrangler.toml", (text) =>
    text.replace(/^# (?=\[\[services|binding|service =)/gm, ""),
  );
  return "--config wrangler.toml --config pledges/wrangler.toml";
}

// ---- The recipes -------------------------------------------------------------------------------

/** Copies a recipe, and builds it with its own script. */
async function build(workspace, name) {
  workspace.copyRecipe(name);
  mustPin(workspace);
  await workspace.node("npm run build --silent");
}

/**
 * Starts a recipe whose page is built by Vite. Also starts the Node recipe, as the server behind this page.
 */
export async function startFrontEnd(workspace, name) {
  await build(workspace, name);
  workspace.copyRecipe("node", "server");
  const shop = await workspace.start(SERVE, { env: settings(workspace), folder: "server" });
  return workspace.start(`${SERVE} -- --host 127.0.0.1 --port PORT --strictPort`, {
    env: { SHOP_SERVER: shop },
  });
}

const frontEnd = (name, wish) => ({
  name: `recipe-${name}`,
  version: (workspace) => workspace.version("vite"),
  run: async (workspace) => walk(workspace, await startFrontEnd(workspace, name), wish),
});

/**
 * Returns the environment that tests a recipe whose framework has its own server. Uses the recipe's pages with
 * and without scripts.
 * @param {string} [flags] flags for the command that starts the server
 */
const fullStack = (name, framework, flags = "") => ({
  name: `recipe-${name}`,
  version: (workspace) => workspace.version(framework),
  async run(workspace) {
    await build(workspace, name);
    const start = (env) => workspace.start(SERVE + flags, { env: { ...env, HOST: "127.0.0.1" } });
    const url = `${await start(settings(workspace))}/`;
    await walk(workspace, url, { bound: true });
    await walkWithoutScript(workspace, url);
    await mustRefuseInPage(url, {
      fields: { ...FIELDS, reference: "" },
      status: 422,
      text: /Your order was not taken/,
    });
    for (const amount of ["101", "1.5"])
      await mustRefuseInPage(url, {
        fields: { ...FIELDS, "pledges.0.impact.amount": amount },
        status: 422,
        text: /Choose 1 to 100 whole trees/,
      });
    await mustTakeForms(workspace, url);
    await mustRefuseOtherSites(workspace, url);
    await mustRefuseInPage(`${await start(UNREACHABLE)}/`, {
      fields: FIELDS,
      status: 502,
      text: /could not be confirmed\. Please contact us/,
    });
  },
});

const BADGE = "3 trees with this order";
const PLAIN = { problem: "This is not an e-mail address yet\\.", bound: true, badge: BADGE };

/** The tests of the plain HTML recipe that also run in Firefox. Each key is the last part of a test's name. */
export const IN_FIREFOX = {
  walk: (workspace, url) => walk(workspace, url, PLAIN),
  "walk-no-script": (workspace, url) => walkWithoutScript(workspace, url),
  "walk-no-wasm": (workspace, url) => walk(workspace, url, { ...PLAIN, policy: NO_WASM }),
};

/** @type {import("../main.mjs").Environment[]} */
export const environments = [
  frontEnd("plain-html", PLAIN),
  frontEnd("react", { arrive: atLink, badge: BADGE }),
  fullStack("sveltekit", "@sveltejs/kit", " -- --host 127.0.0.1 --port PORT --strictPort"),
  fullStack("nuxt", "nuxt"),
  fullStack("astro", "astro"),
  fullStack("react-router", "react-router"),
  {
    name: "recipe-nextjs",
    version: (workspace) => workspace.version("next"),
    async run(workspace) {
      await build(workspace, "nextjs");
      const start = (env) =>
        workspace.start(`${SERVE} -- --hostname 127.0.0.1 --port PORT`, { env });
      const origin = await start(settings(workspace));
      await mustTakeOrders(workspace, `${origin}/api/orders`);
      const posted = await fetch(`${origin}/api/orders`, {
        method: "POST",
        body: new URLSearchParams(FIELDS), // as a browser without JavaScript posts it
        redirect: "manual",
      });
      assert.deepEqual([posted.status, posted.headers.get("location")], [303, TIMELINE]);
      assert.deepEqual(recorded(workspace), ORDER);
      await mustTakeForms(workspace, `${origin}/api/orders`);
      await mustRefuseOtherSites(workspace, `${origin}/api/orders`);
      await walk(workspace, origin);
      await mustSaySorry(`${await start(UNREACHABLE)}/api/orders`);
    },
  },
  {
    name: "recipe-hono",
    version: (workspace) => workspace.version("hono"),
    async run(workspace) {
      await build(workspace, "hono");
      const start = (env, flags = "") => {
        const lines = Object.entries(env).map(([name, value]) => `${name}=${value}\n`);
        workspace.write(".dev.vars", lines.join(""));
        return workspace.start(
          `${SERVE} -- --ip 127.0.0.1 --port PORT --inspector-port 0 --show-interactive-dev-session=false${flags}`,
        );
      };
      await mustTakeOrders(workspace, `${await start(settings(workspace))}/orders`);
      await mustSaySorry(`${await start(UNREACHABLE)}/orders`);
      const flags = bindHonoToPledges(workspace);
      const bound = { ...settings(workspace), PLEDGE_BASE_URL: "https://pledges.invalid" };
      await mustTakeOrders(workspace, `${await start(bound, ` ${flags}`)}/orders`);
    },
  },
  {
    name: "recipe-node",
    version: () => `node ${process.versions.node}`,
    async run(workspace) {
      workspace.copyRecipe("node");
      mustPin(workspace);
      const origin = await workspace.start(SERVE, { env: settings(workspace) });
      const stalled = mustEndStalled(origin, "/orders");
      await mustTakeOrders(workspace, `${origin}/orders`);
      await mustTakeForms(workspace, `${origin}/orders`);
      await mustRefuseOtherSites(workspace, `${origin}/orders`);
      await walk(workspace, origin);
      await mustSaySorry(`${await workspace.start(SERVE, { env: UNREACHABLE })}/orders`);
      await stalled;
    },
  },
];
