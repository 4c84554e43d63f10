/** Starts Chromium, and opens pages whose console must stay empty. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before } from "node:test";
import { chromium } from "playwright-core";
import { FLAGS } from "../../scripts/setup/browser.mjs";
import { prepareTools } from "../../scripts/setup/tools.mjs";
import { PATIENCE_MS } from "../support/until.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core"), "utf8");

export const tools = await prepareTools({ browser: true });

let browser, kept;

/** Starts the browser before the tests of a file, and closes it after them. */
export function useBrowser() {
  before(async () => {
    browser = await chromium.launch({ executablePath: tools.browser ?? undefined, args: FLAGS });
  });
  after(() => browser?.close());
}

async function newPage(options) {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  return context.newPage();
}

/**
 * Opens a page. The test fails if the page's console has an error or a warning that does not match
 * `expected`.
 * @param {import("node:test").TestContext} t
 * @param {import("playwright-core").BrowserContextOptions & {expected?: RegExp, isShared?: boolean}} [options]
 *   `isShared`: whether the test shares one page with the file's other tests that set this option, which is
 *   quicker
 * @returns {Promise<import("playwright-core").Page>}
 */
export async function openPage(t, { expected, isShared = false, ...options } = {}) {
  const page = (isShared && kept) || (await newPage(options));
  if (isShared) kept = page;
  const complaints = [];
  page.on(
    "console",
    (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()),
  );
  page.on("pageerror", (error) => complaints.push(String(error)));
  t.after(async () => {
    const heard = [...complaints]; // before the routes are removed: later requests of the page find no host
    for (const event of ["console", "pageerror"]) page.removeAllListeners(event);
    await page.unrouteAll({ behavior: "ignoreErrors" }); // an image may still be loading
    if (!isShared) await page.context().close();
    assert.deepEqual(
      heard.filter((text) => !expected?.test(text)),
      [],
      "the console must stay empty",
    );
  });
  return page;
}

/**
 * Returns the nodes of the browser's accessibility tree. Each has a role, a name, a value and a description,
 * and its states by name.
 */
export async function accessibilityNodes(page) {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  await session.detach();
  return nodes.map(({ role, name, value, description, properties = [] }) => ({
    role: role?.value,
    name: name?.value,
    value: value?.value,
    description: description?.value ?? "",
    states: Object.fromEntries(properties.map(({ name, value }) => [name, value.value])),
  }));
}

/**
 * Returns axe's findings on the current state of a page, as lines `rule: element: summary`.
 * @param {import("playwright-core").Page} page
 * @param {string[]} [rules] default: all
 */
export async function axeFindings(page, rules) {
  const fresh = !(await page.evaluate(() => "axe" in globalThis));
  // Through the debugger, because the page's policy allows no foreign script.
  if (fresh) await page.evaluate(AXE);
  const options = { resultTypes: ["violations"], ...(rules && { runOnly: rules }) };
  const { violations } = await page.evaluate(
    (options) => globalThis.axe.run(document, options),
    options,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`),
  );
}
