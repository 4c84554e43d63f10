/**
 * The recipient's page with a shop's profile, in Chromium: readable in any accent, whole without
 * its images, on paper.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import test, { after, before } from "node:test";
import { create, startWorker } from "../e2e/worker.mjs";
import { accessibilityNodes, axeFindings, openPage, useBrowser } from "./chromium.mjs";

useBrowser();

const KEY = "service_sk_live_a_team";
const LONG = "Die Nordwälder Genossenschaft für nachhaltige Kaffee- und Baumpflanzungen GmbH&Co";
const PROFILES = {
  plain: { name: "Nordwald" },
  white: { name: "Nordwald", accent: "#ffffff" },
  black: { name: "Nordwald", accent: "#000000" },
  yellow: { name: "Nordwald", accent: "#ffff00" },
  paper: { name: "Nordwald", accent: "#fbfaf5" },
  dark_paper: { name: "Nordwald", accent: "#101613" },
  long: { name: LONG.slice(0, 80), link: "https://nordwald.example/" },
  unbroken: { name: "W".repeat(80), accent: "#a03010" },
  logo: {
    name: "Nordwald",
    logo: "https://img.example/logo.svg",
    link: "https://nordwald.example/",
    accent: "#7a1fa2",
  },
  broken: {
    name: "Nordwald",
    logo: "https://img.example/missing.svg",
    link: "https://nordwald.example/",
  },
  long_broken: { name: LONG.slice(0, 80), logo: "https://img.example/missing.svg" },
  german: { name: "Nordwald", language: "de" },
  hostile: { name: "</style>\"'><script>alert(1)</script>", accent: "#FF0000" },
};
const ORDER = {
  reference: "order-10442",
  recipient: { email: "mara@buyer.example", firstName: "Mara" },
  trigger: {
    date: "2026-11-20T18:22:00+01:00",
    phrase: "placed an order",
    externalUrl: "https://shop.example/orders/10442",
  },
  pledges: [
    {
      impact: { amount: 1234.5, offeringId: "tree" },
      detail: {
        name: "Mangroves",
        nounSingular: "tree",
        nounPlural: "trees",
        description: "Planted along the channels.",
        image: "https://img.example/mangrove.svg",
        externalUrl: "https://forest.example/mangroves",
      },
    },
    {
      impact: { amount: 2, offeringId: "plastic-kg" },
      detail: { image: "https://img.example/missing.jpg" },
    },
    { impact: { amount: 3, offeringId: "off_8f2k91" } },
  ],
};
const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 200"><rect width="600" height="200" fill="#2c6a4a"/></svg>';
/** Images that are missing are named on the console. */
const expected = /status of 404/;

let worker;
const pages = {};
before(async () => {
  worker = await startWorker();
  const record = {
    mode: "live",
    level: "team",
    teamId: "team",
    unitIds: Object.keys(PROFILES),
    secret: "07".repeat(32),
  };
  await worker.kv.put(
    `key:${createHash("sha256").update(KEY).digest("hex")}`,
    JSON.stringify(record),
  );
  for (const [unit, profile] of Object.entries(PROFILES)) {
    await worker.kv.put(`profile:${unit}`, JSON.stringify(profile));
    const { status, text } = await create(worker.origin, KEY, ORDER, { "x-service-unit-id": unit });
    assert.equal(status, 200, text);
    pages[unit] = JSON.parse(text).timelineUrl;
  }
});
after(() => worker?.close());

/** Opens the page of a unit; of images, those that are missing are not found. */
async function open(t, unit, options) {
  const page = await openPage(t, { expected, ...options });
  await page.route("https://img.example/**", (route) =>
    route.request().url().includes("missing")
      ? route.fulfill({ status: 404 })
      : route.fulfill({ contentType: "image/svg+xml", body: SVG }),
  );
  await page.goto(pages[unit], { waitUntil: "networkidle" });
  return page;
}

const box = (page, selector) => page.locator(selector).first().boundingBox();
const overflow = (page) => page.evaluate(() => document.scrollingElement.scrollWidth - innerWidth);

for (const unit of Object.keys(PROFILES)) {
  test(`${unit}: nothing is wrong, in light and dark, on a phone and on a desktop`, async (t) => {
    for (const colorScheme of ["light", "dark"]) {
      const page = await open(t, unit, { colorScheme, viewport: { width: 320, height: 640 } });
      assert.deepEqual(await axeFindings(page), [], colorScheme);
      assert.ok((await overflow(page)) <= 0, "nothing is beside a phone's screen");
      await page.setViewportSize({ width: 1280, height: 800 });
      assert.ok((await overflow(page)) <= 0);
      assert.match(await page.title(), /^(Pledged for|Zugesagt für) Mara · /);
    }
  });
}

test("the accent colours links, and only as far as they stay readable", async (t) => {
  const colour = async (unit, colorScheme) => {
    const page = await open(t, unit, { colorScheme });
    return page
      .locator("main a")
      .first()
      .evaluate((link) => getComputedStyle(link).color);
  };
  assert.equal(await colour("white", "light"), "rgb(115, 115, 115)");
  assert.equal(await colour("white", "dark"), "rgb(255, 255, 255)");
  assert.equal(await colour("black", "light"), "rgb(0, 0, 0)");
  assert.equal(await colour("black", "dark"), "rgb(126, 126, 126)");
  assert.equal(await colour("plain", "light"), "rgb(44, 106, 74)");
});

test("a logo is within bounds and leads to the shop", async (t) => {
  const page = await open(t, "logo");
  const { width, height } = await box(page, ".logo");
  assert.ok(height === 48 && width <= 256, `${width} × ${height}`);
  assert.ok(Math.abs(width / height - 3) < 0.1, "its proportions are kept");
  const link = page.getByRole("link", { name: "Nordwald", exact: true });
  assert.equal(await link.getAttribute("href"), "https://nordwald.example/");
  assert.equal(await link.getAttribute("rel"), "noopener noreferrer nofollow");
});

test("a logo that does not load is the name, where the name alone would be", async (t) => {
  const [broken, plain] = [await open(t, "broken"), await open(t, "plain")];
  const heights = await Promise.all([box(broken, "header"), box(plain, "header")]);
  assert.ok(Math.abs(heights[0].height - heights[1].height) <= 4, JSON.stringify(heights));
  const named = (await accessibilityNodes(broken))
    .filter(({ name }) => name === "Nordwald")
    .map(({ role }) => role);
  assert.ok(named.includes("link") && named.includes("image"), named.join());
  assert.equal(
    await broken.locator(".logo").evaluate((logo) => getComputedStyle(logo, "::after").content),
    '"Nordwald"',
  );
  const image = await broken.locator(".logo").screenshot();
  assert.ok(image.length > 300, "it is drawn");
});

test("an image of a pledge that does not load leaves no hole", async (t) => {
  const page = await open(t, "plain", { viewport: { width: 390, height: 800 } });
  const [loaded, missing] = await Promise.all(
    [0, 1].map((index) => page.locator(".image img").nth(index).boundingBox()),
  );
  assert.deepEqual([loaded.width, loaded.height], [80, 80]);
  assert.ok(missing.width <= 16 && missing.height <= 16, JSON.stringify(missing));
});

test("a page in the shop's language, and in the reader's", async (t) => {
  const heading = async (unit, locale) => {
    const page = await open(t, unit, { locale });
    assert.deepEqual(await axeFindings(page), []);
    return [
      await page.locator("html").getAttribute("lang"),
      await page.locator("h1").innerText(),
      await page.locator("h3").first().innerText(),
    ];
  };
  assert.deepEqual(await heading("german", "ja-JP"), ["de", "Zugesagt für Mara", "1.234,5 trees"]);
  assert.deepEqual(await heading("plain", "ja-JP"), [
    "ja",
    "Mara様のために約束された支援",
    "1,234.5 trees",
  ]);
  assert.deepEqual(await heading("plain", "pl-PL"), [
    "pl",
    "Zobowiązanie dla: Mara",
    "1234,5 trees",
  ]);
  assert.deepEqual(await heading("plain", "fr-CA"), [
    "fr",
    "Engagement pris pour Mara",
    "1\u202f234,5 trees",
  ]);
  assert.deepEqual(await heading("plain", "fi-FI"), ["en", "Pledged for Mara", "1,234.5 trees"]);
});

test("on paper it is black on white, with the addresses of its links", async (t) => {
  const page = await open(t, "logo", { colorScheme: "dark" });
  await page.emulateMedia({ media: "print" });
  const style = (selector, pseudo) =>
    page
      .locator(selector)
      .first()
      .evaluate((element, pseudo) => {
        const { color, backgroundColor, content, breakInside } = getComputedStyle(element, pseudo);
        return { color, backgroundColor, content, breakInside };
      }, pseudo);
  assert.equal((await style("body")).color, "rgb(0, 0, 0)");
  assert.equal((await style("body")).backgroundColor, "rgb(255, 255, 255)");
  assert.equal((await style("main a")).color, "rgb(0, 0, 0)");
  assert.equal(
    (await style("main a", "::after")).content,
    '" (https://shop.example/orders/10442)"',
  );
  assert.equal((await style(".pledge")).breakInside, "avoid");
  assert.equal((await style(".story", "::before")).content, '""');
});
