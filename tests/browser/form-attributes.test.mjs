/** `fieldAttributes` in Chromium: a page rendered from it alone, without JavaScript's checks, refuses what the rules refuse. */
import assert from "node:assert/strict";
import test from "node:test";
import { fixturesIn } from "../support/fixtures.mjs";
import { axeFindings, useBrowser } from "./chromium.mjs";
import { formPage } from "./form-page.mjs";

useBrowser();

/** The values that HTML can refuse, by the form's fields. */
const BY_HTML = new Set([
  "required",
  "invalid_type",
  "not_positive",
  "not_finite",
  "invalid_email",
  "invalid_uri",
  "invalid_date_time",
]);

const files = fixturesIn("form");
const rows = files.flatMap(({ rows }) => rows ?? []);
const amounts = files.flatMap(({ amounts }) => amounts ?? []);

/** In the page: the control that a page has which takes its attributes from the rules. */
function defineRendered() {
  globalThis.rendered = ([name, value, hidden], { optional }) => {
    const attributes = fieldAttributes(name, { optional });
    const input = document.createElement("input");
    for (const [attribute, content] of Object.entries(attributes))
      input.setAttribute(attribute, content === true ? "" : content);
    if (hidden) input.type = "hidden";
    if (attributes.type !== "checkbox") input.value = value;
    else [input.checked, input.defaultValue] = [value !== "", value];
    return input;
  };
}

/**
 * For each form of controls: whether the browser refuses it, and the issues that the rules have
 * with what it would post.
 */
async function verdicts(t, forms) {
  const page = await formPage(t, "", { bind: false });
  await page.evaluate(defineRendered);
  const found = await page.evaluate(
    (forms) =>
      forms.map(({ controls, optional = false }) => {
        const [form] = document.forms;
        form.replaceChildren(...controls.map((control) => rendered(control, { optional })));
        const unseen = new Set(controls.filter(([, , hidden]) => hidden).map(([name]) => name));
        const { issues } = readForm(new FormData(form), {
          optional,
          hidden: (name) => unseen.has(name),
        });
        return {
          isRefused: !form.checkValidity(),
          issues: issues.map(({ code, name }) => ({ code, name })),
        };
      }),
    forms,
  );
  return found.map(({ isRefused, issues }) => ({
    isRefused,
    issues,
    wrong: issues.filter(({ code, name }) => name !== null && BY_HTML.has(code)),
  }));
}

const ALL = [
  ["reference", "r"],
  ["recipient.email", "ada@example.org"],
  ["pledges.0.impact.offeringId", "tree", "hidden"],
  ["pledges.0.impact.amount", "1"],
];
/** A valid form but for this field. */
const withField = (name, value) => ({
  controls: [...ALL.filter(([other]) => other !== name), [name, value]],
});

test("every row that can be rendered: what the rules refuse HTML refuses, as far as it can", async (t) => {
  const isField = ([name]) =>
    /^(reference|recipient\.(email|firstName|name)|pledges\.\d{1,9}\.(impact\.(amount|offeringId)|detail\.\w+)|trigger\.(date|phrase|externalUrl)|notifications(\.\d+)?)$/.test(
      name,
    ) && !/\.0\d/.test(name);
  const isOnce = ([name], nth, controls) =>
    name === "notifications" || controls.findIndex(([other]) => other === name) === nth;
  const rendered = rows.filter(({ controls }) => controls.every(isField) && controls.every(isOnce));
  assert.ok(rendered.length > 40, `${rendered.length}`);
  let refused = 0;
  for (const [nth, { isRefused, issues, wrong }] of (await verdicts(t, rendered)).entries()) {
    const { name, controls } = rendered[nth];
    if (wrong.length > 0) assert.ok(isRefused, `${name}: ${JSON.stringify(wrong)}`);
    const items = new Set(
      controls.map(([name]) => name.match(/^pledges\.\d+/)?.[0]).filter(Boolean),
    );
    if (issues.length === 0 && items.size < 2)
      assert.ok(!isRefused || rendered[nth].optional, `${name}: valid`);
    refused += isRefused;
  }
  assert.ok(refused >= 10 && refused <= rendered.length - 10, `${refused}`);
});

test("amounts as people type them: refused if and only if the rules refuse what would be posted", async (t) => {
  const typed = [
    ...amounts.map(([typed]) => typed),
    "5e-324",
    "1e-323",
    "2.5e-308",
    "1e-45",
    "1e308",
    "",
    "0",
    "0e99",
  ];
  for (const [nth, { isRefused, issues }] of (
    await verdicts(
      t,
      typed.map((text) => withField("pledges.0.impact.amount", text)),
    )
  ).entries()) {
    assert.equal(isRefused, issues.length > 0, `${typed[nth]}: ${JSON.stringify(issues)}`);
  }
});

test("an optional amount may be empty or zero, and no less", async (t) => {
  const typed = ["", "0", "-0", "0.0", "0.5", "5e-324", "1", "-1", "-0.001"];
  const found = await verdicts(
    t,
    typed.map((text) => ({ ...withField("pledges.0.impact.amount", text), optional: true })),
  );
  for (const [nth, { isRefused, issues }] of found.entries())
    assert.equal(isRefused, issues.length > 0, typed[nth]);
  assert.deepEqual(
    found.map(({ isRefused }) => isRefused),
    [false, false, false, false, false, false, false, true, true],
  );
});

const TEXTS = {
  reference: ["", "r", " "],
  "recipient.email": [
    "",
    "ada",
    "ada@",
    "@example.org",
    "ada@@example.org",
    "ada example@x.org",
    "ada@example.org",
    "ada+trees@example.co.uk",
  ],
  "trigger.externalUrl": [
    "",
    "no address",
    "example.org",
    "//example.org",
    "https://example.org/orders?id=1#top",
    "urn:isbn:0451450523",
    "mailto:ada@example.org",
  ],
  "pledges.0.detail.image": ["", "tree.png", "https://example.org/tree.png"],
  "trigger.date": ["", "2026-01-31T12:00", "2026-01-31T12:00:07", "2026-02-30T12:00", "soon"],
};

for (const [name, texts] of Object.entries(TEXTS)) {
  test(`${name}: refused if and only if the rules refuse what would be posted`, async (t) => {
    const found = await verdicts(
      t,
      texts.map((text) => withField(name, text)),
    );
    for (const [nth, { isRefused, issues }] of found.entries())
      assert.equal(isRefused, issues.length > 0, `${texts[nth]}: ${JSON.stringify(issues)}`);
  });
}

test("a labelled form of all fields has no findings of axe, completions included", async (t) => {
  const page = await formPage(t, "", { bind: false });
  await page.evaluate(() => {
    for (const path of [
      "reference",
      "recipient.email",
      "recipient.firstName",
      "recipient.name",
      "pledges.0.impact.amount",
      "trigger.date",
      "trigger.externalUrl",
      "notifications",
    ]) {
      const label = document.createElement("label"),
        input = document.createElement("input");
      for (const [name, value] of Object.entries(fieldAttributes(path)))
        input.setAttribute(name, value === true ? "" : value);
      label.append(path, input);
      document.forms[0].append(label);
    }
  });
  assert.deepEqual(await axeFindings(page), []);
});
