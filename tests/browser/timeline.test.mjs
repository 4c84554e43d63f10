/**
 * Tests the timeline page in Chromium with a shop's profile and updates. It must be readable in any accent
 * colour, complete without its images, and suitable for print.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import test, { after, before } from "node:test";
import { create, startWorker } from "../e2e/worker.mjs";
import { accessibilityNodes, axeFindings, openPage, useBrowser } from "./chromium.mjs";

useBrowser();

const KEY = "service_sk_live_a_team";
const LONG = "Die Nordwälder Genossenschaft für nachhaltige Kaffee- und Baumpflanzungen GmbH&Co";
const link = "https://nordwald.example/";
const PROFILES = {
  plain: { name: "Nordwald" },
  white: { name: "Nordwald", accent: "#ffffff" },
  unbroken: { name: "W".repeat(80), accent: "#a03010" },
  logo: { name: "Nordwald", logo: "https://img.example/logo.svg", link, accent: "#7a1fa2" },
  broken: { name: "Nordwald", logo: "https://img.example/missing.svg", link },
  long: { name: LONG.slice(0, 80), logo: "https://img.example/missing.svg" },
  german: { name: "Nordwald", language: "de" },
  arabic: { name: "قهوة الغابة", language: "de" },
};
/** The published updates of the first offering. */
const UPDATES = [
  {
    id: "upd_2",
    stage: "done",
    date: "2026-12-03",
    place: { name: "خليج غازي", latitude: -4.425, longitude: 39.505 },
    partner: "Coast Forest Group",
    quantity: 1200,
    picture: { url: "https://img.example/bay.svg", text: "Seedlings in the mud" },
    report: "https://reports.example/q4.pdf",
    texts: { en: "All trees are in the ground.", de: "Alle Bäume sind gepflanzt." },
  },
  ...["2026-11-28", "2026-11-25", "2026-11-22", "2026-11-20"].map((date, index) => ({
    id: `upd_1${index}`,
    stage: "under-way",
    date,
    texts: { ar: "زُرعت جميع الشتلات." },
  })),
];
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
        nounPlural: "trees",
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

let worker;
const pages = {};
before(async () => {
  worker = await startWorker();
  const record = { mode: "live", team: "team", secret: "07".repeat(32) };
  const hash = createHash("sha256").update(KEY).digest("hex");
  await worker.kv.put(`key:${hash}`, JSON.stringify(record));
  const offering = createHash("sha256").update("tree").digest("hex");
  const month = new Date().toISOString().slice(0, 7);
  await worker.kv.put(`updates:live:${offering}:${month}`, JSON.stringify({ updates: UPDATES }));
  for (const [unit, profile] of Object.entries(PROFILES)) {
    await worker.kv.put(`profile:${unit}`, JSON.stringify(profile));
    await worker.kv.put(`member:team:${unit}`, "{}");
    const { status, text } = await create(worker.origin, KEY, ORDER, { "x-service-unit-id": unit });
    assert.equal(status, 200, text);
    pages[unit] = JSON.parse(text).timelineUrl;
  }
});
after(() => worker?.close());

/**
 * Opens the timeline page of a unit. An image whose name contains `missing` gets a 404, which the browser's
 * console reports.
 */
async function open(t, unit, options) {
  const page = await openPage(t, { expected: /status of 404/, ...options });
  await page.route("https://img.example/**", (route) =>
    route.request().url().includes("missing")
      ? route.fulfill({ status: 404 })
      : route.fulfill({ contentType: "image/svg+xml", body: SVG }),
  );
  await page.goto(pages[unit]);
  return page;
}

const box = (page, selector) => page.locator(selector).first().boundingBox();
const style = (page, selector, pseudo) =>
  page
    .locator(selector)
    .first()
    .evaluate((element, pseudo) => {
      const { color, backgroundColor, content, breakInside } = getComputedStyle(element, pseudo);
      return { color, backgroundColor, content, breakInside };
    }, pseudo);

/**
 * By unit: the expected colours of links in light and in dark mode. They have enough contrast, whatever the
 * shop's accent colour.
 */
const LINKS = {
  plain: ["rgb(44, 106, 74)", "rgb(134, 205, 162)"],
  white: ["rgb(115, 115, 115)", "rgb(255, 255, 255)"],
  unbroken: [],
  logo: [],
  long: [],
  german: [],
  arabic: [],
};

for (const [unit, colours] of Object.entries(LINKS)) {
  test(`${unit}: nothing is wrong, in light mode on a phone and in dark mode on a desktop`, async (t) => {
    const page = await open(t, unit);
    for (const [nth, colorScheme] of ["light", "dark"].entries()) {
      const width = [320, 1280][nth];
      await page.setViewportSize({ width, height: 740 });
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await axeFindings(page), [], colorScheme);
      const content = await page.evaluate(() => document.scrollingElement.scrollWidth);
      assert.ok(content <= width, `${content} px in ${width}`);
      const { color } = await style(page, "main a");
      assert.equal(color, colours[nth] ?? color);
    }
  });
}

test("a logo has a limited size and links to the shop", async (t) => {
  const page = await open(t, "logo", { colorScheme: "dark" });
  const { width, height } = await box(page, ".logo");
  assert.ok(height === 48 && Math.abs(width / height - 3) < 0.1, `${width} × ${height}`);
  const home = page.getByRole("link", { name: "Nordwald", exact: true });
  assert.equal(await home.getAttribute("href"), link);
  assert.equal(await home.getAttribute("rel"), "noopener noreferrer nofollow");
});

/** Prints a page as a PDF. Returns the number of its sheets and links. */
async function printed(page, format) {
  const pdf = (await page.pdf({ format, preferCSSPageSize: true })).toString("latin1");
  const count = (pattern) => [...pdf.matchAll(pattern)].length;
  return { pages: count(/\/Type \/Page\b/g), links: count(/\/Subtype \/Link\b/g) };
}

test("printed, a page is a certificate on one sheet, without links", async (t) => {
  for (const unit of ["logo", "long", "arabic"]) {
    const page = await open(t, unit, { colorScheme: "dark" });
    await page.emulateMedia({ media: "print" });
    const [black, white] = ["rgb(0, 0, 0)", "rgb(255, 255, 255)"];
    const { color, backgroundColor } = await style(page, "body");
    assert.deepEqual([color, backgroundColor], [black, white]);
    assert.equal(await page.locator("a:visible, summary:visible, textarea:visible").count(), 0);
    const text = await page.innerText("body");
    for (const part of [/1[.,]234[.,]5 trees/, /order-10442/]) assert.match(text, part);
    for (const hidden of [/edit_key|https?:/, /planted|gepflanzt/])
      assert.doesNotMatch(text, hidden);
    for (const format of ["A4", "Letter"])
      assert.deepEqual(await printed(page, format), { pages: 1, links: 0 }, `${unit}: ${format}`);
    if (unit === "logo") assert.ok(await page.locator(".paper .logo").isVisible());
  }
});

test("what has happened since stands below its pledge, with older updates on request and a text to share", async (t) => {
  const page = await open(t, "german", { viewport: { width: 390, height: 800 } });
  const pledge = page.locator(".pledge").first();
  assert.equal(await pledge.locator("h4").innerText(), "Was seitdem geschehen ist");
  assert.equal(await pledge.locator(".stage:visible").count(), 3);
  const earlier = page.getByText("Frühere Meldungen (2)");
  await earlier.focus();
  await page.keyboard.press("Enter");
  assert.equal(await pledge.locator(".stage:visible").count(), 5);
  const map = page.getByRole("link", { name: "-4.425, 39.505" });
  assert.match(await map.getAttribute("href"), /^https:\/\/www\.openstreetmap\.org\//);
  await page.getByText("Text zum Teilen").click();
  const text = await page.getByRole("textbox", { name: "Text zum Teilen" }).inputValue();
  assert.match(text, /^Nordwald hat 1\.234,5 trees, .* für mich zugesagt\.$/);
  assert.deepEqual(await axeFindings(page), []);
});

/**
 * The page's own texts are aligned to the left, or to the right in languages such as Arabic. A shop's text
 * of several lines is aligned by the language of that text.
 */
test("texts in another direction keep the page's layout, and a page in such a language mirrors it", async (t) => {
  const page = await open(t, "arabic");
  const sides = () =>
    page.evaluate(() => {
      const line = getComputedStyle(document.querySelector(".story"), "::before");
      const align = (selector) => getComputedStyle(document.querySelector(selector)).textAlign;
      const { left, right } = line;
      return { isLeft: parseFloat(left) < parseFloat(right), h3: align("h3"), h1: align("h1") };
    });
  assert.deepEqual(await sides(), { isLeft: true, h3: "left", h1: "left" });
  const arabic = page.locator(".words[lang=ar]").first();
  assert.equal(await arabic.evaluate((element) => getComputedStyle(element).direction), "rtl");
  await page.evaluate(() => document.documentElement.setAttribute("dir", "rtl"));
  assert.deepEqual(await sides(), { isLeft: false, h3: "right", h1: "right" });
});

test("an image that does not load leaves no gap, and a logo that does not load is replaced by the name", async (t) => {
  const phone = { viewport: { width: 390, height: 800 } };
  const [broken, plain] = [await open(t, "broken", phone), await open(t, "plain", phone)];
  const [{ height }, { height: usual }] = [await box(broken, "header"), await box(plain, "header")];
  assert.ok(Math.abs(height - usual) <= 4, `${height} and ${usual}`);
  const named = (await accessibilityNodes(broken)).filter(({ name }) => name === "Nordwald");
  const roles = named.map(({ role }) => role);
  assert.ok(roles.includes("link") && roles.includes("image"), roles.join());
  assert.equal((await style(broken, ".logo", "::after")).content, '"Nordwald"');
  const [large, missing] = await plain.$$eval(".pledge > .image img", (all) =>
    all.map(({ width, height }) => [width, height]),
  );
  assert.ok(large[0] > 250 && Math.abs(large[0] / large[1] - 16 / 9) < 0.05, `${large}`);
  assert.ok(
    missing.every((length) => length <= 16),
    `${missing}`,
  );
});

/**
 * Test rows: a unit and the reader's locale, then the expected language, heading and first amount of the
 * page.
 */
const LANGUAGES = [
  ["german", "ja-JP", "de", "Nordwald hat 3 Zusagen für Mara gegeben", "1.234,5 trees"],
  ["plain", "ja-JP", "ja", "NordwaldがMara様のために3件の支援を約束しました", "1,234.5 trees"],
  ["plain", "fr-CA", "fr", "Nordwald a pris 3 engagements pour Mara", "1\u202f234,5 trees"],
  ["plain", "fi-FI", "en", "Nordwald made 3 pledges for Mara", "1,234.5 trees"],
];

test("a page has the shop's language, or else the reader's", async (t) => {
  for (const [unit, locale, ...expected] of LANGUAGES) {
    const page = await open(t, unit, { locale });
    assert.deepEqual(
      [
        await page.getAttribute("html", "lang"),
        await page.innerText("h1"),
        await page.innerText("h3"),
      ],
      expected,
    );
    assert.equal(await page.title(), expected[1]);
  }
});
