/** Tests that the timeline writes dates, numbers and plurals as `Intl` does, in each of its languages. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join, parse } from "node:path";
import test from "node:test";
import { packed } from "./packed.mjs";

const { createTestService } = await (await packed()).load("impact-pledge/testing");

/** The timeline's languages. They include all languages of the messages. */
const LANGUAGES = readdirSync(join(import.meta.dirname, "../../src/buyer/recipient/words")).map(
  (file) => parse(file).name,
);
/**
 * Locales for languages whose tag alone means the wrong country to `Intl`. For example, `en` means American
 * dates, but the timeline writes British dates, which begin with the day.
 */
const INTL = { en: "en-GB", pt: "pt-PT" };
const intl = (language) => INTL[language] ?? language;
/**
 * Languages without plural forms. A quantity may be written with either of a shop's two nouns, singular or
 * plural.
 */
const JOINED = ["ja", "zh"];

/** Returns the texts of the elements of this name. */
const texts = (html, tag) =>
  [...html.matchAll(new RegExp(`<${tag}(?: [^>]*)?>(.*?)</${tag}>`, "gs"))].map(([, inner]) =>
    inner.replaceAll(/<[^>]*>/g, ""),
  );

const service = createTestService();

/** Returns the pages of a transaction, by language. */
async function pagesOf(changes) {
  const pledges = [{ impact: { amount: 1, offeringId: "tree" } }];
  const body = { reference: "r", recipient: { email: "ada@example.org" }, pledges, ...changes };
  const created = await service.fetch("/v2/pledge-transaction", {
    method: "POST",
    headers: {
      authorization: "Bearer service_sk_test_dev_unit",
      "content-type": "application/json",
    },
    body: JSON.stringify(body),
  });
  const { timelineUrl } = await created.json();
  const pageIn = async (language) => {
    const headers = { "accept-language": `${language}-XX, en;q=0.5` };
    const page = await (await service.fetch(timelineUrl, { headers })).text();
    assert.match(page, new RegExp(`<html lang="${language}">`));
    return [language, page];
  };
  return Promise.all(LANGUAGES.map(pageIn));
}

test("each language has its own words", async () => {
  const messages = readdirSync(join(import.meta.dirname, "../../pkg-templates/locales"))
    .map((file) => parse(file).name)
    .filter((name) => name !== "pack" && !name.endsWith("-informal"));
  assert.deepEqual(messages.sort(), LANGUAGES.toSorted());
  const words = (await pagesOf({})).map(([, page]) => texts(page, "p").join("\n"));
  assert.equal(new Set(words).size, LANGUAGES.length);
});

const two = (number) => `${number}`.padStart(2, "0");
/** Each day of a month, each month, and years of the distant past and future. */
const DAYS = [
  ...Array.from({ length: 31 }, (_, index) => `2028-01-${two(index + 1)}`),
  ...Array.from({ length: 12 }, (_, index) => `2028-${two(index + 1)}-29`),
  ...["1000-01-01", "1582-10-15", "1999-12-31", "2100-02-28", "9999-12-31"],
];

test("dates", async () => {
  const formats = Object.fromEntries(
    LANGUAGES.map((language) => [
      language,
      new Intl.DateTimeFormat(intl(language), {
        dateStyle: "long",
        timeZone: "UTC",
        calendar: "gregory",
      }),
    ]),
  );
  for (const day of DAYS) {
    const date = `${day}T00:00:00Z`;
    for (const [language, page] of await pagesOf({ trigger: { date } }))
      assert.equal(texts(page, "time")[0], formats[language].format(new Date(date)), language);
  }
});

/**
 * Amounts with and without fractions, small and large. Together they need every rule of plurals, grouping and
 * rounding.
 */
const AMOUNTS = [
  ...Array.from({ length: 1_200 }, (_, index) => index + 1),
  ...Array.from({ length: 250 }, (_, index) => (index + 1) / 100),
  ...[2_000, 9_999, 10_000, 10_001, 12_345, 99_999, 100_000, 100_002, 100_012, 999_999],
  ...[1_000_000, 1_000_001, 1_234_567, 10_000_000, 123_456_789_012, 1e15, 2 ** 53 - 1],
  ...[999.5, 1_000.25, 1_234.5678, 9_999.75, 10_000.5, 1_234_567.125, 0.0001, 1e-5, 0.123456789],
  ...[0.1 + 0.2, 1.1 + 2.2, 1.0005, 1.0004999, 1.4995, 0.9995, 0.9994, 1.9996, 999.9995],
  ...[9_999.9996, 10_000.0004],
  ...[0.0005, 0.00049999, 0.000123456, 0.0099999, 1e15 / 3, 123_456.0625, 4_503_599_627_370_495.5],
];
/**
 * Whether `Intl` would round an amount to 0 by default. The timeline shows more digits, because a pledge is
 * never 0.
 */
const isTiny = (amount) => amount < 0.0005;
const TINY = { maximumSignificantDigits: 4 };

test("numbers, each with the right noun", async () => {
  const detail = { nounSingular: "ONE", nounPlural: "OTHER" };
  const of = (index) => `tree-${index}`; // pledges of one offering would be added up
  const pledges = AMOUNTS.map((amount, index) => ({
    impact: { amount, offeringId: of(index) },
    detail,
  }));
  for (const [language, page] of await pagesOf({ pledges })) {
    const [usual, tiny] = [{}, TINY].map((digits) => ({
      number: new Intl.NumberFormat(intl(language), digits),
      plural: new Intl.PluralRules(intl(language), digits),
    }));
    const written = (amount) => {
      const { number, plural } = isTiny(amount) ? tiny : usual;
      const text = number.format(amount);
      const isOne = plural.select(amount) === "one" || (JOINED.includes(language) && text === "1");
      return `${text} ${isOne ? "ONE" : "OTHER"}`;
    };
    assert.deepEqual(texts(page, "h3"), AMOUNTS.map(written), language);
  }
});

const COUNTS = [2, 3, 4, 5, 6, 9, 10, 11, 12, 14, 15, 19, 20, 21, 22, 25, 31, 100, 101, 102];
COUNTS.push(112, 122, 1_000, 1_004);

test("the count of pledges, in the plural's form", async () => {
  const forms = Object.fromEntries(LANGUAGES.map((language) => [language, new Map()]));
  for (const count of COUNTS) {
    const pledges = Array(count).fill({ impact: { amount: 1, offeringId: "tree" } });
    for (const [language, page] of await pagesOf({ pledges })) {
      const sentence = texts(page, "h2").at(-2); // before what has happened since
      const written = new Intl.NumberFormat(intl(language)).format(count);
      assert.ok(sentence.includes(written), sentence);
      const form = sentence.replace(written, "#"),
        category = new Intl.PluralRules(intl(language)).select(count);
      const known = forms[language];
      assert.equal(known.get(category) ?? form, form, `${language}: ${category} has one form`);
      known.set(category, form);
    }
  }
  for (const known of Object.values(forms))
    assert.equal(new Set(known.values()).size, known.size, "each category has its own");
});
