/**
 * Tests the e-mail in Chromium, with the limits of mail programs: no `style` element, no images, or Word's
 * rendering, as in Outlook for Windows. Also tests each language, a phone, and dark mode.
 */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join, parse } from "node:path";
import test, { before } from "node:test";
import { operator } from "../../scripts/lib/operator.mjs";
import { openPage, tools, useBrowser } from "./chromium.mjs";
import { demo } from "./demo.mjs";

useBrowser();

const LANGUAGES = readdirSync(join(import.meta.dirname, "../../src/buyer/recipient/words")).map(
  (file) => parse(file).name,
);
const LOGO = "https://shop.example/logo.png";
const PROFILE = {
  name: "Die Nordwälder Genossenschaft für nachhaltige Kaffee- und Baumpflanzungen GmbH&Co".slice(
    0,
    80,
  ),
  logo: LOGO,
  mail: true,
  mailText: `Danke!\n${"W".repeat(200)}`,
};
/** An image that is wider than a phone's screen. */
const WIDE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="2000" height="200"><rect width="2000" height="200" fill="#a03010"/></svg>';

let records, port, preview, id;
before(async () => {
  ({ records, port } = await demo());
  const { run } = await operator(tools);
  preview = async () => {
    const written = [];
    const program = {
      records: port,
      place: "production",
      create: async () => {},
      write: async (html) => void written.push(html),
    };
    await run(program, "emails", "preview", JSON.stringify({ id, html: "mail.html" }));
    return written.join("");
  };
  const isLive = ([name, { value }]) =>
    name.startsWith("transaction:") && JSON.parse(value).pledges?.length > 1;
  const [name] = [...records].find(isLive);
  id = name.slice("transaction:".length);
});

/** Returns the HTML of an e-mail for a transaction. The transaction's unit has this profile. */
function mail(profile) {
  const { unit } = records.get(`transaction:${id}`).metadata;
  records.set(`profile:${unit}`, { value: JSON.stringify({ ...PROFILE, ...profile }) });
  return preview();
}

/** Removes the `style` elements from an e-mail's HTML, because some mail programs ignore them. */
const withoutStyle = (html) => html.replaceAll(/<style>.*?<\/style>/gs, "");
const without = (html, property) =>
  html.replaceAll(new RegExp(`([;"])${property}:[^;"]*;?`, "g"), "$1");
/**
 * Changes an e-mail's HTML to what Word shows in Outlook for Windows. Word reads comments and properties that
 * only Word knows. It ignores CSS sizes and backgrounds, and the padding of links.
 */
const asWord = (html) =>
  ["max-width", "max-height", "height", "background", "display:inline-block;padding"]
    .reduce(without, withoutStyle(html))
    .replaceAll(/<!--\[if mso\]>(.*?)<!\[endif\]-->/gs, "$1")
    .replaceAll(/<xml>.*?<\/xml>/gs, "")
    .replaceAll("mso-padding-alt:", "padding:");
const PROGRAMS = {
  "a browser": { change: (html) => html },
  "a dark browser": { change: (html) => html, colorScheme: "dark" },
  "a program without the style element": { change: withoutStyle },
  "a program without max-width": { change: (html) => without(html, "max-width") },
};

/**
 * Opens an e-mail's HTML in a page. `image` is the content of the logo. If `image` is empty, no image
 * loads.
 */
async function open(t, html, { image = WIDE, ...options } = {}) {
  const page = await openPage(t, { javaScriptEnabled: true, ...options, expected: /ERR_FAILED/ });
  const loaded = [];
  await page.route(/^https:/, (route) => {
    const url = route.request().url();
    if (url === "https://mail.example/")
      return route.fulfill({ body: html, contentType: "text/html" });
    loaded.push(url);
    return image ? route.fulfill({ body: image, contentType: "image/svg+xml" }) : route.abort();
  });
  await page.goto("https://mail.example/");
  assert.deepEqual([...new Set(loaded)], [LOGO], "nothing but the logo is loaded");
  return page;
}

/** Returns the size of the first element that matches a selector, and its distance from the left edge. */
const box = (page, selector) =>
  page
    .locator(selector)
    .first()
    .evaluate((element) => {
      const { left, width, height } = element.getBoundingClientRect();
      return { left, width, height };
    });

const widthOf = (page) => page.evaluate(() => document.scrollingElement.scrollWidth);

async function isSound(page, width) {
  assert.equal(await widthOf(page), width, "nothing is wider than the screen");
  const [logo, button, link] = await Promise.all(
    [".logo", ".button", ".label"].map((selector) => box(page, selector)),
  );
  assert.ok(logo.width <= 268 && logo.height <= 52, `the logo: ${JSON.stringify(logo)}`);
  assert.ok(button.height >= 44 && button.width > 80, `the button: ${JSON.stringify(button)}`);
  assert.ok(Math.abs(link.width - button.width) < 1, "the link fills the button");
}

for (const [name, { change, ...options }] of Object.entries(PROGRAMS))
  for (const width of [390, 600, 1280])
    test(`${name}, ${width} px: nothing is cut, and the button can be pressed`, async (t) => {
      const viewport = { width, height: 740 };
      const page = await open(t, change(await mail({ language: "de" })), { viewport, ...options });
      await (name.includes("max-width") ? fitsWithoutMaximum : isSound)(page, width);
      const column = await box(page, "table table");
      if (!name.includes("max-width")) assert.ok(column.width <= 560);
    });

/**
 * Asserts how the e-mail looks in a mail program that ignores maximum sizes. The logo is 40 px high, but may be
 * wider than the page.
 */
async function fitsWithoutMaximum(page, width) {
  const logo = await box(page, ".logo");
  assert.equal(logo.height, 40);
  assert.ok((await widthOf(page)) <= Math.max(width, logo.width + 32));
}

test("Word: the column is 560 px wide, and the button has space and colour", async (t) => {
  const viewport = { width: 1000, height: 740 };
  const page = await open(t, asWord(await mail({ language: "de" })), { viewport });
  assert.equal(await widthOf(page), viewport.width);
  const column = await box(page, "table table");
  assert.equal(column.width, 560);
  assert.equal(Math.round(column.left), (viewport.width - 560) / 2);
  assert.equal((await box(page, ".logo")).height, 40);
  const [button, link] = [await box(page, ".button"), await box(page, ".label")];
  assert.ok(button.height >= 44, `${button.height}`);
  assert.ok(link.left - button.left >= 20 && button.width - link.width >= 40);
  const colour = (selector, property) =>
    page.locator(selector).evaluate((element, name) => getComputedStyle(element)[name], property);
  assert.equal(await colour(".button", "backgroundColor"), "rgb(44, 106, 74)");
  assert.equal(await colour(".label", "color"), "rgb(251, 250, 245)");
});

test("without images, the name is there and can be read", async (t) => {
  for (const colorScheme of ["light", "dark"]) {
    const options = { viewport: { width: 390, height: 740 }, colorScheme, image: null };
    const page = await open(t, await mail({ name: "Nordwald" }), options);
    const logo = page.locator(".logo");
    assert.equal(await logo.getAttribute("alt"), "Nordwald");
    assert.ok((await box(page, ".logo")).height >= 20);
    const colour = await logo.evaluate((element) => getComputedStyle(element).color);
    assert.equal(colour, "rgb(44, 106, 74)", "on white in the dark, too");
  }
});

for (const language of LANGUAGES)
  test(`${language}: nothing is wider than a phone, and the preview line is hidden`, async (t) => {
    const html = await mail({ language, mailText: undefined });
    const page = await open(t, html, { viewport: { width: 390, height: 740 } });
    await isSound(page, 390);
    assert.equal(await page.getAttribute("html", "lang"), language);
    const shown = await page.innerText("body");
    const preheader = await page.locator(".preheader").textContent();
    assert.ok(preheader.length > 60 && !shown.includes(preheader.slice(0, 30)));
    assert.equal(await page.locator("a").count(), 1);
  });
