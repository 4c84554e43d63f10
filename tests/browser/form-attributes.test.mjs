/**
 * Tests `fieldAttributes` in Chromium. A form with only these attributes, without checks in JavaScript, must
 * refuse what the rules refuse.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { fixturesIn } from "../support/fixtures.mjs";
import { axeFindings, useBrowser } from "./chromium.mjs";
import { formPage } from "./form-page.mjs";

useBrowser();

const amounts = fixturesIn("form").flatMap(({ amounts = [] }) => amounts.map(([typed]) => typed));

/** A valid form. */
const ALL = {
  reference: "r",
  "recipient.email": "ada@example.org",
  "pledges.0.impact.offeringId": "tree",
  "pledges.0.impact.amount": "1",
};

/**
 * Values of a field in an otherwise valid form. HTML must refuse exactly the values that the rules refuse.
 */
const VALUES = [
  ["reference", ["", "r", " "]],
  [
    "recipient.email",
    ["", "ada", "ada@@example.org", "a b@example.org", "ada+trees@example.co.uk"],
  ],
  ["recipient.name", ["", "Ada"]],
  ["trigger.externalUrl", ["", "no address", "example.org", "//x.example", "urn:isbn:0451450523"]],
  ["trigger.date", ["", "2026-01-31T12:00", "2026-01-31T12:00:07", "2026-02-30T12:00", "soon"]],
  ["pledges.0.detail.image", ["", "tree.png", "https://example.org/tree.png"]],
  ["pledges.0.impact.amount", [...amounts, "5e-324", "1e-323", "1e-45", "1e308", "", "0", "0e99"]],
  ["pledges.0.impact.amount", ["", "0", "-0", "0.0", "0.5", "5e-324", "-1"], { optional: true }],
  ["notifications", ["", "Email"]],
];

/** Adds the fields to the form, with the attributes that follow from the rules. Runs in the page. */
function render([values, optional]) {
  document.forms[0].replaceChildren(
    ...Object.entries(values).map(([name, value]) => {
      const [label, input] = ["label", "input"].map((tag) => document.createElement(tag));
      for (const [attribute, content] of Object.entries(fieldAttributes(name, { optional })))
        input.setAttribute(attribute, content === true ? "" : content);
      if (input.type === "checkbox") [input.checked, input.defaultValue] = [value !== "", value];
      else input.value = value;
      label.append(name, input);
      return label;
    }),
  );
}

test("HTML refuses a value if and only if the rules refuse what would be posted", async (t) => {
  const page = await formPage(t, "", { binding: null });
  await page.evaluate(`globalThis.render = ${render}`);
  for (const [name, values, { optional = false } = {}] of VALUES) {
    const found = await page.evaluate(
      (forms) =>
        forms.map((form) => {
          render(form);
          const [, optional] = form;
          const { valid, issues } = readForm(new FormData(document.forms[0]), { optional });
          const isZero = Number(document.forms[0].elements["pledges.0.impact.amount"].value) === 0;
          const isLeft = isZero && issues[0]?.code === "not_positive"; // HTML has no "greater than 0"
          return [document.forms[0].checkValidity(), valid || isLeft];
        }),
      values.map((value) => [{ ...ALL, [name]: value }, optional]),
    );
    for (const [nth, [byHtml, byRules]] of found.entries())
      assert.equal(byHtml, byRules, `${name}: ${values[nth]}`);
    if (optional) assert.equal(found.filter(([isValid]) => isValid).length, 6);
  }
});

test("axe has no findings on a labelled form of all fields, `autocomplete` included", async (t) => {
  const page = await formPage(t, "", { binding: null });
  const names = VALUES.map(([name]) => [name, ""]);
  await page.evaluate(`(${render})(${JSON.stringify([{ ...ALL, ...Object.fromEntries(names) }])})`);
  assert.deepEqual(await axeFindings(page), []);
});
