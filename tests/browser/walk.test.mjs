/**
 * Tests an order in the demo shop from a mistyped address to the timeline. Runs on a normal page, on a slow
 * machine, without JavaScript or WebAssembly, and while the shop or its service fails. Each step lists what
 * a screen reader says about each field.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { accessibilityNodes, openPage, useBrowser } from "./chromium.mjs";
import { arrived, fillIn, send, shop, useShop } from "./shop.mjs";

useBrowser();
useShop();

const FIELDS = ["Trees", "Kilos", "E-mail address", "First name (optional)"];
const WRONG = "Please enter a complete e-mail address, like ada@example.org.";

/**
 * Returns the fields in the browser's accessibility tree: role, name, value, description, and whether the field is invalid.
 */
async function spoken(page) {
  const nodes = await accessibilityNodes(page);
  const fields = nodes.filter(
    ({ role, name }) => ["textbox", "spinbutton"].includes(role) && FIELDS.includes(name),
  );
  return Object.fromEntries(
    fields.map(({ role, name, value, description, states: { invalid } }) => [
      name,
      [role, `${value ?? ""}`, description, invalid ?? "false"].join(" | "),
    ]),
  );
}

/**
 * Returns what a screen reader says about each field of an order with the e-mail address `email`. `problem` is
 * the error at the e-mail field, or empty. By default, the field counts as invalid if there is a `problem`.
 */
const order = (email, problem = "", isInvalid = problem !== "") => ({
  Trees: "spinbutton | 3 |  | false",
  Kilos: "spinbutton |  |  | false",
  "E-mail address": `textbox | ${email} | ${problem} | ${isInvalid}`,
  "First name (optional)": "textbox | Ada |  | false",
});

/** Types an address and leaves the field. */
async function type(page, text) {
  await page.fill("#email", text);
  await page.press("#email", "Tab");
}

/** Places an order on a page whose script checks the whole form. */
async function walkChecked(page) {
  await page.waitForSelector("form[novalidate]");
  await fillIn(page, { email: "" });
  assert.deepEqual(await spoken(page), order(""), "filled in");
  await type(page, "ada@@");
  assert.deepEqual(await spoken(page), order("ada@@", WRONG), "mistyped");
  await send(page);
  assert.deepEqual(await spoken(page), order("ada@@", WRONG), "refused");
  assert.equal(await page.locator(":focus").getAttribute("id"), "email");
  await page.fill("#email", "ada@example.org");
  assert.deepEqual(await spoken(page), order("ada@example.org"), "corrected");
  await send(page);
}

/**
 * Places an order without the page's script: the browser checks what HTML can express, and the shop's server
 * checks the rest.
 */
async function walkNative(page) {
  const reference = await page.textContent(".reference");
  await fillIn(page, { email: "" });
  await type(page, "ada@@");
  assert.deepEqual(await spoken(page), order("ada@@", "", true), "mistyped");
  await send(page);
  assert.equal(new URL(page.url()).pathname, "/", "the browser refuses it");
  const passed = "ada..lovelace@example.org";
  await type(page, passed);
  assert.deepEqual(await spoken(page), order(passed), "what HTML lets through");
  await send(page);
  await page.waitForURL(/\/shop\/order$/);
  assert.deepEqual(await spoken(page), order(passed, WRONG), "refused by the server");
  assert.equal(await page.locator(":focus").getAttribute("id"), "email");
  assert.equal(await page.textContent(".reference"), reference, "it is the same order");
  await page.fill("#email", "ada@example.org");
  await send(page);
}

/** Serves the shop's pages under a policy that blocks WebAssembly. */
const forbidWasm = (page) =>
  page.route(`${shop.origin}/**`, async (route) => {
    const response = await route.fetch({ maxRedirects: 0 });
    const headers = { ...response.headers() };
    headers["content-security-policy"] &&= headers["content-security-policy"].replace(
      " 'wasm-unsafe-eval'",
      "",
    );
    await route.fulfill({ response, headers });
  });

async function slowDown(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: 6 });
}

/**
 * The kinds of pages to test, by name. Each has the function that walks through an order, the function that
 * prepares the page, and options.
 */
const PAGES = {
  "a slow machine": { walk: walkChecked, prepare: slowDown },
  "a policy that blocks WebAssembly": {
    walk: walkChecked,
    prepare: forbidWasm,
    options: { expected: /Content Security Policy|WebAssembly/ },
  },
  "no JavaScript": {
    walk: walkNative,
    options: { javaScriptEnabled: false, expected: /status of 422/ },
  },
};

for (const [name, { walk, prepare, options }] of Object.entries(PAGES)) {
  test(`${name}: from a mistyped address to the timeline`, async (t) => {
    const page = await openPage(t, options);
    await prepare?.(page);
    await page.goto(shop.origin);
    await walk(page);
    await arrived(page);
    assert.equal(await page.textContent("h1"), "Small Hours Coffee pledged 3 trees for Ada");
    assert.match(await page.textContent("main"), /3.trees/);
  });
}

test("a normal page leads to the timeline, and going back shows an empty order", async (t) => {
  const page = await openPage(t);
  await page.goto(shop.origin);
  const reference = await page.textContent(".reference");
  await walkChecked(page);
  await arrived(page);
  assert.ok((await page.textContent("footer")).includes(reference));
  await page.goBack();
  await page.waitForSelector("#checkout");
  assert.notEqual(await page.textContent(".reference"), reference);
  assert.equal(await page.isVisible("#sent"), false);
});

/** Opens the shop and fills in a valid order. The pledge service then fails `failures` times. */
async function orderWith(t, failures, options) {
  const page = await openPage(t, options);
  await page.goto(shop.origin);
  await fillIn(page);
  Object.assign(shop, { failures, requests: [] });
  t.after(() => Object.assign(shop, { failures: 0 }));
  return page;
}

const distinct = (name) => new Set(shop.requests.map((request) => request[name])).size;
const EXPLAINED =
  /Something went wrong.*answered with an error \(503\)\. Please try again\. You will not pledge twice\./s;

test("a failure is explained, and a retry sends the same order with the same key, a changed order with another key", async (t) => {
  const page = await orderWith(t, Infinity, { expected: /status of 502/ });
  for (const attempts of [3, 6]) {
    await send(page);
    await page.waitForSelector("#failure h3");
    assert.match(await page.textContent("#failure"), EXPLAINED);
    assert.equal(await page.textContent("[data-label]"), "Try again");
    assert.equal(shop.requests.length, attempts, "the client tries again by itself, too");
    assert.deepEqual([distinct("key"), distinct("body")], [1, 1]);
  }
  await page.fill("#trees", "4");
  shop.failures = 0;
  await send(page);
  await arrived(page);
  assert.deepEqual([distinct("key"), distinct("body")], [2, 2]);
  assert.match(await page.textContent("main"), /4.trees/);
});

test("an unreachable shop is reported, and progress is shown; a short failure of the service is not", async (t) => {
  const page = await orderWith(t, 1, { expected: /ERR_FAILED/ });
  const { promise: held, resolve: release } = Promise.withResolvers();
  const abort = (route) => held.then(() => route.abort());
  await page.route("**/shop/order", abort, { times: 1 });
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
  await send(page);
  await arrived(page);
  assert.equal(shop.requests.length, 2);
});

test("a failure is explained without JavaScript, too, and the form can be sent again", async (t) => {
  const page = await orderWith(t, Infinity, {
    javaScriptEnabled: false,
    expected: /status of 502/,
  });
  await send(page);
  assert.match(await page.textContent("#failure"), EXPLAINED);
  assert.equal(await page.locator(":focus").getAttribute("id"), "failure", "it comes into view");
  shop.failures = 0;
  await send(page);
  await arrived(page);
  assert.deepEqual([distinct("key"), distinct("body")], [1, 1]);
});
