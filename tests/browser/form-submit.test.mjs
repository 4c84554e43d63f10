/**
 * Tests `bindForm` in Chromium after a form is sent: issues from the server, an `onSubmit` that fails, and
 * the removal of outdated messages.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { axeFindings, useBrowser } from "./chromium.mjs";
import {
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

const TAKEN = "We know this address under another name.";
const EMAIL = "Enter an e-mail address such as ada@example.org";
const MORE = "Enter a number greater than 0";
const idle = (page) => page.waitForSelector("form:not([aria-busy])");
const report = (page, issues) => page.evaluate((issues) => bound.report(issues), issues);

/** Sends the form to an `onSubmit` that returns these issues. */
async function sendTo(page, issues) {
  await page.evaluate((issues) => (globalThis.answer = () => ({ issues })), issues);
  await send(page);
  await idle(page);
}

/** Ways in which `onSubmit` can report one issue about the recipient's e-mail address. */
const SHAPES = {
  "a path, returned": (message) => ({ issues: [{ path: ["recipient", "email"], message }] }),
  "a path of keys, returned": (message) => ({
    issues: [{ path: [{ key: "recipient" }, { key: "email" }], message }],
  }),
  "a pointer alone, returned": (message) => ({
    issues: [{ pointer: "/recipient/email", code: "invalid_email", message }],
  }),
  thrown: (message) => {
    throw { issues: [{ path: ["recipient", "email"], message }] };
  },
  "an error's, rejected": (message) =>
    Promise.reject(
      Object.assign(new Error("x"), { issues: [{ path: ["recipient", "email"], message }] }),
    ),
  "by `report`": (message) => globalThis.bound.report([{ path: ["recipient", "email"], message }]),
};

test("an issue from the server is shown at its field until that is edited, and does not block the form", async (t) => {
  const page = await formPage(t, VALID);
  for (const [shape, answer] of Object.entries(SHAPES)) {
    await page.evaluate(`globalThis.answer = () => (${answer})(${JSON.stringify(TAKEN)})`);
    await send(page);
    await idle(page);
    const seen = { problems: { email: TAKEN }, lines: ["Please check 1 entry"], focus: "email" };
    assert.deepEqual(await told(page), seen, shape);
    assert.ok(await page.$eval("form", (form) => form.checkValidity()), shape);
    await page.fill("#amount", "4");
    assert.deepEqual(await problems(page), { email: TAKEN }, shape);
    await page.fill("#email", "ada@example.com");
    assert.deepEqual(await told(page), { problems: {}, lines: [], focus: "email" }, shape);
  }
});

/**
 * Issues from a server. Each row has the issues, the texts expected at their fields, and the further lines
 * expected in the live region.
 */
const ISSUES = {
  "messages for developers become texts for shoppers": [
    [
      { path: ["recipient", "email"], code: "invalid_email", message: "must be an e-mail address" },
      { pointer: "/pledges/0/impact/amount", code: "not_positive", message: "must be more than 0" },
    ],
    { email: EMAIL, amount: MORE },
  ],
  "the page has texts of its own, unless they ask for what the issue has not": [
    [
      { path: ["recipient", "email"], code: "not_allowed", message: "x" },
      { pointer: "/pledges/0/impact/amount", code: "too_many_items", message: "must be fewer" },
      { path: ["reference"], code: "too_many_items", message: "y", meta: { maximum: 3 } },
    ],
    { email: "Bitte prüfen", amount: "must be fewer", reference: "höchstens 3" },
  ],
  "the shop's own fields have issues, and a hidden or missing one has its issue where everybody sees it":
    [
      [
        { path: ["coupon"], message: "This coupon has expired." },
        { path: ["address", "zip"], message: "We don't deliver there." },
        { path: ["pledges", 0, "impact", "offeringId"], message: "No more trees today." },
        { path: ["nowhere"], message: "Come back tomorrow." },
        { message: "Come back tomorrow." },
      ],
      { coupon: "This coupon has expired.", zip: "We don't deliver there." },
      ["No more trees today.", "Come back tomorrow."],
    ],
};

test("issues from the server: each at its field in words for shoppers, else in the visible live region", async (t) => {
  const page = await formPage(
    t,
    `${VALID}${field("coupon", "coupon", 'value="SPRING"')}${field("zip", "address.zip")}`,
    {
      binding: () => ({
        messages: {
          not_allowed: "Bitte prüfen",
          too_many_items: ({ meta }) => `höchstens ${meta.maximum}`,
        },
      }),
    },
  );
  for (const [name, [issues, atFields, forAll = []]] of Object.entries(ISSUES)) {
    await sendTo(page, issues);
    const { problems, lines } = await told(page);
    assert.deepEqual(problems, atFields, name);
    const count = Object.keys(atFields).length + forAll.length;
    assert.deepEqual(lines, [`Please check ${count} entries`, ...forAll], name);
    assert.equal(await isLiveVisible(page), forAll.length > 0, name);
    assert.deepEqual(await axeFindings(page), [], name);
  }
  await sendTo(page, undefined);
  assert.deepEqual(await told(page), { problems: {}, lines: [], focus: "send" });
});

test("issues from the server refer to the payload, in which items have moved up", async (t) => {
  const item = (n, value) =>
    `<input type="hidden" name="pledges.${n}.impact.offeringId" value="tree">${field(`amount-${n}`, `pledges.${n}.impact.amount`, value)}`;
  const page = await formPage(
    t,
    VALID.replace(/<input type="hidden"[\s\S]*/, "") +
      item(0, "") +
      item(1, 'value="1"') +
      item(2, 'value="2"'),
  );
  const amount = (n) => ["pledges", n, "impact", "amount"];
  await sendTo(page, [
    { path: amount(1), message: "Only one is left." },
    { path: amount(0), message: "None is left." },
    { path: amount(0), message: "Nor will there be." },
  ]);
  assert.deepEqual(await told(page), {
    problems: { "amount-1": "None is left.", "amount-2": "Only one is left." },
    lines: ["Please check 2 entries"],
    focus: "amount-1",
  });
  await page.fill("#amount-1", "2");
  assert.deepEqual(await told(page), {
    problems: { "amount-2": "Only one is left." },
    lines: [], // there are no longer two
    focus: "amount-1",
  });
  await page.fill("#amount-0", "1");
  await report(page, [{ path: amount(1), message: "Late." }]);
  const late = { "amount-2": "Late." };
  assert.deepEqual(await problems(page), late, "of what was sent, not of what the form has become");
});

test("problems of a group are shown in its element, each as long as it exists", async (t) => {
  const page = await formPage(
    t,
    `${VALID}<fieldset><legend>How</legend>${["Email", "MessagingServiceA", "Pigeon", "Owl"].map(box).join("")}</fieldset><p id="place" data-problem="notifications"></p>`,
  );
  const place = () => page.textContent("#place");
  await page.check("#Email");
  await page.check("#MessagingServiceA");
  await sendTo(page, [
    { path: ["notifications", 1], message: "A is down." },
    { path: ["notifications"], message: "Fewer, please." },
  ]);
  assert.equal(await place(), "Fewer, please. A is down.");
  await page.check("#Pigeon");
  assert.equal(await place(), "Choose one of the options", "an edit of any box ends the server's");
  await page.uncheck("#Email");
  await page.check("#Owl");
  await page.uncheck("#Pigeon");
  assert.equal(await place(), "Choose one of the options", "the one that is left stays");
  await page.uncheck("#Owl");
  assert.equal(await place(), "");
});

test("`report` works before the form is sent, until it is reset, but not after it is unbound", async (t) => {
  const page = await formPage(t, VALID);
  await report(page, [{ path: ["reference"], message: "Used before." }, { message: "Closed." }]);
  assert.deepEqual(await problems(page), { reference: "Used before." });
  assert.deepEqual(await lines(page), ["Please check 2 entries", "Closed."]);
  await report(page, [{ path: ["reference"], message: "Still used." }]);
  assert.deepEqual(await problems(page), { reference: "Still used." }, "those before are gone");
  assert.deepEqual(await lines(page), ["Please check 1 entry"]);
  await report(page, []);
  assert.deepEqual(await told(page), { problems: {}, lines: [], focus: "reference" });
  await page.fill("#email", "x");
  await leave(page);
  await report(page, [{ path: ["reference"], message: "Used." }]);
  assert.deepEqual(await problems(page), { reference: "Used.", email: EMAIL });
  await page.$eval("form", (form) => form.reset());
  await page.waitForSelector("#reference:not([aria-invalid])");
  assert.deepEqual(await told(page), { problems: {}, lines: [], focus: "reference" });
  assert.deepEqual(await state(page, "email"), { invalid: null, custom: false });
  const isUntouched = await page.evaluate(() => {
    bound.unbind();
    const [form] = document.forms;
    const before = form.outerHTML;
    bound.refresh();
    bound.report([{ path: ["reference"], message: "Late." }]);
    bound.unbind();
    return form.outerHTML === before && !bound.isActive;
  });
  assert.ok(isUntouched);
});

test("hostile issues: bounded, nothing thrown, and text stays text", async (t) => {
  const page = await formPage(t, VALID);
  const found = await page.evaluate(() => {
    const fail = () => {
      throw new Error("trap");
    };
    const trap = new Proxy({}, { get: fail });
    const { proxy: revoked, revoke } = Proxy.revocable([], {});
    revoke();
    const cyclic = { message: "<img src=x onerror=alert(1)>", path: ["constructor", "__proto__"] };
    cyclic.path.push(cyclic);
    const wrong = [null, undefined, 1, "x", Symbol("x"), trap, revoked, {}, [], () => {}];
    const garbage = [
      ...wrong,
      ...[...wrong, "", " "].map((message) => ({ message, path: ["reference"] })),
      ...wrong.flatMap((path) => [
        { message: "m", path },
        { message: "m", path: [path] },
      ]),
      { message: "m", pointer: trap },
      { message: "m", code: "__proto__", path: [Object.create(null)] },
    ];
    for (const issues of [...garbage, garbage]) bound.report(issues);
    bound.report([
      cyclic,
      { message: "a".repeat(1e6), pointer: "/a".repeat(1e6) },
      { message: "deep", path: Array(1e6).fill("recipient") },
      { message: "own", code: "constructor", path: ["reference"] },
    ]);
    const all = [...document.querySelectorAll("form [role=status] > *")];
    const lengths = all.map((line) => line.textContent.length);
    let reads = 0;
    const many = Array.from({ length: 200_000 }, (_, n) => ({ message: `${n}`, path: ["x", n] }));
    const counted = new Proxy(many, {
      get(target, key) {
        reads += /^\d+$/.test(String(key));
        return target[key];
      },
    });
    const { images } = document;
    const own = document.querySelector("#reference").getAttribute("aria-invalid");
    bound.report(counted);
    const lines = document.querySelectorAll("form [role=status] > *").length;
    return { lengths, images: images.length, own, reads, lines };
  });
  const { lengths, ...others } = found;
  assert.deepEqual(lengths, ["Please check 4 entries".length, 28, 1_000, 4]);
  assert.deepEqual(others, { images: 0, own: "true", reads: 1_000, lines: 1_001 });
});

/** The bodies of `onSubmit` functions that fail, by the name of the failure. */
const FAILURES = {
  "an error": "throw new TypeError('Failed to fetch')",
  "nothing thrown": "throw undefined",
  "issues without a message": "return { issues: [{ path: ['reference'] }, null] }",
  "an empty list of issues": "throw { issues: [] }",
  "what can't be read": "throw new Proxy({}, { get() { throw new Error('trap'); } })",
  "no `reportError`": "delete globalThis.reportError; throw new Error('down')",
};

test("an `onSubmit` that fails: a message, a button to retry, and a log line for the developer", async (t) => {
  const page = await formPage(t, VALID, { expected: /./ });
  const alert = page.locator("form [role=alert]");
  const said = [];
  page.on("pageerror", (error) => said.push(String(error)));
  page.on("console", (message) => said.push(message.text()));
  for (const [what, body] of Object.entries(FAILURES)) {
    await page.evaluate((body) => (globalThis.answer = new Function(body)), body);
    await send(page);
    await idle(page);
    assert.equal(await alert.innerText(), "This could not be sent\n\nTry again", what);
    assert.equal(said.splice(0).length, 1, what);
  }
  assert.deepEqual(await axeFindings(page), []);
  await page.focus("#send");
  await leave(page);
  await page.keyboard.press("Enter");
  await idle(page);
  assert.equal(await alert.count(), 1, "one, however often it fails");
  assert.equal((await told(page)).focus, "send", "the focus is not lost with the button");
  await page.evaluate(() => (globalThis.answer = undefined));
  await page.click("text=Try again");
  assert.equal(await alert.count(), 0);
  assert.equal((await submitted(page)).length, Object.keys(FAILURES).length + 2);
});

test("the message of a failure disappears when the form is sent, reset or unbound, and has the page's own texts", async (t) => {
  const page = await formPage(t, VALID, { binding: null, expected: /down/ });
  const html = () => page.$eval("form", (form) => form.outerHTML);
  const before = await html();
  await page.evaluate(() =>
    bindIt({ messages: de, onSubmit: () => Promise.reject(new Error("down")) }),
  );
  const alert = page.locator("form [role=alert]");
  await send(page);
  assert.equal(await alert.innerText(), "Das konnte nicht gesendet werden\n\nErneut versuchen");
  await page.fill("#email", "x");
  await send(page);
  assert.equal(await alert.count(), 0, "the form has other problems now");
  assert.deepEqual(await lines(page), ["Bitte prüfen Sie 1 Eingabe"]);
  await page.fill("#email", "ada@example.org");
  await send(page);
  await alert.waitFor();
  await page.$eval("form", (form) => form.reset());
  await alert.waitFor({ state: "detached" });
  await send(page);
  await alert.waitFor();
  await page.evaluate(() => bound.unbind());
  assert.equal(await html(), before);
});

test("each message is announced once, and disappears as soon as it no longer applies", async (t) => {
  const page = await formPage(t, VALID);
  assert.equal(await page.getAttribute("form [role=status]", "aria-atomic"), "false");
  await page.evaluate(() => {
    globalThis.announced = [];
    new MutationObserver((records) => {
      for (const { addedNodes } of records)
        for (const { textContent } of addedNodes) announced.push(textContent);
    }).observe(document.querySelector("form [role=status]"), { childList: true, subtree: true });
  });
  const enter = async (id, text) => {
    await page.fill(id, text);
    await leave(page);
    return lines(page);
  };
  const [one, empty] = ["Please check 1 entry", "Fill in this field"];
  assert.deepEqual(await enter("#email", "x"), [EMAIL]);
  assert.deepEqual(await enter("#amount", "-1"), [EMAIL, MORE]);
  assert.deepEqual(await enter("#email", ""), [MORE, empty], "another in place of the first");
  assert.deepEqual(await enter("#email", "ada@example.org"), [MORE]);
  await send(page);
  assert.deepEqual(await lines(page), [one]);
  assert.deepEqual(await enter("#amount", "1"), []);
  await send(page);
  assert.deepEqual(await lines(page), [], "nor after success");
  assert.deepEqual(await page.evaluate(() => announced), [EMAIL, MORE, empty, one]);
});
