/** The timeline writes dates, numbers and plurals as `Intl` does, in each of its languages. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join, parse } from "node:path";
import test from "node:test";
import { packed } from "./packed.mjs";

const project = await packed();
const { createTestService } = await project.load("impact-pledge/testing");

/** Those of the messages; dates in English are British ones, as they name the day first. */
const LANGUAGES = readdirSync(join(import.meta.dirname, "../../pkg-templates/locales"))
  .map((file) => parse(file).name)
  .filter((name) => name !== "pack");
const KEY = "service_sk_test_dev_unit",
  JOINED = ["ja", "zh"];

const unescapeHtml = (html) =>
  html
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&");
const texts = (html, tag) =>
  [...html.matchAll(new RegExp(`<${tag}(?: [^>]*)?>(.*?)</${tag}>`, "gs"))].map(([, inner]) =>
    unescapeHtml(inner),
  );

/** A transaction, as a function from a language to its page. */
async function transaction(service, changes) {
  const body = {
    reference: "r",
    recipient: { email: "ada@example.org" },
    pledges: [{ impact: { amount: 1, offeringId: "tree" } }],
    ...changes,
  };
  const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
  const created = await service.fetch(`${service.baseUrl}/v2/pledge-transaction`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  assert.equal(created.status, 200);
  const { timelineUrl } = await created.json();
  return async (language) =>
    (await service.fetch(timelineUrl, { headers: { "accept-language": language } })).text();
}

test("the languages are those of the messages", async () => {
  const page = await transaction(createTestService(), {});
  assert.equal(LANGUAGES.length, 12);
  const headings = new Set();
  for (const language of LANGUAGES) {
    const html = await page(`${language}-XX, en;q=0.5`);
    assert.match(html, new RegExp(`<html lang="${language}">`));
    headings.add(texts(html, "h1")[0]);
  }
  assert.equal(headings.size, LANGUAGES.length, "each has words of its own");
});

test("every day of a leap year, and the first of years long ago and to come", async () => {
  const days = Array.from({ length: 366 }, (_, index) => new Date(Date.UTC(2028, 0, 1 + index)));
  days.push(
    ...["1000-01-01", "1582-10-15", "1999-12-31", "2100-02-28", "9999-12-31"].map(
      (day) => new Date(`${day}T00:00:00Z`),
    ),
  );
  const formats = Object.fromEntries(
    LANGUAGES.map((language) => [
      language,
      new Intl.DateTimeFormat(language === "en" ? "en-GB" : language, {
        dateStyle: "long",
        timeZone: "UTC",
        calendar: "gregory",
      }),
    ]),
  );
  for (const day of days) {
    const page = await transaction(createTestService(), { trigger: { date: day.toISOString() } });
    for (const language of LANGUAGES)
      assert.equal(texts(await page(language), "time")[0], formats[language].format(day), language);
  }
});

/**
 * Amounts that are whole and not, small and large, around every rule of plurals and of grouping.
 */
const AMOUNTS = [
  ...Array.from({ length: 1_200 }, (_, index) => index + 1),
  ...Array.from({ length: 250 }, (_, index) => (index + 1) / 100),
  ...[
    2_000, 9_999, 10_000, 10_001, 12_345, 99_999, 100_000, 100_002, 100_012, 123_456, 999_999,
    1_000_000, 1_000_001, 1_234_567, 10_000_000, 123_456_789_012, 1_000_000_000_000_000,
    9_007_199_254_740_991,
  ],
  ...[999.5, 1_000.25, 1_234.5678, 9_999.75, 10_000.5, 1_234_567.125, 0.0001, 0.00001, 0.123456789],
];

for (const language of LANGUAGES) {
  test(`${language}: numbers, and the noun that goes with each`, async () => {
    const detail = { nounSingular: "ONE", nounPlural: "OTHER" };
    const page = await transaction(createTestService(), {
      pledges: AMOUNTS.map((amount) => ({ impact: { amount, offeringId: "tree" }, detail })),
    });
    const [number, plural] = [
      new Intl.NumberFormat(language, { maximumFractionDigits: 20 }),
      new Intl.PluralRules(language, { maximumFractionDigits: 20 }),
    ];
    // Languages without a plural take either noun; nouns may be another language's.
    const noun = (amount) =>
      plural.select(amount) === "one" || (JOINED.includes(language) && amount === 1)
        ? "ONE"
        : "OTHER";
    assert.deepEqual(
      texts(await page(language), "h3"),
      AMOUNTS.map((amount) => `${number.format(amount)} ${noun(amount)}`),
    );
  });

  test(`${language}: the count of pledges, in the plural's form`, async () => {
    const plural = new Intl.PluralRules(language);
    const forms = new Map();
    for (const count of [
      ...Array.from({ length: 30 }, (_, index) => index + 2),
      100,
      101,
      102,
      112,
      122,
      1_000,
      1_004,
    ]) {
      const page = await transaction(createTestService(), {
        pledges: Array(count).fill({ impact: { amount: 1, offeringId: "tree" } }),
      });
      const sentence = texts(await page(language), "h2").at(-1);
      const written = new Intl.NumberFormat(language).format(count);
      assert.ok(sentence.includes(written), sentence);
      const form = sentence.replace(written, "#"),
        category = plural.select(count);
      assert.equal(forms.get(category) ?? form, form, `${language}: ${category} has one form`);
      forms.set(category, form);
    }
    assert.equal(new Set(forms.values()).size, forms.size, "each category has its own");
  });
}
