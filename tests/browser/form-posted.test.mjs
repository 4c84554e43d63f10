/**
 * Tests that a form's payload equals what the browser posts, also with custom elements and `formdata`
 * listeners. Also tests that typing is never disturbed.
 */
import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { useBrowser } from "./chromium.mjs";
import { defineBox, defineListener, defineText } from "./elements.mjs";
import { VALID, field, formPage, leave, problems, send, submitted } from "./form-page.mjs";

useBrowser();

const EMAIL = "Enter an e-mail address such as ada@example.org";
const REST = `${field("reference", "reference", 'value="order-1"')}<input type="hidden" name="pledges.0.impact.offeringId" value="tree">`;
const AMOUNT = field("amount", "pledges.0.impact.amount", 'value="1"');

/**
 * Opens a page with a form that contains custom elements. The form is bound once the elements are defined.
 */
async function withElements(t, fields, options, expected) {
  const page = await formPage(t, fields, { binding: null, expected });
  for (const define of [defineText, defineBox, defineListener]) await page.evaluate(define);
  await page.evaluate((options) => bindIt(options), options);
  return page;
}

for (const tag of ["x-text", "x-listener"])
  for (const delay of [0, 40])
    test(`typing into <${tag}> at ${delay} ms a key loses no character, and its problem appears and disappears`, async (t) => {
      const page = await withElements(
        t,
        `${REST}${AMOUNT}<${tag} id="own" name="recipient.email"></${tag}>`,
      );
      const value = () => page.$eval("#own", (element) => element.value);
      await page.click("#own");
      await page.keyboard.type("ada@@example.org", { delay });
      await leave(page);
      assert.equal(await value(), "ada@@example.org");
      await page.waitForFunction(() => document.querySelector("#own[aria-invalid=true]"));
      assert.deepEqual(await problems(page), { own: EMAIL });
      await send(page);
      assert.deepEqual(await submitted(page), []);
      assert.ok(await page.$eval("#own", (element) => element.matches(":focus-within")));
      await page.keyboard.press("Control+A");
      await page.keyboard.type("ada@example.org", { delay });
      assert.equal(await value(), "ada@example.org");
      await page.waitForFunction(() => !document.querySelector("[aria-invalid=true]"));
      await send(page);
      assert.equal((await submitted(page))[0].recipient.email, "ada@example.org");
    });

test("text that an input method composes is not changed", async (t) => {
  const page = await withElements(
    t,
    `${REST}${AMOUNT}<x-text id="own" name="recipient.name"></x-text>`,
  );
  const session = await page.context().newCDPSession(page);
  await page.click("#own");
  for (const text of ["z", "zh", "zho", "zhong", "中"])
    await session.send("Input.imeSetComposition", {
      text,
      selectionStart: text.length,
      selectionEnd: text.length,
    });
  await session.send("Input.insertText", { text: "中文" });
  assert.equal(await page.$eval("#own", (element) => element.value), "中文");
});

test("a check runs after the handlers of an event, and after one that stops it", async (t) => {
  const page = await formPage(t, VALID);
  await page.evaluate(() => {
    const email = document.querySelector("#email");
    email.addEventListener("input", (event) => {
      email.value = email.value.toLowerCase().replace(" at ", "@");
      event.stopPropagation();
    });
  });
  await page.fill("#email", "ADA at EXAMPLE.ORG");
  await leave(page);
  assert.deepEqual(await problems(page), {});
  await page.fill("#email", "ada");
  await page.waitForFunction(() => document.querySelector("#email[aria-invalid=true]"));
});

test("a custom element posts the value that it set, and nothing else of it is pledged", async (t) => {
  const page = await withElements(
    t,
    `${REST}${field("email", "recipient.email", 'value="ada@example.org"')}<x-box id="box" name="pledges.0.impact.amount" value="2"></x-box>`,
    { optional: true },
  );
  const payload = () => page.evaluate(() => bound.read().payload);
  assert.equal(await payload(), null);
  await page.click("#box");
  assert.equal((await payload()).pledges[0].impact.amount, 2);
  await page.click("#box");
  await send(page);
  assert.deepEqual(await submitted(page), [null]);
});

test("a custom element without any validity shows its problem, too", async (t) => {
  const page = await withElements(
    t,
    `${REST}${field("email", "recipient.email", 'value="ada@example.org"')}<x-box id="box" name="pledges.0.impact.amount" value="-1"></x-box>`,
  );
  await send(page);
  assert.deepEqual(await problems(page), { box: "Choose at least 1 item" });
  await page.click("#box");
  await send(page);
  assert.deepEqual(await problems(page), { box: "Enter a number greater than 0" });
});

test("a component whose problem disappears late does not block the order", async (t) => {
  const page = await withElements(
    t,
    `${REST}${AMOUNT}<x-text id="own" late name="recipient.email"></x-text>`,
  );
  await page.click("#own");
  await page.keyboard.type("x");
  await leave(page);
  await page.waitForFunction(
    (text) => document.querySelector("#own").validationMessage === text,
    EMAIL,
  );
  const sent = await page.evaluate(async () => {
    document.querySelector("#own").value = "ada@example.org";
    await null;
    document.forms[0].requestSubmit();
    return submitted.length;
  });
  assert.equal(sent, 1);
});

test("the entry list is built once when the form is sent, before it is busy, and never while the user types", async (t) => {
  const page = await formPage(t, VALID, {
    binding: () => ({
      onSubmit(payload, { data }) {
        submitted.push([payload.reference, data.get("reference"), data.get("token")]);
      },
    }),
  });
  await page.evaluate(() => {
    globalThis.lists = [];
    document.forms[0].addEventListener("formdata", ({ target, formData }) => {
      lists.push(target.ariaBusy);
      formData.set("reference", `${formData.get("reference")}-x`);
      formData.append("token", "t");
    });
  });
  const lists = () => page.evaluate(() => lists);
  await page.fill("#email", "ada@example.com");
  await leave(page);
  assert.deepEqual(await lists(), []);
  await send(page);
  assert.deepEqual(await submitted(page), [["order-1-x", "order-1-x", "t"]]);
  assert.deepEqual(await lists(), [null]);
});

test("values that only a `formdata` listener adds are known once the form was sent", async (t) => {
  const page = await formPage(t, VALID.replace(/<p>.*?reference.*?<\/p>/, ""), {
    expected: /no field/,
  });
  await page.evaluate(() =>
    document.forms[0].addEventListener("formdata", ({ formData }) =>
      formData.append("reference", "listened"),
    ),
  );
  await page.fill("#email", "x");
  await send(page);
  assert.deepEqual(Object.keys(await problems(page)), ["email"]);
  await page.fill("#email", "ada@example.org");
  assert.deepEqual(await page.evaluate(() => reported.at(-1)), [], "the issues while one types");
  await send(page);
  assert.equal((await submitted(page))[0].reference, "listened");
});

// ---- Any form ------------------------------------------------------------------------------------------

const NAMES = ["reference", "recipient.email", "recipient.name", "recipient.x", "pledges"];
NAMES.push("pledges.0.impact.amount", "pledges.0.impact.offeringId", "pledges.0.detail.name");
NAMES.push(
  "pledges.1.impact.amount",
  "pledges.1.impact.offeringId",
  "notifications",
  "notifications.0",
);
NAMES.push("trigger.date", "trigger.externalUrl", "trigger", "coupon", "");
const VALUES = [
  "",
  "0",
  "1",
  "2.5",
  "-1",
  "x",
  "tree",
  "Email",
  "ada@example.org",
  " ada@example.org ",
  "a&quot;b",
];
VALUES.push("https://a.example", "2026-01-31", "a&#10;b", "a&#13;&#10;b", "a&#13;b", "größe");
const TYPES = [
  "text",
  "hidden",
  "number",
  "email",
  "url",
  "checkbox",
  "radio",
  "date",
  "file",
  "image",
  "submit",
  "range",
];

const name = fc.constantFrom(...NAMES);
const value = fc.constantFrom(...VALUES);
const flag = (text) => fc.constantFrom("", "", text);
const attributes = fc
  .tuple(name, flag("disabled"), flag('form="form"'), flag("readonly"), flag('form="nowhere"'))
  .map(([name, ...others]) => `name="${name}" ${others.join(" ")}`);
const control = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(...TYPES),
      attributes,
      value,
      flag("checked"),
      flag('dirname="trigger.phrase"'),
    )
    .map(
      ([type, all, value, ...others]) =>
        `<input type="${type}" ${all} value="${value}" ${others.join(" ")}>`,
    ),
  fc.tuple(attributes, value).map(([all, value]) => `<textarea ${all}>${value}</textarea>`),
  fc
    .tuple(
      attributes,
      flag("multiple"),
      fc.array(fc.tuple(value, flag("selected"), flag("disabled")), { maxLength: 4 }),
    )
    .map(
      ([all, multiple, options]) =>
        `<select ${all} ${multiple}>${options.map(([value, ...others]) => `<option value="${value}" ${others.join(" ")}>`).join("")}</select>`,
    ),
  fc
    .tuple(attributes, value)
    .map(([all, value]) => `<x-listener ${all} value="${value}"></x-listener>`),
  fc
    .tuple(attributes, value, flag("ticked"))
    .map(([all, value, ticked]) => `<x-box ${all} value="${value}" class="${ticked}"></x-box>`),
  fc
    .tuple(attributes, value)
    .map(([all, value]) => `<x-text ${all} data-value="${value}"></x-text>`),
  fc
    .tuple(attributes, value)
    .map(
      ([all, value]) =>
        `<object ${all}></object><output ${all}>${value}</output><button ${all} value="${value}">b</button>`,
    ),
);
const part = fc.oneof(
  { weight: 5, arbitrary: control },
  fc
    .tuple(control, flag("disabled"))
    .map(([control, disabled]) => `<fieldset ${disabled}>${control}</fieldset>`),
);
const form = fc.record({
  inside: fc.array(part, { maxLength: 12 }),
  outside: fc.array(control, { maxLength: 2 }),
  added: fc.array(fc.tuple(name, value), { maxLength: 2 }),
  isSet: fc.boolean(),
  optional: fc.boolean(),
});

/** Runs in the page: creates a form, binds it, and compares its payload with what a server reads from the posted form. */
async function compare({ inside, outside, added, isSet, optional }) {
  globalThis.bound?.unbind();
  document.body.innerHTML = `<form id="form">${inside.join("")}<button id="send">Send</button></form>${outside.join("")}`;
  const [form] = document.forms;
  for (const each of document.querySelectorAll(".ticked")) each.click();
  for (const each of document.querySelectorAll("[data-value]")) each.value = each.dataset.value;
  await null;
  form.addEventListener("formdata", ({ formData }) => {
    for (const [name, value] of added) formData[isSet ? "set" : "append"](name, value);
  });
  const sent = [];
  const onSubmit = (payload, { data }) => sent.push([payload, [...data].length]);
  globalThis.bound = bindForm(form, { optional, onSubmit });
  const body = new Response(new FormData(form)); // as it is written to the network, and read there
  const posted = await body.formData();
  const codes = (issues) =>
    issues.map(({ pointer, code, message }) => `${pointer} ${code} ${message}`);
  const [page, server] = [bound.read(), readForm(posted, { optional })].map(
    ({ valid, payload, issues }) => ({
      valid,
      payload,
      issues: codes(issues),
    }),
  );
  if (page.valid && form.checkValidity()) {
    form.requestSubmit();
    await null;
    if (sent.length !== 1 || JSON.stringify(sent[0][0]) !== JSON.stringify(server.payload))
      return JSON.stringify({ sent, server });
  }
  return JSON.stringify(page) === JSON.stringify(server) ? "" : JSON.stringify({ page, server });
}

test("any form: page and server read the same payload and issues", async (t) => {
  const page = await withElements(t, VALID, {}, /The specified value/);
  const seed = Number(process.env.FC_SEED ?? 20261125);
  await page.evaluate(`globalThis.compare = ${compare}`);
  const property = fc.asyncProperty(form, async (form) => {
    assert.equal(await page.evaluate((form) => compare(form), form), "");
  });
  const settings = {
    seed,
    numRuns: Number(process.env.FC_RUNS ?? 300),
    path: process.env.FC_PATH ?? "",
  };
  const { failed, counterexample, counterexamplePath, errorInstance } = await fc.check(
    property,
    settings,
  );
  assert.ok(
    !failed,
    `${JSON.stringify(counterexample)}\n${errorInstance}\nFC_SEED=${seed} FC_PATH=${counterexamplePath}`,
  );
});
