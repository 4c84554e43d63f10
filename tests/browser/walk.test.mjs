/**
 * A buyer's walk through the demo shop, from a mistyped address to the timeline: on a normal page, where a policy blocks
 * WebAssembly, without JavaScript, and on a slow machine. At each step stands what a screen reader says of each field.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { accessibilityNodes, openPage, useBrowser } from "./chromium.mjs";
import { arrived, send, shop, useShop } from "./shop.mjs";

useBrowser();
useShop();

const FIELDS = ["Trees", "Kilos", "E-mail address", "First name (optional)"];
const WRONG = "Not a whole e-mail address yet. One looks like ada@example.org.";

/**
 * The fields in the browser's tree for assistive technology: role, name, value, description and
 * whether it is invalid.
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

/** The fields of a form without mistakes, as spoken, with a step's changes. */
const order = (changes = {}) => ({
  Trees: "spinbutton | 3 |  | false",
  Kilos: "spinbutton |  |  | false",
  "E-mail address": "textbox |  |  | false",
  "First name (optional)": "textbox | Ada |  | false",
  ...changes,
});
const address = (text, problem = "") => ({
  "E-mail address": `textbox | ${text} | ${problem} | ${problem !== ""}`,
});
/** An address that HTML refuses is invalid to the browser before anybody says so. */
const refusedByHtml = (text) => ({ "E-mail address": `textbox | ${text} |  | true` });

async function fillIn(page) {
  await page.fill("#trees", "3");
  await page.fill("#first-name", "Ada");
}

/** Types an address and leaves the field. */
async function type(page, text) {
  await page.fill("#email", text);
  await page.press("#email", "Tab");
}

/** The whole form is checked in the page. */
async function walkChecked(page) {
  await fillIn(page);
  assert.deepEqual(await spoken(page), order(), "filled in");
  await type(page, "ada@@");
  assert.deepEqual(await spoken(page), order(address("ada@@", WRONG)), "mistyped");
  await send(page);
  assert.deepEqual(await spoken(page), order(address("ada@@", WRONG)), "refused");
  assert.equal(await page.locator(":focus").getAttribute("id"), "email");
  await page.fill("#email", "ada@example.org");
  assert.deepEqual(await spoken(page), order(address("ada@example.org")), "corrected");
  await send(page);
  await arrived(page);
}

/** The browser checks what HTML can, and the shop's server the rest. */
async function walkNative(page) {
  await fillIn(page);
  await type(page, "ada@@");
  assert.deepEqual(await spoken(page), order(refusedByHtml("ada@@")), "mistyped");
  await send(page);
  assert.equal(new URL(page.url()).pathname, "/", "the browser refuses it");
  await type(page, "ada..lovelace@example.org");
  assert.deepEqual(
    await spoken(page),
    order(address("ada..lovelace@example.org")),
    "what HTML lets through",
  );
  await send(page);
  await page.waitForURL(/\/shop\/order$/);
  assert.deepEqual(
    await spoken(page),
    order(address("ada..lovelace@example.org", WRONG)),
    "refused by the server",
  );
  assert.equal(await page.locator(":focus").getAttribute("id"), "email");
  await page.fill("#email", "ada@example.org");
  await send(page);
  await arrived(page);
}

/** Answers with the shop's pages under a policy that blocks WebAssembly. */
async function forbidWasm(page) {
  await page.route(`${shop.origin}/**`, async (route) => {
    const response = await route.fetch({ maxRedirects: 0 });
    const headers = { ...response.headers() };
    if (headers["content-security-policy"])
      headers["content-security-policy"] = headers["content-security-policy"].replace(
        " 'wasm-unsafe-eval'",
        "",
      );
    await route.fulfill({ response, headers });
  });
}

async function slowDown(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: 6 });
}

/** By what the page is like. */
const PAGES = {
  "a normal page": { walk: walkChecked },
  "a slow machine": { walk: walkChecked, prepare: slowDown },
  "a policy that blocks WebAssembly": {
    walk: walkNative,
    prepare: forbidWasm,
    options: { expected: /impact-pledge: |Content Security Policy|status of 422/ },
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
    assert.match(await page.textContent("h1"), /^Pledged for Ada$/);
    assert.match(await page.textContent("main"), /3.trees/);
  });
}
