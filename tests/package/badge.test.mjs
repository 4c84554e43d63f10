/** Tests the badge's sentence on a server: the plural and the number of each language. `pages.test.mjs` tests the element. */
import assert from "node:assert/strict";
import test from "node:test";
import { packed } from "./packed.mjs";

const project = await packed();
const { impactText } = await project.load("impact-pledge/badge");

/** A text for each plural category: the category's own name. */
const ALL = Object.fromEntries(
  ["zero", "one", "two", "few", "many", "other"].map((category) => [category, category]),
);
const ONE = { one: "{} tree with this order", other: "{} trees with this order" };

/** A language and an amount, with the expected plural category and formatted number. */
const ROWS = [
  ["en", 1, "1 one"],
  ["en", 0.5, "0.5 other"],
  ["en", 1234.5678, "1,234.5678 other"],
  ["en", 0.1 + 0.2, "0.3 other"],
  ["en", 1.0001, "1.0001 other"],
  ["de", 1, "1 one"],
  ["de", 12345.5, "12.345,5 other"],
  ["fr", 1.5, "1,5 one"],
  ["fr", 1e6, "1\u202f000\u202f000 many"],
  ["pt-BR", 0.5, "0,5 one"],
  ["es", 1234, "1234 other"],
  ["pl", 22, "22 few"],
  ["pl", 12, "12 many"],
  ["pl", 1.5, "1,5 other"],
  ["cs", 4, "4 few"],
  ["cs", 1.5, "1,5 many"],
  ["cs", 5, "5 other"],
  ["ru", 21, "21 one"],
  ["ru", 3, "3 few"],
  ["ru", 11, "11 many"],
  ["ar", 2, "2 two"],
  ["ar", 3, "3 few"],
  ["ar", 11, "11 many"],
  ["ar-EG", 100, "١٠٠ other"],
  ["sl", 102, "102 two"],
  ["lv", 10, "10 zero"],
  ["cy", 6, "6 many"],
  // Names of languages as ICU and POSIX write them.
  ["de_DE", 12345.5, "12.345,5 other"],
  ["de_DE.UTF-8", 12345.5, "12.345,5 other"],
  ["de-DE@euro", 12345.5, "12.345,5 other"],
  ["de__PHONEBOOK", 12345.5, "12.345,5 other"],
  ["de@collation=phonebook;currency=EUR", 12345.5, "12.345,5 other"],
  ["sr_Latn_RS", 3, "3 few"],
  ["es_419", 12345.5, "12,345.5 other"],
  ["zh_Hans_CN", 1, "1 other"],
  ["pl_PL", 22, "22 few"],
  ["ja", 1, "1 other"],
];

test("an amount has the plural form and the number format of its language", () => {
  for (const [lang, amount, text] of ROWS)
    assert.equal(impactText({ amount, lang, ...ALL }), text, `${lang} ${amount}`);
});

test("`{}` is replaced by the number, and `other` is used where a sentence is missing", () => {
  const say = (words) => impactText({ amount: 1234, lang: "de", ...words });
  assert.equal(say(ONE), "1.234 trees with this order");
  assert.equal(say({ other: "Danke für {}, ja {}: $&" }), "Danke für 1.234, ja 1.234: $&");
  assert.equal(impactText({ amount: 3, lang: "zh", other: "{}棵树" }), "3棵树");
  assert.equal(impactText({ amount: 3, lang: "pl", one: "a", few: "", other: "b" }), "3 b");
  assert.equal(impactText({ amount: 1, lang: "en", ...ONE }), "1 tree with this order");
});

test("invalid amounts, sentences and languages are refused", () => {
  for (const amount of [0, -1, Number.NaN, Infinity, "3", 3n, Symbol("3"), null, undefined])
    assert.throws(() => impactText({ amount, lang: "en", ...ONE }), /`amount` must be/);
  assert.throws(() => impactText({ amount: 2, lang: "en", one: "tree" }), /`other` must be/);
  for (const lang of ["de DE", "_DE", "@", ""])
    assert.throws(() => impactText({ amount: 2, lang, ...ONE }), RangeError, lang);
  for (const lang of ["C", "POSIX", "C.UTF-8", "root"])
    assert.match(impactText({ amount: 2, lang, ...ONE }), /^\D*2/u, "of no language");
});

test("`require` returns the same", () => {
  const required = project.require("impact-pledge/badge");
  assert.equal(required.impactText({ amount: 2, lang: "en", ...ONE }), "2 trees with this order");
});

test("a server can import and require the choice, which defines nothing there", async () => {
  const imported = await project.load("impact-pledge/choice");
  assert.deepEqual(Object.keys(imported), []);
  assert.deepEqual(Object.keys(project.require("impact-pledge/choice")), []);
  assert.equal("customElements" in globalThis, false);
});
