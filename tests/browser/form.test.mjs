/** Tests `bindForm` in Chromium: what a shopper sees, and what a shop's code receives. */
import assert from "node:assert/strict";
import test from "node:test";
import { useBrowser } from "./chromium.mjs";
import {
  STRICT,
  VALID,
  box,
  field,
  formPage,
  isLiveVisible,
  leave,
  lines,
  problems,
  send,
  state,
  submitted,
  told,
} from "./form-page.mjs";

useBrowser();

const EMAIL = "Enter an e-mail address such as ada@example.org";
const MORE = "Enter a number greater than 0";
const EMPTY = "Fill in this field";
const AT_LEAST = "Choose at least 1 item";
const LOST = /no field can show/;
/**
 * Field states. `QUIET`: the field has no problem. `CALM`: the browser finds the field invalid, but no
 * problem is shown yet.
 */
const QUIET = { invalid: null, custom: false };
const CALM = { invalid: "false", custom: true };

/** Defines a test twice: with wasm, and under a policy that forbids wasm. */
function both(name, work) {
  for (const [ending, policy] of [
    ["", undefined],
    [", without wasm", STRICT],
  ])
    test(name + ending, (t) =>
      work(t, (fields, options) => formPage(t, fields, { policy, ...options })),
    );
}

/**
 * Forms by description. Each row has the form's fields, and the members in which the resulting payload differs
 * from `VALID`.
 */
const CONTROLS = {
  "texts, an empty one, a list, boxes, and a field of the shop's": [
    `${VALID}${field("first-name", "recipient.firstName")}${field("coupon", "coupon", 'value="SPRING"')}
    <textarea name="pledges.0.detail.description">Two\nlines</textarea>
    <select name="pledges.0.detail.nounPlural"><option>trees<option>oaks</select>
    ${box("Email").replace("id", "checked id")}${box("MessagingServiceA")}`,
    {
      pledges: [
        {
          impact: { amount: 3, offeringId: "tree" },
          detail: { description: "Two\nlines", nounPlural: "trees" },
        },
      ],
      notifications: ["Email"],
    },
  ],
  "radio buttons, several of a list, a local time and a disabled field": [
    `${field("reference", "reference", 'readonly value="order-1"')}${field("email", "recipient.email", 'value="ada@example.org"')}
    <label><input type="radio" name="pledges.4.impact.offeringId" value="tree"> trees</label>
    <label><input type="radio" name="pledges.4.impact.offeringId" value="plastic-kg" checked> plastic</label>
    <input name="pledges.4.impact.amount" value=" .5 ">
    <fieldset disabled>${field("extra", "pledges.1.impact.amount", 'value="x"')}</fieldset>
    <input type="datetime-local" name="trigger.date" value="2026-01-31T12:00">
    <select multiple name="notifications"><option selected>Email<option selected value="MessagingServiceA">A</select>`,
    {
      pledges: [{ impact: { amount: 0.5, offeringId: "plastic-kg" } }],
      trigger: { date: "2026-01-31T12:00:00Z" },
      notifications: ["Email", "MessagingServiceA"],
    },
  ],
  "a date, of the same day wherever the browser is": [
    `${VALID}${field("day", "trigger.date", 'type="date" value="2026-07-31"')}`,
    {
      pledges: [{ impact: { amount: 3, offeringId: "tree" } }],
      trigger: { date: "2026-07-31T00:00:00Z" },
    },
  ],
};

for (const [name, [fields, members]] of Object.entries(CONTROLS)) {
  both(`${name}: a payload`, async (_, open) => {
    const page = await open(fields);
    await send(page);
    assert.deepEqual(await submitted(page), [
      { reference: "order-1", recipient: { email: "ada@example.org" }, ...members },
    ]);
  });
}

both("a field is checked as it is left, and again as it is corrected", async (_, open) => {
  const page = await open(VALID);
  await page.fill("#email", "");
  await page.focus("#email");
  await page.keyboard.type("ada@");
  assert.deepEqual(await state(page, "email"), CALM, "not while it is typed for the first time");
  await leave(page);
  const left = { problems: { email: EMAIL }, lines: [EMAIL], focus: "amount" };
  assert.deepEqual(await told(page), left);
  assert.ok(await page.$eval("#email", (input) => input.matches(":user-invalid")));
  await page.focus("#email");
  await page.keyboard.press("End");
  await page.keyboard.type("example.or");
  assert.deepEqual(await state(page, "email"), QUIET, "as soon as it is right");
  await page.fill("#email", "ada@@");
  assert.deepEqual(await problems(page), { email: EMAIL }, "and wrong again");
});

/**
 * Mistakes in an otherwise valid form. Each row has the field, the text that is typed into the field, and the
 * expected message.
 */
const MISTAKES = [
  ["reference", "", EMPTY],
  ["email", "ada@", EMAIL],
  ["amount", "-1", MORE],
  ["amount", "1e", "Enter a number"], // which the browser can't read
  ["typo", "x", "This field is not used here"],
  ["outer", "example.org/orders", "Enter a web address such as https://example.org/"],
  ["zip", "1234", "Five digits"], // its title
];

test("each mistake is shown at its field, in words for a shopper", async (t) => {
  const page = await formPage(
    t,
    `${VALID}${field("typo", "recipient.emial")}${field("zip", "address.zip", 'required pattern="[0-9]{5}" title="Five digits" value="12345"')}`,
    { outside: field("outer", "trigger.externalUrl", 'form="form"') },
  );
  for (const [id, typed, text] of MISTAKES) {
    const right = await page.inputValue(`#${id}`);
    await page.fill(`#${id}`, "");
    await page.focus(`#${id}`);
    await page.keyboard.type(typed);
    await leave(page);
    const wrong = { [id]: text };
    assert.deepEqual(await problems(page), wrong);
    await send(page);
    assert.deepEqual(await submitted(page), []);
    const sent = { problems: wrong, lines: ["Please check 1 entry"], focus: id };
    assert.deepEqual(await told(page), sent);
    await page.fill(`#${id}`, right);
    assert.deepEqual(await told(page), { problems: {}, lines: [], focus: id });
  }
});

test("a message that appears when a field loses the focus does not swallow a click", async (t) => {
  const page = await formPage(t, VALID);
  await page.evaluate(() =>
    document.addEventListener("click", ({ target }) => (globalThis.clicked = target.id)),
  );
  await page.fill("#amount", "-1");
  await page.hover("#send");
  await page.mouse.down();
  assert.deepEqual(await state(page, "amount"), CALM, "not while the button is down");
  await page.mouse.up();
  assert.equal(await page.evaluate(() => globalThis.clicked), "send");
  assert.deepEqual(await problems(page), { amount: MORE });
});

both("problems are shown as the form is sent, and it goes to the first", async (_, open) => {
  const page = await open(
    `${field("reference", "reference")}<details><summary>More</summary>${field("email", "recipient.email", 'value="x"')}</details>${field("amount", "pledges.0.impact.amount")}`,
    { expected: LOST },
  );
  for (const id of ["reference", "email", "amount"]) assert.deepEqual(await state(page, id), CALM);
  assert.equal(await page.$eval("form", (form) => form.checkValidity()), false);
  assert.equal(await page.$$eval(":user-invalid", (all) => all.length), 0);
  const issues = await page.evaluate(() =>
    reported.flat().map(({ pointer, code, field }) => `${pointer} ${code} ${field.id}`),
  );
  assert.deepEqual(issues, [
    "/reference required reference",
    "/recipient/email invalid_email email",
    "/pledges too_few_items amount",
  ]);
  await page.evaluate(() =>
    document.forms[0].addEventListener("submit", () => submitted.push("another listener")),
  );
  await send(page);
  assert.deepEqual(await submitted(page), [], "no submit is reported");
  assert.deepEqual(await told(page), {
    problems: { reference: EMPTY, email: EMAIL, amount: AT_LEAST },
    lines: ["Please check 3 entries"],
    focus: "reference",
  });
  await page.fill("#reference", "r");
  await page.fill("#amount", "1");
  await send(page);
  assert.equal((await told(page)).focus, "email");
  assert.ok(await page.isVisible("#email"), "what was folded up is unfolded");
});

test("a problem without a field is shown in the visible live region, and its path only to the developer", async (t) => {
  const page = await formPage(
    t,
    `${field("reference", "reference", 'value="r"')}${field("email", "recipient.email", 'value="ada@example.org"')}
    ${field("amount", "pledges.0.impact.amount", 'value="1"')}${field("more", "pledges.1.impact.amount")}`,
    { expected: LOST },
  );
  const warned = [];
  page.on("console", (message) => warned.push(message.text()));
  const lost = "impact-pledge: no field can show /pledges/0/impact/offeringId required";
  await send(page);
  assert.deepEqual(await submitted(page), []);
  assert.deepEqual(await lines(page), ["Please check 1 entry", EMPTY]);
  assert.ok(await isLiveVisible(page));
  await page.fill("#more", "2");
  await send(page);
  assert.deepEqual(await lines(page), ["Please check 1 entry", EMPTY], "shown once");
  assert.deepEqual(warned, [lost, `${lost}, /pledges/1/impact/offeringId required`]);
  await page.fill("#more", "");
  await page.fill("#amount", "");
  assert.deepEqual(await lines(page), ["Please check 1 entry", AT_LEAST], "as long as it holds");
});

test("fields that are added later are checked, and removed fields are forgotten", async (t) => {
  const page = await formPage(t, VALID);
  const more = `<div id="added">${field("more", "pledges.1.impact.amount")}${field("what", "pledges.1.impact.offeringId", 'value="tree"')}</div>`;
  const add = () =>
    page.$eval("form", (form, more) => form.insertAdjacentHTML("beforeend", more), more);
  await add();
  await page.fill("#more", "-1");
  await send(page);
  const { problems, focus } = await told(page);
  assert.deepEqual([problems, focus], [{ more: MORE }, "more"]);
  await page.evaluate(() => document.querySelector("#added").remove());
  await send(page);
  await add();
  await page.fill("#more", "2");
  await send(page);
  assert.deepEqual(
    (await submitted(page)).map(({ pledges }) => pledges.length),
    [1, 2],
  );
});

test("the page's own texts are used by code, and other codes keep their text", async (t) => {
  const page = await formPage(
    t,
    field("email", "recipient.email", 'value="x"') +
      field("reference", "reference") +
      field("amount", "pledges.0.impact.amount", 'value="-1"'),
    {
      binding: () => ({
        messages: {
          invalid_email: "Das ist keine E-Mail-Adresse.",
          required: ({ path, pointer, field }) => `${path.length} ${pointer} ${field?.id}`,
          not_positive: () => undefined,
        },
        summary: (count) => `${count} Fehler`,
      }),
      expected: LOST,
    },
  );
  await send(page);
  assert.deepEqual(await problems(page), {
    email: "Das ist keine E-Mail-Adresse.",
    reference: "1 /reference reference",
    amount: MORE,
  });
  assert.equal((await lines(page))[0], "4 Fehler");
});

/**
 * Problems in the shop's own fields that only the browser finds. Each row has the field's attributes, the typed
 * text, and the expected message in German.
 */
const FOUND_BY_BROWSER = {
  name: ["required", "", "Bitte füllen Sie dieses Feld aus"],
  copy: ['type="email"', "ada", "Geben Sie eine E-Mail-Adresse wie ada@example.org ein"],
  site: ['type="url"', "x", "Geben Sie eine vollständige Webadresse wie https://example.org/ ein"],
  count: ['type="number"', "1e", "Geben Sie eine Zahl ein"],
  day: ['type="date"', "1", "Geben Sie ein gültiges Datum mit Uhrzeit ein"],
  least: ['type="number" min="0.0005" step="any"', "0", "Mindestens 0.0005"],
  most: ['type="number" max="1"', "2", "Höchstens 1"],
  whole: ['type="number"', "1.5", "Dieser Wert passt hier nicht"],
  zip: ['pattern="[0-9]{5}"', "1", "Dieser Wert passt hier nicht"],
  own: ['pattern="x"', "y", "Aus dem Skript der Seite"],
};

test("problems that only the browser finds have the language of the other texts", async (t) => {
  const fields = Object.entries(FOUND_BY_BROWSER).map(([id, [attributes]]) =>
    field(id, `address.${id}`, attributes),
  );
  const page = await formPage(t, VALID + fields.join(""), { binding: () => ({ messages: de }) });
  for (const [id, [, typed]] of Object.entries(FOUND_BY_BROWSER)) {
    await page.focus(`#${id}`);
    await page.keyboard.type(typed);
  }
  await page.$eval("#own", (input) => input.setCustomValidity("Aus dem Skript der Seite"));
  await send(page);
  const texts = Object.entries(FOUND_BY_BROWSER).map(([id, [, , text]]) => [id, text]);
  assert.deepEqual(await problems(page), Object.fromEntries(texts));
});

test("texts by code are also used for problems that the browser finds", async (t) => {
  const page = await formPage(t, VALID + field("zip", "address.zip", "required"), {
    binding: () => ({
      optional: true,
      messages: ({ code, path, pointer, field, meta }) =>
        [code, path, pointer, field.id, Object.keys(meta)].join(" "),
    }),
  });
  await send(page);
  assert.deepEqual(await problems(page), { zip: "required address,zip /address/zip zip " });
});

test("a group that is still empty is not shown as a problem before the form is sent", async (t) => {
  const page = await formPage(
    t,
    `${field("reference", "reference", 'value="r"')}${field("email", "recipient.email", 'value="ada@example.org"')}
    <p id="place" data-problem="pledges"></p>
    <input type="hidden" name="pledges.0.impact.offeringId" value="tree">${field("trees", "pledges.0.impact.amount")}
    <input type="hidden" name="pledges.1.impact.offeringId" value="plastic-kg">${field("plastic", "pledges.1.impact.amount")}`,
  );
  await page.focus("#trees");
  await leave(page);
  assert.deepEqual(await state(page, "trees"), CALM);
  await send(page);
  assert.equal(await page.textContent("#place"), AT_LEAST);
  assert.deepEqual(await problems(page), { trees: AT_LEAST });
  await page.fill("#plastic", "1");
  assert.equal(await page.textContent("#place"), "", "the other one will do as well");
  assert.deepEqual(await state(page, "trees"), QUIET);
  await send(page);
  const [{ pledges }] = await submitted(page);
  assert.deepEqual(pledges, [{ impact: { amount: 1, offeringId: "plastic-kg" } }]);
});

test("too many boxes are shown at once, in their group", async (t) => {
  const boxes = ["Email", "MessagingServiceA", "MessagingServiceB", "MessagingServiceC"];
  const page = await formPage(
    t,
    `${VALID}<fieldset id="group"><legend>How</legend>${boxes.map(box).join("")}</fieldset>`,
  );
  for (const id of boxes) await page.check(`#${id}`);
  assert.deepEqual(await problems(page), { Email: "Choose at most 3 items" });
  assert.equal(await page.textContent("#group > :last-child"), "Choose at most 3 items");
  await page.uncheck("#MessagingServiceB");
  assert.deepEqual(await state(page, "Email"), QUIET);
});

test("a server's message stays until its field, or any field of its group, changes, and does not block the form", async (t) => {
  const [taken, none] = ["We know this address under another name.", "No more trees today."];
  const served = 'type="email" aria-invalid="true" aria-describedby="hint own"';
  const page = await formPage(
    t,
    `${VALID.replace('type="email"', served)}<p id="hint">We write once.</p><p id="own" data-problem="recipient.email">${taken}</p>
    <p id="group" data-problem="pledges">${none}</p>${field("second", "pledges.1.impact.amount")}<input type="hidden" name="pledges.1.impact.offeringId" value="plastic-kg">`,
  );
  const both = { email: `We write once. ${taken}`, amount: none };
  assert.deepEqual(await problems(page), both);
  assert.ok(await page.$eval("form", (form) => form.checkValidity()));
  await page.fill("#reference", "order-2");
  assert.deepEqual(await problems(page), both);
  await page.fill("#email", "x");
  await leave(page);
  assert.deepEqual(await problems(page), { email: `We write once. ${EMAIL}`, amount: none });
  assert.equal(await page.textContent("#own"), EMAIL, "in the page's own element");
  await page.fill("#email", "ada@example.com");
  assert.deepEqual(await problems(page), { amount: none });
  assert.equal(await page.getAttribute("#email", "aria-describedby"), "hint");
  await page.fill("#second", "1");
  assert.deepEqual(await problems(page), {});
  assert.deepEqual(await state(page, "email"), QUIET);
  await send(page);
  assert.equal((await submitted(page)).length, 1);
});

both("while an order is on its way, the form is busy and is not sent twice", async (_, open) => {
  const page = await open(VALID);
  await page.evaluate(() => {
    const { promise, resolve } = Promise.withResolvers();
    Object.assign(globalThis, { answer: () => promise, done: resolve });
  });
  await send(page);
  await send(page);
  assert.equal((await submitted(page)).length, 1);
  assert.equal(await page.getAttribute("form", "aria-busy"), "true");
  await page.evaluate(() => globalThis.done());
  await page.waitForSelector("form:not([aria-busy])");
  await send(page);
  assert.equal((await submitted(page)).length, 2);
});

both("without `onSubmit` the browser posts the form, once it is valid", async (_, open) => {
  const page = await open(VALID, { binding: () => ({ onSubmit: undefined }) });
  await page.fill("#email", "x");
  await send(page);
  assert.equal(page.url(), "http://form.test/");
  await page.fill("#email", "ada@example.org");
  await Promise.all([page.waitForURL(/posted/), send(page)]);
  assert.match(await page.textContent("pre"), /recipient\.email=ada%40example\.org/);
});

test("`onSubmit` gets the data that the browser would post, also the shop's own fields and the button", async (t) => {
  const own =
    '<input name="coupon" value="SPRING"><input type="checkbox" name="gift"><button id="express" name="how" value="express">Express</button>';
  const page = await formPage(t, VALID + own, {
    binding: () => ({
      onSubmit: (_, { data, event }) => {
        globalThis.seen = [event.type, `${new URLSearchParams(data)}`];
      },
    }),
  });
  await page.click("#express");
  const [type, data] = await page.evaluate(() => globalThis.seen);
  await page.evaluate(() => bound.unbind());
  await Promise.all([page.waitForURL(/posted/), page.click("#express")]);
  assert.deepEqual([type, data], ["submit", await page.textContent("pre")]);
  assert.match(data, /&coupon=SPRING&how=express$/);
});

test("a button with `formnovalidate` sends the form unchecked", async (t) => {
  const draft = '<button formnovalidate id="draft" formaction="/posted/draft">Draft</button>';
  const page = await formPage(t, VALID.replace('value="order-1"', "") + draft);
  await Promise.all([page.waitForURL(/posted\/draft/), page.click("#draft")]);
});

both("unbinding leaves nothing behind", async (_, open) => {
  const page = await open(VALID, { binding: null });
  const html = () => page.$eval("form", (form) => form.outerHTML);
  const before = await html();
  await page.evaluate(() => bindIt());
  await page.fill("#email", "x");
  await send(page);
  const count = await page.evaluate(() => {
    bound.unbind();
    return reported.length;
  });
  assert.equal(await html(), before);
  await page.fill("#amount", "-1");
  await leave(page);
  for (const id of ["email", "amount"]) assert.deepEqual(await state(page, id), QUIET);
  assert.equal(await page.evaluate(() => reported.length), count, "no listener is left");
  await page.evaluate(() => bindIt());
  await send(page);
  assert.equal((await problems(page)).amount, MORE, "and it can be bound again");
});

test("values set by a script are read by `read`, and their problems shown after `refresh`", async (t) => {
  const page = await formPage(t, VALID);
  await page.focus("#email");
  await leave(page);
  const found = await page.evaluate(() => {
    document.querySelector("#email").value = "x";
    const { payload, issues } = bound.read();
    return [payload.recipient.email, ...issues.map(({ code, field }) => [code, field.id])];
  });
  assert.deepEqual(found, ["x", ["invalid_email", "email"]]);
  assert.deepEqual(await problems(page), {});
  await page.evaluate(() => bound.refresh());
  assert.deepEqual(await problems(page), { email: EMAIL });
});

const OPTIONS = "`messages`, `summary`, `onSubmit`, `onIssues`, `optional`, `timeZone`";
/**
 * Mistakes in a developer's code. Each row has an expression that runs in the page, and the error that the
 * expression must cause.
 */
const MISUSE = {
  'bindForm(document.querySelector("#none"))':
    "`bindForm` takes a form element, not null: is it in the page yet?",
  "bindForm(document.body)":
    "`bindForm` takes a form element, not [object HTMLBodyElement]: is it in the page yet?",
  "bindForm(form, { onsubmit() {} })": `\`onsubmit\` is not an option here; the options are ${OPTIONS}`,
  'bindForm(form, "x")': `\`0\` is not an option here; the options are ${OPTIONS}`,
  'bindForm(form, { onSubmit: "send" })': "`onSubmit` must be a function",
  "bindForm(form, { onIssues: {} })": "`onIssues` must be a function",
  'bindForm(form, { summary: "x" })': "`summary` must be a function",
  "bindForm(form, { messages: null })": "`messages` must be a function or object",
  "bindForm(form, { optional: 1 })": "`optional` must be a boolean",
  "bindForm(form, { timeZone: 1 })": "`timeZone` must be a time zone such as `Europe/Berlin`",
};

test("misuse is an error for the developer, before anything is changed", async (t) => {
  const page = await formPage(t, VALID, { binding: null });
  const html = () => page.$eval("form", (form) => form.outerHTML + form.noValidate);
  const before = await html();
  const rejects = (misuse, message) =>
    assert.rejects(page.evaluate(misuse), ({ message: found }) =>
      found.includes(`TypeError: ${message}\n`),
    );
  for (const [misuse, message] of Object.entries(MISUSE)) await rejects(misuse, message);
  assert.equal(await html(), before);
  await page.evaluate(() => bindIt({ messages: undefined, timeZone: undefined }));
  await rejects("bindForm(form)", "this form is bound already: unbind it first");
});

both("an optional pledge: the order goes on without one", async (_, open) => {
  const page = await open(
    `${VALID.replace('value="3"', 'value="0"')}${field("zip", "address.zip", 'required value="1"')}`,
    { binding: () => ({ optional: true }) },
  );
  const none = { valid: true, payload: null, issues: [] };
  assert.deepEqual(await page.evaluate(() => bound.read()), none);
  await send(page);
  await page.fill("#email", "ada@@");
  await page.fill("#zip", "");
  await send(page);
  assert.deepEqual(Object.keys(await problems(page)), ["email", "zip"]);
  await page.fill("#zip", "1");
  await page.fill("#amount", "2");
  await send(page);
  assert.deepEqual(await problems(page), { email: EMAIL }, "with a pledge, the rules hold");
  await page.fill("#email", "ada@example.org");
  await send(page);
  const [without, { pledges }] = await submitted(page);
  assert.deepEqual([without, pledges[0].impact.amount], [null, 2]);
});

/**
 * Cases in which the form's rules cannot run, by description. Each case has the page's policy, a global that
 * is missing, what happens to the request for the rules, and the logged reason.
 */
const NO_RULES = {
  "a policy forbids wasm, and the other rules do not come": [
    STRICT,
    "",
    "abort",
    /imported module/,
  ],
  "there is no WebAssembly, and the other rules do not come": [
    "",
    "WebAssembly",
    "abort",
    /imported module/,
  ],
};

for (const [name, [policy, missing, outcome, reason]] of Object.entries(NO_RULES)) {
  test(`where ${name}, the browser handles the form by itself`, async (t) => {
    const expected = /wasm|Content Security Policy|impact-pledge|ERR_FAILED/i;
    const onRules = (route) => route[outcome]();
    const given = { policy: policy || undefined, binding: null, expected, onRules };
    const page = await formPage(t, VALID, given);
    const logged = [];
    page.on("console", (message) => logged.push(`${message.type()} ${message.text()}`));
    const found = await page.evaluate(async (missing) => {
      delete globalThis[missing];
      const before = document.forms[0].outerHTML;
      bindIt();
      const { isActive } = bound;
      const reading = bound.read();
      bound.refresh();
      bound.report([{ path: ["reference"], message: "x" }]);
      const why = await ready().catch(({ message }) => message);
      const isNow = bound.isActive;
      bindIt();
      return { isActive, isNow, reading, why, isUntouched: document.forms[0].outerHTML === before };
    }, missing);
    const { why, ...others } = found;
    const reading = { valid: false, issues: [] };
    assert.deepEqual(others, { isActive: false, isNow: false, reading, isUntouched: true });
    const ours = logged.filter((line) => line.startsWith("error impact-pledge:"));
    assert.equal(ours.length, 1, "once for the page");
    assert.match(ours[0], reason);
    assert.match(why, reason);
    await assert.rejects(page.evaluate("bindIt({ onsubmit() {} })"), /is not an option/);
    await page.fill("#email", "ada@@");
    await send(page);
    assert.equal(page.url(), "http://form.test/", "the browser's own check");
    await page.fill("#email", "ada@example.org");
    await Promise.all([page.waitForURL(/posted/), send(page)]);
  });
}

test("a form needs neither TextEncoder nor TextDecoder", async (t) => {
  const page = await formPage(t, VALID, { binding: null });
  await page.evaluate(() => {
    for (const name of ["TextEncoder", "TextDecoder"]) delete globalThis[name];
    bindIt();
  });
  await page.fill("#email", "größe@");
  await send(page);
  assert.deepEqual(await problems(page), { email: EMAIL });
});

test("without WebAssembly the rules are loaded separately, once; with it never", async (t) => {
  let loads = 0;
  const onRules = (route) => {
    loads += 1;
    return route.fallback();
  };
  const page = await formPage(t, VALID, { onRules });
  await send(page);
  assert.equal(loads, 0);
  await page.goto("http://form.test/");
  await page.evaluate(() => {
    delete globalThis.WebAssembly;
    bindIt();
    bound.unbind();
    bindIt();
    return ready();
  });
  assert.ok(await page.evaluate(() => bound.isActive), "as soon as `ready` is");
  await page.fill("#email", "ada@@");
  await send(page);
  assert.deepEqual([await problems(page), loads], [{ email: EMAIL }, 1]);
});

/**
 * Opens a form whose rules arrive only when the test calls `arrive`. The page's policy blocks WebAssembly.
 */
async function slowForm(t, options) {
  const { promise, resolve } = Promise.withResolvers();
  const page = await formPage(t, VALID, {
    policy: STRICT,
    onRules: (route) => promise.then(() => route.fallback()),
    ...options,
  });
  return { page, arrive: resolve };
}

const isBusy = (page) => page.$eval("form", (form) => form.matches("[aria-busy=true]"));

test("while the rules load, only the browser checks, and sending the form waits for them", async (t) => {
  const { page, arrive } = await slowForm(t);
  await page.fill("#email", "ada@@");
  await send(page);
  assert.deepEqual([await isBusy(page), await page.evaluate(() => bound.isActive)], [false, false]);
  await page.fill("#email", "ada..lovelace@example.org"); // valid for HTML
  await send(page);
  await send(page);
  assert.deepEqual([await isBusy(page), await submitted(page)], [true, []]);
  arrive();
  await page.waitForSelector("form:not([aria-busy])");
  assert.deepEqual([await problems(page), await submitted(page)], [{ email: EMAIL }, []]);
  await page.fill("#email", "ada@example.org");
  await send(page);
  assert.equal((await submitted(page)).length, 1);
});

test("a form that was sent before the rules have loaded is sent once they have, with its button", async (t) => {
  const { page, arrive } = await slowForm(t, {
    binding: () => ({ onSubmit: (_, { data }) => submitted.push(`${new URLSearchParams(data)}`) }),
  });
  await page.$eval("#send", (button) => button.setAttribute("name", "how"));
  await send(page);
  arrive();
  await page.waitForFunction(() => submitted.length > 0);
  const [data, ...others] = await submitted(page);
  assert.match(data, /&how=$/);
  assert.deepEqual(others, []);
});

test("late rules do not block an order: after 5 seconds it goes to the server, which checks it", async (t) => {
  const { page } = await slowForm(t);
  await page.clock.install({ time: 0 });
  await page.clock.pauseAt(60_000); // from here on, no time passes by itself
  await send(page);
  await page.clock.fastForward(4_900);
  assert.ok(await isBusy(page));
  await Promise.all([page.waitForURL(/posted/), page.clock.fastForward(200)]);
});

test("a form that is unbound while its rules load is handled by the browser, and a pending submission continues", async (t) => {
  const { page, arrive } = await slowForm(t);
  await send(page);
  await page.evaluate(() => bound.unbind());
  arrive();
  await page.waitForURL(/posted/);
});

test("20,000 fields, each with a problem and an element for it, are shown", async (t) => {
  const page = await formPage(t, "", { binding: null, expected: LOST });
  const shown = await page.evaluate(() => {
    const [form] = document.forms;
    const row = (n) =>
      `<textarea hidden required name="address.${n}"></textarea><p hidden data-problem="address.${n}"></p>`;
    form.innerHTML = Array.from({ length: 20_000 }, (_, n) => row(n)).join("");
    bindIt();
    form.requestSubmit();
    return form.querySelectorAll("[aria-invalid]").length;
  });
  assert.equal(shown, 20_000);
});
