/**
 * Tests bound forms with what HTML allows: names of fields that hide members of the form, and buttons that do
 * not send the form, or send it elsewhere.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { useBrowser } from "./chromium.mjs";
import { STRICT, VALID, field, formPage, problems, submitted } from "./form-page.mjs";

useBrowser();

const EMAIL = "Enter an e-mail address such as ada@example.org";

/**
 * Binds a form with a field of this name, sends the form with a wrong and with a right value, and unbinds it.
 * Returns what was seen.
 */
async function useNamed(name) {
  const { HTMLFormElement: Form } = globalThis;
  const [form] = document.forms;
  const sendForm = () => Form.prototype.requestSubmit.call(form);
  const extra = Object.assign(document.createElement("input"), { name, value: "x", id: "extra" });
  document.querySelector("#send").before(extra);
  const seen = [];
  bindIt({
    onSubmit() {
      seen.push("sent");
      throw { issues: [{ path: ["reference"], message: "Used." }, { message: "Closed." }] };
    },
  });
  const see = () =>
    seen.push([email.getAttribute("aria-invalid"), reference.getAttribute("aria-invalid")].join());
  email.value = "ada@";
  email.dispatchEvent(new Event("change", { bubbles: true }));
  see();
  sendForm();
  see();
  email.value = "ada@example.org";
  bound.refresh();
  sendForm();
  await new Promise((done) => setTimeout(done));
  see();
  Form.prototype.reset.call(form);
  await new Promise((done) => setTimeout(done));
  see();
  bound.unbind();
  extra.remove();
  return seen.join(" ");
}

test("a field may have the name of any member of a form", async (t) => {
  const page = await formPage(t, VALID, { binding: null, expected: /no field can show/ });
  const seen = await page.evaluate(`(async () => {
    const useNamed = ${useNamed};
    const names = new Set(["nothing", "__proto__"]);
    for (const name in document.forms[0]) names.add(name);
    const seen = {};
    for (const name of names)
      (seen[await useNamed(name).catch(String)] ??= []).push(name);
    return { seen, count: names.size, left: document.forms[0].outerHTML };
  })()`);
  assert.deepEqual(Object.keys(seen.seen), ["true, true, sent ,true ,"], JSON.stringify(seen.seen));
  assert.ok(seen.count > 300);
  assert.doesNotMatch(seen.left, /impact-pledge|novalidate|aria-/);
});

test("a field of a form whose rules are loaded later may have such a name, too", async (t) => {
  const names = ["addEventListener", "setAttribute", "removeAttribute", "requestSubmit", "method"];
  const fields = names.map((name) => field(name, name, 'value="x"')).join("");
  const page = await formPage(t, VALID + fields, { policy: STRICT });
  await page.fill("#email", "ada@@");
  await page.click("#send");
  assert.deepEqual(await problems(page), { email: EMAIL });
});

/**
 * Amounts that are typed into a control. Each row has the language, the type of the control, the typed text,
 * and the resulting number; null if the text is a problem.
 */
const AMOUNTS = [
  ["de", "text", "1.000", null],
  ["de", "text", " 12.500 ", null],
  ["fr", "tel", "250.000", null],
  ["de_AT", "text", "1.000", null],
  ["de", "text", "1,5", null],
  ["de", "text", "1000", 1000],
  ["de", "text", "1.5", 1.5],
  ["de", "text", "0.125", 0.125],
  ["de", "text", "1.0000", 1],
  ["de", "number", "1.250", 1.25],
  ["de", "hidden", "1.250", 1.25],
  ["de-CH", "text", "1.000", 1],
  ["en", "text", "1.250", 1.25],
  ["no such language", "text", "1.250", 1.25],
];

test("an amount that means one thousand or one, by its language, is a problem", async (t) => {
  const page = await formPage(t, VALID + field("coupon", "coupon", 'value="1.000"'));
  const found = await page.evaluate(
    (amounts) =>
      amounts.map(([lang, type, text]) => {
        Object.assign(document.forms[0], { lang });
        Object.assign(amount, { type, value: text });
        reference.value = "1.000";
        const { valid, payload, issues } = bound.read();
        if (valid) return [payload.pledges[0].impact.amount, payload.reference].join();
        return issues.map(({ code, field }) => `${code} ${field.id}`).join();
      }),
    AMOUNTS,
  );
  for (const [index, [lang, type, text, number]] of AMOUNTS.entries())
    assert.equal(
      found[index],
      number === null ? "invalid_type amount" : `${number},1.000`,
      `${lang} ${type} ${text}`,
    );
});

/**
 * Buttons by what they do. Each row has the attributes of the button and of the form, whether the form is
 * checked, and the expected result of {@link done}.
 */
const BUTTONS = {
  "sends the form": ["", "", true, "onSubmit"],
  "closes the dialog, by its own method": ["formmethod=dialog", "", false, "closed"],
  "closes the dialog, by the method of the form": ["", "method=dialog", false, "closed"],
  "sends the form of a dialog": ["formmethod=post", "method=dialog", true, "onSubmit"],
  "posts the form unchecked": ["formnovalidate", "", false, "/posted"],
  "posts the form to another address": ["formaction=/posted?draft", "", true, "/posted?draft"],
};

/** Opens a form in a dialog. Its button `press` and the form get these attributes. */
async function dialogPage(t, [button, form], options) {
  const page = await formPage(t, VALID, { ...options, binding: null });
  await page.evaluate(
    ([button, attribute]) => {
      const [form] = document.forms,
        dialog = document.createElement("dialog");
      form.replaceWith(dialog);
      dialog.append(form);
      if (attribute) form.setAttribute(...attribute.split("="));
      send.outerHTML = `<button id="press" value="pressed" ${button}>Press</button>`;
      dialog.showModal();
      bindIt();
    },
    [button, form],
  );
  return page;
}

/**
 * Returns what the button did: `onSubmit` if that function was called, `closed` if the dialog was closed, or
 * the address to which the browser posted.
 */
async function done(page) {
  await page.waitForTimeout(50);
  const { pathname, search } = new URL(page.url());
  if (pathname !== "/") return pathname + search;
  if ((await submitted(page)).length > 0) return "onSubmit";
  const { open, value } = await page.$eval("dialog", ({ open, returnValue }) => ({
    open,
    value: returnValue,
  }));
  return !open && value === "pressed" ? "closed" : "";
}

for (const [what, [button, form, isChecked, expected]] of Object.entries(BUTTONS))
  test(`a button that ${what}: the form is ${isChecked ? "" : "not "}checked`, async (t) => {
    const page = await dialogPage(t, [button, form]);
    await page.fill("#email", "ada@@");
    await page.click("#press");
    assert.equal(await done(page), isChecked ? "" : expected);
    if (!isChecked) return;
    assert.deepEqual(await problems(page), { email: EMAIL });
    await page.fill("#email", "ada@example.org");
    await page.click("#press");
    assert.equal(await done(page), expected);
  });

test("a button that closes the dialog does not wait for the rules", async (t) => {
  const { promise, resolve } = Promise.withResolvers();
  t.after(resolve);
  const page = await dialogPage(t, ["formmethod=dialog", ""], {
    policy: STRICT,
    onRules: (route) => promise.then(() => route.fallback()),
  });
  await page.click("#press");
  assert.equal(await done(page), "closed");
});
