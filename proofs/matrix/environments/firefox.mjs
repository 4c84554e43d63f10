/**
 * The package in Firefox: loaded as in Chromium, and a shopper's walk with JavaScript and without.
 */
import assert from "node:assert/strict";
import { useFirefox } from "../lib/firefox.mjs";
import { environments as bundlers } from "./bundlers.mjs";
import { environments as pages } from "./page.mjs";
import { ORDER, TIMELINE, recorded, startFrontEnd } from "./recipes.mjs";

/**
 * @param {(workspace: import("../lib/workspace.mjs").Workspace) => Promise<void>} run with a
 *   Firefox as its browser
 */
const inFirefox = (name, run) => ({
  name: `firefox-${name}`,
  async version(workspace) {
    workspace.browser = await useFirefox(workspace);
    return (await workspace.browser.version()).replace("firefox/", "Firefox ");
  },
  run,
  mayBeMissing: "npm has no Firefox, and its maker's downloads are out of reach of many machines",
});

const [EMAIL, TREES] = ["recipient.email", "pledges.0.impact.amount"];

/**
 * Of each field that a shopper sees, what assistive technology reads: its name, whether it is
 * invalid, and why.
 */
function statuses(page) {
  return page.$$eval(
    "form :is(input[type=number], input[type=email], input[type=text])",
    (fields) => {
      const textOf = (id) => document.getElementById(id)?.textContent.trim();
      return fields.map((field) => [
        field.name,
        field.getAttribute("aria-invalid"),
        (field.getAttribute("aria-describedby") ?? "").split(" ").map(textOf).join(" ").trim(),
      ]);
    },
  );
}

/**
 * A page of the recipe of plain HTML, a page of its own at the timeline's address; `scripts: false` lets none arrive, and
 * `policy` is the Content-Security-Policy of the first page.
 * @param {import("../lib/workspace.mjs").Workspace} workspace
 * @param {{scripts?: boolean, policy?: string}} [options]
 */
async function openShop(workspace, { scripts = true, policy } = {}) {
  /** @type {any} one of puppeteer's, see {@link useFirefox} */
  const page = await workspace.openPage();
  const url = await startFrontEnd(workspace, "plain-html");
  await page.setRequestInterception(true);
  page.on("request", (request) => {
    if (request.url() === TIMELINE)
      return request.respond({ contentType: "text/html", body: "<title>The timeline</title>" });
    if (policy && request.isNavigationRequest() && request.method() === "GET")
      return underPolicy(request, policy);
    return !scripts && !request.isNavigationRequest() ? request.abort() : request.continue();
  });
  const fill = (name, text) => page.locator(`[name="${name}"]`).fill(text);
  const send = () => page.locator("button").click();
  return { page, url, fill, send, nothingSent: nothingSent(workspace) };
}

async function underPolicy(request, policy) {
  const response = await fetch(request.url());
  await request.respond({
    contentType: "text/html",
    headers: { "content-security-policy": policy },
    body: await response.text(),
  });
}

function nothingSent({ service }) {
  const before = service.seen.length;
  return () => assert.equal(service.seen.length, before, "nothing is sent");
}

async function mustArrive(workspace, page) {
  await page.waitForFunction((url) => location.href === url, {}, TIMELINE);
  assert.deepEqual(recorded(workspace), ORDER);
}

/** From a mistyped address to the timeline, with the statuses of every field on the way. */
async function walk(workspace) {
  const { page, url, fill, send, nothingSent } = await openShop(workspace);
  await page.goto(url);
  await page.waitForFunction(() => document.querySelector("form")?.noValidate);
  const seen = { loaded: await statuses(page) };
  await fill(TREES, "3");
  await fill(EMAIL, "ada@@");
  seen.typed = await statuses(page);
  await send();
  seen.refused = await statuses(page);
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("name")), EMAIL);
  nothingSent();
  await fill(EMAIL, "ada@example.org");
  seen.corrected = await statuses(page);
  await send();
  await mustArrive(workspace, page);
  const [good, empty, wrong] = [null, "false", "true"];
  assert.deepEqual(seen, {
    loaded: [
      [TREES, empty, ""],
      [EMAIL, empty, ""],
    ], // no screen reader calls them wrong yet
    typed: [
      [TREES, good, ""],
      [EMAIL, empty, ""],
    ],
    refused: [
      [TREES, good, ""],
      [EMAIL, wrong, "This is not an e-mail address yet."],
    ],
    corrected: [
      [TREES, good, ""],
      [EMAIL, good, ""],
    ],
  });
}

/**
 * Where no script arrives, or a policy blocks WebAssembly, the shop's server refuses the address that HTML lets
 * through. Firefox has no command that turns scripts off for one page, and with its setting for all pages, its driver's
 * own do not run either.
 */
async function walkNative(workspace, options) {
  const { page, url, fill, send, nothingSent } = await openShop(workspace, options);
  await page.goto(url);
  assert.equal(
    await page.evaluate(() => document.querySelector("form")?.noValidate),
    false,
    "the form is the browser's own",
  );
  await fill(TREES, "3");
  await fill(EMAIL, "ada..lovelace@example.org");
  await send();
  await page.waitForSelector("[aria-invalid=true]");
  const [trees, [name, invalid, why]] = await statuses(page);
  assert.deepEqual([trees, name, invalid], [[TREES, null, ""], EMAIL, "true"]);
  assert.match(why, /e-mail address/);
  nothingSent();
  await fill(EMAIL, "ada@example.org");
  await send();
  await mustArrive(workspace, page);
}

const named = (environments, wanted) => environments.find(({ name }) => name === wanted).run;

/** @type {import("../main.mjs").Environment[]} */
export const environments = [
  inFirefox("page", named(pages, "page")),
  inFirefox("vite-build", named(bundlers, "vite-build")),
  inFirefox("walk", walk),
  inFirefox("walk-no-script", (workspace) => walkNative(workspace, { scripts: false })),
  inFirefox("walk-no-wasm", (workspace) => walkNative(workspace, { policy: "script-src 'self'" })),
];
