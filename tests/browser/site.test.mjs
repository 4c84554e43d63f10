/** Tests the site in Chromium: axe, keyboard, phone, dark, no JavaScript, policy, search. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { buildSite } from "../../www/site/build.js";
import { serveFolder } from "../support/static.mjs";
import { axeFindings, openPage, tools, useBrowser } from "./chromium.mjs";

useBrowser();

/** Pages of each kind: start, text, tables and pictures, figures, API, list of codes, code, not found. */
const PAGES = [
  "",
  "forms",
  "dashboard",
  "performance",
  "api",
  "errors/",
  "errors/unknown",
  "nothing",
];
const PHONE = { width: 390, height: 800 };
const folder = mkdtempSync(join(tmpdir(), "site-"));
let site;

before(async () => {
  await buildSite(tools.root, folder);
  site = await serveFolder(folder);
});
after(() => {
  site?.close();
  rmSync(folder, { recursive: true });
});

const url = (address) => `${site.origin}/${address}`;
/** The answer to an unknown address is 404, which the console reports. */
const expected = /status of 404/;

for (const colorScheme of /** @type {const} */ (["light", "dark"]))
  test(`axe finds nothing on pages of each kind, ${colorScheme}`, async (t) => {
    const page = await openPage(t, { colorScheme, expected });
    for (const address of PAGES) {
      await page.goto(url(address));
      assert.deepEqual(await axeFindings(page), [], address);
      const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      assert.equal(dark, colorScheme === "dark" ? "rgb(16, 22, 19)" : "rgb(251, 250, 245)");
    }
  });

test("on a phone, nothing is wider than the screen, and a button opens the list of pages", async (t) => {
  const page = await openPage(t, { viewport: PHONE, expected });
  for (const address of PAGES) {
    await page.goto(url(address));
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= PHONE.width, `${address}: ${width}`);
    const hidden = await page.evaluate(() => {
      const bar = document.querySelector(".bar");
      return (bar?.scrollWidth ?? 0) - (bar?.clientWidth ?? 0);
    });
    assert.equal(hidden, 0, `${address}: no link of the head is beyond the edge`);
  }
  await page.goto(url("emails"));
  const list = page.getByRole("navigation", { name: "Pages" });
  assert.ok(!(await list.isVisible()));
  await page.getByRole("button", { name: "Pages" }).click();
  assert.deepEqual(await axeFindings(page), []);
  await list.getByRole("link", { name: "Messengers" }).click();
  await page.waitForURL(url("messaging"));
});

test("the keyboard reaches the content, the search and its results", async (t) => {
  const page = await openPage(t);
  await page.goto(url("getting-started"));
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement?.id), "content");
  await page.keyboard.press("/");
  const dialog = page.getByRole("dialog", { name: "Search" });
  await dialog.getByRole("searchbox").waitFor();
  await page.keyboard.type("rotate a key");
  await dialog.getByRole("link").first().waitFor();
  assert.deepEqual(await axeFindings(page), []);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL(url("keys-and-prices#rotate-a-key"));
  await page.keyboard.press("Control+k");
  await dialog.getByRole("searchbox").waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "hidden" });
});

test("each step of a way leads to the next", async (t) => {
  const page = await openPage(t);
  await page.goto(url(""));
  await page.getByRole("link", { name: "On your machine" }).click();
  await page.getByText("I run the service · step 1 of 12").waitFor();
  for (let step = 2; step <= 12; step += 1) {
    await page.locator('a[rel="next"]').click();
    await page.getByText(`step ${step} of 12`).waitFor();
  }
  assert.equal(await page.locator('a[rel="next"]').count(), 0);
  assert.match(await page.title(), /^Recover/);
});

test("the choice of colours stays, and code is copied", async (t) => {
  const permissions = ["clipboard-read", "clipboard-write"];
  const page = await openPage(t, { colorScheme: "light", permissions });
  await page.goto(url("getting-started"));
  await page.getByRole("button", { name: "Switch between light and dark" }).click();
  await page.reload();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await page.locator("pre").first().hover();
  await page.getByRole("button", { name: "Copy" }).first().click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(copied, "npm install impact-pledge");
});

test("without JavaScript, pages can be read, and show no button that needs it", async (t) => {
  const page = await openPage(t, { javaScriptEnabled: false, viewport: PHONE });
  await page.goto(url("errors/invalid_email"));
  await page.getByText("What to do.").waitFor();
  await page.getByRole("button", { name: "Pages" }).click();
  await page.getByRole("link", { name: "HTTP API" }).click();
  await page.getByRole("heading", { name: "Create pledge transaction" }).waitFor();
  assert.deepEqual(await page.getByRole("button").allInnerTexts(), ["Pages"]);
});

test("the policy lets a page load only its own files", async (t) => {
  const page = await openPage(t, { expected: /Content Security Policy|ERR_|violates/ });
  const hosts = new Set();
  page.on("request", (request) => hosts.add(new URL(request.url()).origin));
  await page.goto(url("dashboard"), { waitUntil: "networkidle" });
  assert.deepEqual([...hosts], [site.origin]);
  const refused = await page.evaluate(
    () =>
      new Promise((resolve) => {
        document.addEventListener("securitypolicyviolation", (event) =>
          resolve(event.violatedDirective),
        );
        document.body.append(Object.assign(document.createElement("script"), { textContent: "1" }));
      }),
  );
  assert.match(String(refused), /^script-src/);
});
