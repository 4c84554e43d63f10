/**
 * A pledge service that fails: what the shopper reads, and that trying again pledges nothing twice.
 */
import assert from "node:assert/strict";
import test, { after } from "node:test";
import { openPage, useBrowser } from "./chromium.mjs";
import { Flaky, arrived, fillIn, send, shop, useShop } from "./shop.mjs";

const flaky = new Flaky();
after(() => flaky.close());
useBrowser();
useShop({ serviceUrl: () => flaky.start() });

const NEVER = 99;

test("a failure is explained, and trying again sends the same order under the same key", async (t) => {
  const page = await openPage(t, { expected: /status of 502/ });
  await page.goto(shop.origin);
  await fillIn(page);
  Object.assign(flaky, { failures: NEVER, requests: [] });
  await send(page);
  await page.waitForSelector("#failure h3");
  assert.match(
    await page.textContent("#failure"),
    /answered with an error \(503\)\. Nothing is lost, and trying again pledges nothing twice\./,
  );
  assert.equal(await page.textContent("[data-label]"), "Try again");
  assert.equal(await page.inputValue("#email"), "ada@example.org");
  flaky.failures = 0;
  await send(page);
  await arrived(page);
  assert.ok(flaky.requests.length > 3, "the client tried again by itself, too");
  assert.equal(new Set(flaky.requests.map(({ key }) => key)).size, 1);
  assert.equal(new Set(flaky.requests.map(({ body }) => body)).size, 1);
});

test("an order that was changed after a failure goes out under another key", async (t) => {
  const page = await openPage(t, { expected: /status of 502/ });
  await page.goto(shop.origin);
  await fillIn(page);
  Object.assign(flaky, { failures: NEVER, requests: [] });
  await send(page);
  await page.waitForSelector("#failure h3");
  await page.fill("#trees", "4");
  flaky.failures = 0;
  await send(page);
  await arrived(page);
  assert.equal(new Set(flaky.requests.map(({ key }) => key)).size, 2);
  assert.match(await page.textContent("main"), /4 trees|4 trees/);
});

test("a short failure is not reported", async (t) => {
  const page = await openPage(t);
  await page.goto(shop.origin);
  await fillIn(page);
  Object.assign(flaky, { failures: 1, requests: [] });
  await send(page);
  await arrived(page);
  assert.equal(flaky.requests.length, 2);
});

test("a shop that can't be reached is reported, and progress is shown meanwhile", async (t) => {
  const page = await openPage(t, { expected: /ERR_FAILED/ });
  await page.goto(shop.origin);
  await fillIn(page);
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route(
    "**/shop/order",
    async (route) => {
      await held;
      await route.abort();
    },
    { times: 1 },
  );
  await send(page);
  await page.waitForSelector("button[aria-disabled=true]");
  assert.equal(await page.textContent("[data-label]"), "Placing your order…");
  assert.match(await page.textContent("[data-progress]"), /Recording/);
  await page.focus("button[type=submit]");
  await page.keyboard.press("Enter"); // an impatient shopper
  release();
  await page.waitForSelector("#failure h3");
  assert.match(await page.textContent("#failure"), /can’t be reached/);
  assert.equal(await page.textContent("[data-progress]"), "");
  Object.assign(flaky, { failures: 0, requests: [] });
  await send(page);
  await arrived(page);
  assert.equal(flaky.requests.length, 1);
});

test("without JavaScript, too, a failure is explained and the form can be sent again", async (t) => {
  const page = await openPage(t, { javaScriptEnabled: false, expected: /status of 502/ });
  await page.goto(shop.origin);
  await fillIn(page);
  Object.assign(flaky, { failures: NEVER, requests: [] });
  await send(page);
  assert.match(
    await page.textContent("#failure"),
    /That did not work.*trying again pledges nothing twice/s,
  );
  assert.equal(await page.locator(":focus").getAttribute("id"), "failure", "it comes into view");
  flaky.failures = 0;
  await send(page);
  await arrived(page);
  assert.equal(new Set(flaky.requests.map(({ key, body }) => key + body)).size, 1);
});
