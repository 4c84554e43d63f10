/** Tests the dashboard in Chromium on a phone's screen: each page, and a walk by keyboard. */
import assert from "node:assert/strict";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { startDashboard } from "../server/dashboard-worker.mjs";
import { axeFindings, openPage, useBrowser } from "./chromium.mjs";
import { demo } from "./demo.mjs";

useBrowser();

const OPERATOR = "operator@small-hours.example";
const PHONE = { width: 390, height: 740 };

let dashboard, origin;
before(async () => {
  const main = join("build", "dashboard", "worker.js");
  dashboard = await startDashboard({ main, email: OPERATOR, vars: { OPERATORS: OPERATOR } });
  ({ origin } = dashboard);
  const { records } = await demo();
  await Promise.all(
    [...records].map(([key, { value, ...rest }]) => dashboard.kv.put(key, value, rest)),
  );
  await dashboard.scheduled();
});
after(() => dashboard?.close());

/** Asserts that a page has this text and no finding of axe, fits a phone's screen, and loads nothing but itself. */
async function isSound(t, path, text, options) {
  // With JavaScript, because axe needs it.
  const page = await openPage(t, { viewport: PHONE, isShared: true, ...options });
  const loaded = [];
  const note = (request) => loaded.push(request.url());
  page.on("request", note);
  await page.goto(origin + path);
  page.off("request", note);
  assert.ok((await page.innerText("main")).includes(text));
  assert.deepEqual(await axeFindings(page), []);
  const width = await page.evaluate(() => document.scrollingElement.scrollWidth);
  assert.ok(width <= PHONE.width, `${width} px in ${PHONE.width}`);
  assert.deepEqual(loaded, [origin + path]);
}

const USAGE = "/units/unit_dev/usage?mode=live";
/** A month with demo transactions. */
const MONTH = new Date(Date.now() - 40 * 24 * 3_600_000).toISOString().slice(0, 7);
for (const [path, text] of Object.entries({
  "/": "What are you looking for?",
  "/units": "Harbour Bakery",
  "/units/unit_dev": "Create a key",
  "/teams": "team_market",
  "/teams/team_dev": "unit_dev_two",
  "/prices": "plastic-kg",
  [USAGE]: "Complete up to",
  "/orders": "Older",
  "/orders?unit=unit_dev&unpriced=yes": "unpriced pledges",
  [`/usage?month=${MONTH}`]: "unit_dev",
  "/payments?state=all": "Statement",
  [`/units/unit_dev/statement?month=${MONTH}`]: "Unit price",
  [`/fulfilment?month=${MONTH}`]: "plastic-kg",
  [`/units/unit_dev/quantities?month=${MONTH}`]: "Download CSV",
  "/mails": "Failed",
  "/audit": "as paid",
  "/system": "Limits",
  "/person": "E-mail address",
}))
  test(`${path}: nothing is wrong`, (t) => isSound(t, path, text));

test("an address without a page: nothing is wrong", (t) =>
  isSound(t, "/nothing", "No page has this address", { expected: /status of 404/ }));

/** Opens a page without JavaScript, for use by keyboard. */
async function open(t, path) {
  const page = await openPage(t, { viewport: PHONE, javaScriptEnabled: false });
  await page.goto(origin + path);
  return page;
}

/** Presses Tab until the first element that a selector matches has the focus, which must be visible. */
async function tabTo(page, selector) {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press("Tab");
    if ((await page.locator(`${selector}:focus`).count()) === 0) continue;
    const style = await page
      .locator(":focus")
      .evaluate((element) => getComputedStyle(element).outlineStyle);
    assert.equal(style, "solid", selector);
    return;
  }
  assert.fail(`no Tab leads to ${selector}`);
}

/** Fills in fields and presses a button by keyboard, and waits for the answer. */
async function send(page, fields, button) {
  for (const [name, text] of Object.entries(fields)) {
    await tabTo(page, `main [name=${name}]`);
    await page.keyboard.type(text);
  }
  await tabTo(page, button);
  await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
}

test("by keyboard: a transaction is found by its reference", async (t) => {
  const page = await open(t, "/");
  await send(page, { text: "SH-1001", unit: "unit_dev" }, "main button");
  await send(page, {}, "main .table a");
  assert.match(await page.innerText("main"), /SH-1001.*a…@e….*Charged by the price list of/s);
  await isSound(t, new URL(page.url()).pathname, "SH-1001");
});

test("by keyboard: the page of older transactions, and back", async (t) => {
  const page = await open(t, "/orders");
  const first = await page.innerText("main .table a");
  await send(page, {}, "main a[rel=next]");
  assert.notEqual(await page.innerText("main .table a"), first);
  await isSound(t, new URL(page.url()).pathname + new URL(page.url()).search, "Newer");
  await send(page, {}, "main a[rel=prev]");
  assert.equal(await page.innerText("main .table a"), first);
});

test("by keyboard: a key is created, and shown once", async (t) => {
  const page = await open(t, "/units/unit_dev");
  await send(page, { mode: "Live", label: "canary" }, "form[action='/keys'] button");
  const KEY = /service_sk_live_\w{20,}/;
  assert.match(await page.innerText("main"), KEY);
  await send(page, {}, "main > p a");
  assert.doesNotMatch(await page.content(), KEY);
});
