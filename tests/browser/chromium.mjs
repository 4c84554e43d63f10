/** Chromium, and pages in it that must not complain. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before } from "node:test";
import { chromium } from "playwright-core";
import { FLAGS } from "../../scripts/setup/browser.mjs";
import { prepareTools } from "../../scripts/setup/tools.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core"), "utf8");

export const tools = await prepareTools({ browser: true });

let browser, kept;

/** Starts the browser before the tests of a file and ends it behind them. */
export function useBrowser() {
  before(async () => {
    browser = await chromium.launch({ executablePath: tools.browser ?? undefined, args: FLAGS });
  });
  after(() => browser?.close());
}

const newPage = async (options) =>
  (await browser.newContext({ reducedMotion: "reduce", ...options })).newPage();

/**
 * A page whose console stays empty, unless `expected` says otherwise.
 * @param {import("node:test").TestContext} t
 * @param {import("playwright-core").BrowserContextOptions & {expected?: RegExp, isShared?: boolean}} [options]
 *   `isShared`: the page, as the first test of the file that shares it opened it, which is quicker
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
    const heard = [...complaints]; // before the routes end: what the page still asks for finds no host then
    for (const event of ["console", "pageerror"]) page.removeAllListeners(event);
    await page.unrouteAll({ behavior: "ignoreErrors" }); // an image may be on its way when the test has seen enough
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
 * The nodes of the browser's tree for assistive technology, as what it says: role, name, value,
 * description, and states by their names.
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

/** The findings of axe on a page as it is now: `rule: element` lines, none when all is well. */
export async function axeFindings(page) {
  const fresh = !(await page.evaluate(() => "axe" in globalThis));
  // By the debugger, as an add-on would: the page's own policy lets no foreign script in.
  if (fresh) await page.evaluate(AXE);
  const { violations } = await page.evaluate(() =>
    globalThis.axe.run(document, { resultTypes: ["violations"] }),
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`),
  );
}
