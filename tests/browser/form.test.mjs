/** `bindForm` in Chromium: what a shopper meets, and what a shop's code gets. */
import assert from "node:assert/strict";
import test from "node:test";
import { fixturesIn } from "../support/fixtures.mjs";
import { packed } from "../package/packed.mjs";
import { useBrowser } from "./chromium.mjs";
import { VALID, field, formPage, isPlain, live, shown } from "./form-page.mjs";

useBrowser();
const { readForm } = await (await packed()).load("impact-pledge/form");

const QUIET = { invalid: null, text: "", custom: false };
/** Of a field that the browser knows to be invalid, and the buyer does not. */
const CALM = { ...QUIET, invalid: "false", custom: true };
const EMAIL = "Enter an e-mail address such as ada@example.org";
const LOST = /no field can show/;
const submitted = (page) => page.evaluate(() => submitted);
const focused = (page) => page.evaluate(() => document.activeElement.id);
const announced = (page) => page.$eval("form [role=status]", (live) => live.textContent);

test("a valid form becomes a payload: numbers, omitted empties, arrays", async (t) => {
  const page = await formPage(
    t,
    `${VALID}
    ${field("first-name", "recipient.firstName")}
    ${field("coupon", "coupon", 'value="SPRING"')}
    <textarea name="pledges.0.detail.description">Two\nlines</textarea>
    <select name="pledges.0.detail.nounPlural"><option>trees<option>oaks</select>
    <label><input type="checkbox" name="notifications" value="Email" checked> by e-mail</label>
    <label><input type="checkbox" name="notifications" value="MessagingServiceA"> by A</label>
    <label><input type="checkbox" name="notifications" value="MessagingServiceB" checked> by B</label>`,
  );
  await page.click("#send");
  assert.deepEqual(await submitted(page), [
    {
      reference: "order-1",
      recipient: { email: "ada@example.org" },
      pledges: [
        {
          impact: { amount: 3, offeringId: "tree" },
          detail: { description: "Two\nlines", nounPlural: "trees" },
        },
      ],
      notifications: ["Email", "MessagingServiceB"],
    },
  ]);
});

test("radio buttons, lists of several, times and numbered items", async (t) => {
  const page = await formPage(
    t,
    `
    ${field("reference", "reference", 'value="order-1"')} ${field("email", "recipient.email", 'value="ada@example.org"')}
    <fieldset><legend>What</legend>
      <label><input type="radio" name="pledges.4.impact.offeringId" value="tree"> trees</label>
      <label><input type="radio" name="pledges.4.impact.offeringId" value="plastic-kg" checked> plastic</label>
    </fieldset>
    <input aria-label="how much" name="pledges.4.impact.amount" value=" .5 ">
    <input aria-label="when" type="datetime-local" name="trigger.date" value="2026-01-31T12:00">
    <select aria-label="how" multiple name="notifications"><option selected>Email<option selected value="MessagingServiceA">A</select>`,
    { timezoneId: "Asia/Kolkata" },
  );
  await page.click("#send");
  const [payload] = await submitted(page);
  assert.deepEqual(payload.pledges, [{ impact: { amount: 0.5, offeringId: "plastic-kg" } }]);
  assert.deepEqual(payload.notifications, ["Email", "MessagingServiceA"]);
  assert.equal(payload.trigger.date, "2026-01-31T12:00:00+05:30");
});

test("a field is checked as it is left, and again as it is corrected", async (t) => {
  const page = await formPage(t, VALID);
  await page.fill("#email", "");
  await page.focus("#email");
  await page.keyboard.type("ada@");
  assert.deepEqual(await shown(page, "email"), CALM, "not while it is typed for the first time");
  await page.keyboard.press("Tab");
  assert.deepEqual(await shown(page, "email"), { invalid: "true", text: EMAIL, custom: true });
  assert.equal(await announced(page), EMAIL);
  assert.ok(await page.$eval("#email", (input) => input.matches(":user-invalid")));
  await page.focus("#email");
  await page.keyboard.press("End");
  await page.keyboard.type("example.or");
  assert.deepEqual(await shown(page, "email"), QUIET, "as soon as it is right");
  await page.keyboard.press("Backspace");
  await page.fill("#email", "ada@@");
  assert.equal((await shown(page, "email")).text, EMAIL, "and wrong again");
});

test("a message that comes up as a field is left takes no click away", async (t) => {
  const page = await formPage(t, VALID);
  await page.evaluate(() =>
    document.addEventListener("click", ({ target }) => (globalThis.clicked = target.id)),
  );
  await page.fill("#amount", "-1");
  await page.hover("#send");
  await page.mouse.down();
  assert.deepEqual(await shown(page, "amount"), CALM, "not while the button is down");
  await page.mouse.up();
  assert.equal(await page.evaluate(() => globalThis.clicked), "send");
  assert.equal((await shown(page, "amount")).text, "Enter a number greater than 0");
});

test("nothing is shown before the shopper has been there, but the browser knows", async (t) => {
  const page = await formPage(
    t,
    field("reference", "reference") +
      field("email", "recipient.email") +
      field("amount", "pledges.0.impact.amount"),
  );
  for (const id of ["reference", "email", "amount"]) assert.deepEqual(await shown(page, id), CALM);
  assert.equal(await page.$eval("form", (form) => form.checkValidity()), false);
  assert.equal(await page.$$eval(":user-invalid", (all) => all.length), 0);
  assert.deepEqual(await page.evaluate(() => reported), [
    [
      ["/reference", "required", "reference"],
      ["/recipient/email", "required", "email"],
      ["/pledges", "too_few_items", "amount"],
    ],
  ]);
});

test("sending a form with problems goes to the first one and says how many there are", async (t) => {
  const page = await formPage(
    t,
    field("email", "recipient.email", 'value="x"') +
      field("reference", "reference") +
      field("amount", "pledges.0.impact.amount"),
  );
  await page.evaluate(() =>
    document.forms[0].addEventListener("submit", () => submitted.push("another listener")),
  );
  await page.click("#send");
  assert.deepEqual(await submitted(page), [], "no submit is reported");
  assert.equal(await focused(page), "email");
  assert.equal(await announced(page), "Please check 3 entries");
  assert.equal((await shown(page, "reference")).text, "Fill in this field");
  assert.equal((await shown(page, "amount")).text, "Choose at least 1 item");
  await page.fill("#amount", "1");
  assert.deepEqual(await shown(page, "amount"), QUIET);
});

test("a problem in a part of the form that is folded up is unfolded", async (t) => {
  const page = await formPage(
    t,
    `${VALID}<details><summary>More</summary>${field("link", "trigger.externalUrl", 'value="no link"')}</details>`,
  );
  await page.click("#send");
  assert.equal(await focused(page), "link");
  assert.ok(await page.isVisible("#link"));
});

test("a problem that no field has is shown where everybody sees it, and its path to the developer alone", async (t) => {
  const page = await formPage(
    t,
    field("reference", "reference", 'value="r"') +
      field("email", "recipient.email", 'value="ada@example.org"') +
      field("amount", "pledges.0.impact.amount", 'value="1"') +
      field("more", "pledges.1.impact.amount"),
    { expected: LOST },
  );
  const warned = [];
  page.on("console", (message) => warned.push(message.text()));
  await page.click("#send");
  assert.deepEqual(await submitted(page), []);
  assert.deepEqual(await live(page), {
    lines: ["Please check 1 entry", "Fill in this field"],
    isVisible: true,
  });
  assert.deepEqual(warned, [
    "impact-pledge: no field can show /pledges/0/impact/offeringId required",
  ]);
  await page.fill("#more", "2");
  await page.click("#send");
  assert.deepEqual(
    await live(page),
    { lines: ["Please check 1 entry", "Fill in this field"], isVisible: true },
    "what reads the same is shown once",
  );
  assert.equal(
    warned.at(-1),
    "impact-pledge: no field can show /pledges/0/impact/offeringId required, /pledges/1/impact/offeringId required",
  );
  await page.fill("#more", "");
  await page.fill("#amount", "");
  assert.deepEqual(
    await live(page),
    { lines: ["Please check 1 entry", "Choose at least 1 item"], isVisible: true },
    "it leaves as soon as it no longer holds",
  );
});

test("fields added later are checked, and fields taken away are forgotten", async (t) => {
  const page = await formPage(t, VALID);
  const add = () =>
    page.evaluate(() => {
      const added = document.createElement("div");
      added.id = "added";
      added.innerHTML =
        '<input id="more" aria-label="more" name="pledges.1.impact.amount"><input id="what" aria-label="what" name="pledges.1.impact.offeringId" value="tree">';
      document.querySelector("form").append(added);
    });
  await add();
  await page.fill("#more", "-1");
  await page.keyboard.press("Tab");
  assert.equal((await shown(page, "more")).text, "Enter a number greater than 0");
  await page.click("#send");
  assert.equal(await focused(page), "more");
  await page.evaluate(() => document.querySelector("#added").remove());
  await page.click("#send");
  assert.equal((await submitted(page)).at(-1).pledges.length, 1);
  await add();
  await page.fill("#more", "2");
  await page.click("#send");
  assert.deepEqual(
    (await submitted(page)).at(-1).pledges.map(({ impact }) => impact.amount),
    [3, 2],
  );
});

test("disabled fields say nothing; read-only ones do", async (t) => {
  const page = await formPage(
    t,
    `${VALID.replace('value="order-1"', 'value="order-1" readonly')} <fieldset disabled>${field("extra", "pledges.1.impact.amount", 'value="x"')}</fieldset>`,
  );
  await page.click("#send");
  assert.deepEqual((await submitted(page))[0].pledges.length, 1);
  assert.equal((await submitted(page))[0].reference, "order-1");
});

test("fields elsewhere in the page belong to the form by their attribute", async (t) => {
  const outside =
    '<p><label for="outer">outer</label><input id="outer" form="far" name="trigger.externalUrl"></p>';
  const page = await formPage(t, VALID, { outside, attributes: 'id="far"' });
  await page.fill("#outer", "example.org/orders");
  await page.keyboard.press("Tab");
  assert.match((await shown(page, "outer")).text, /^Enter a web address such as https:/);
  await page.click("#send");
  assert.equal(await focused(page), "outer");
});

test("messages are translated by code, and what is not translated stays", async (t) => {
  const page = await formPage(
    t,
    field("email", "recipient.email", 'value="x"') +
      field("reference", "reference") +
      field("amount", "pledges.0.impact.amount", 'value="-1"'),
    { bind: false, expected: LOST },
  );
  await page.evaluate(() =>
    bindIt({
      messages: {
        invalid_email: "Das ist keine E-Mail-Adresse.",
        required: ({ path, pointer, field }) => `${path.length} ${pointer} ${field?.id}`,
        not_positive: () => undefined,
      },
      summary: (count) => `${count} Fehler`,
    }),
  );
  await page.click("#send");
  assert.equal((await shown(page, "email")).text, "Das ist keine E-Mail-Adresse.");
  assert.equal((await shown(page, "reference")).text, "1 /reference reference");
  assert.equal((await shown(page, "amount")).text, "Enter a number greater than 0");
  assert.match(await announced(page), /^4 Fehler/);
});

test("the browser's own rules are kept, with its own words", async (t) => {
  const page = await formPage(
    t,
    `${VALID.replace('step="any"', 'step="1" max="10"')} ${field("zip", "address.zip", 'required pattern="[0-9]{5}"')}`,
  );
  await page.fill("#amount", "11");
  await page.click("#send");
  assert.deepEqual(await submitted(page), []);
  assert.equal(await focused(page), "amount");
  for (const id of ["amount", "zip"]) {
    const { invalid, text, custom } = await shown(page, id);
    assert.deepEqual([invalid, custom], ["true", false]);
    assert.equal(text, await page.$eval(`#${id}`, (input) => input.validationMessage));
  }
  await page.fill("#amount", "10");
  await page.fill("#zip", "12345");
  await page.click("#send");
  assert.equal((await submitted(page)).length, 1);
});

test("a number that the browser can't read is of the wrong type, not absent", async (t) => {
  const page = await formPage(t, VALID);
  await page.fill("#amount", "");
  await page.focus("#amount");
  await page.keyboard.type("1e");
  await page.keyboard.press("Tab");
  assert.equal((await shown(page, "amount")).text, "Enter a number");
});

test("a group that is still empty is not shown as a problem before the form is sent", async (t) => {
  const page = await formPage(
    t,
    `${field("reference", "reference", 'value="r"')} ${field("email", "recipient.email", 'value="ada@example.org"')}
    <p id="place" data-problem="pledges"></p>
    <input type="hidden" name="pledges.0.impact.offeringId" value="tree">${field("trees", "pledges.0.impact.amount")}
    <input type="hidden" name="pledges.1.impact.offeringId" value="plastic-kg">${field("plastic", "pledges.1.impact.amount")}`,
  );
  await page.focus("#trees");
  await page.keyboard.press("Tab");
  assert.deepEqual(await shown(page, "trees"), CALM);
  await page.click("#send");
  assert.equal(await page.textContent("#place"), "Choose at least 1 item");
  assert.equal((await shown(page, "trees")).text, "Choose at least 1 item");
  await page.fill("#plastic", "1");
  assert.equal(await page.textContent("#place"), "", "the other one will do as well");
  assert.deepEqual(await shown(page, "trees"), QUIET);
  await page.click("#send");
  assert.deepEqual((await submitted(page))[0].pledges, [
    { impact: { amount: 1, offeringId: "plastic-kg" } },
  ]);
});

test("too many boxes are shown at once, in their group", async (t) => {
  const box = (value) =>
    `<label><input type="checkbox" id="${value}" name="notifications" value="${value}"> ${value}</label>`;
  const page = await formPage(
    t,
    `${VALID}<fieldset id="group"><legend>How</legend>${["Email", "MessagingServiceA", "MessagingServiceB", "MessagingServiceC"].map(box).join("")}</fieldset>`,
  );
  for (const id of ["Email", "MessagingServiceA", "MessagingServiceB", "MessagingServiceC"])
    await page.check(`#${id}`);
  assert.equal((await shown(page, "Email")).text, "Choose at most 3 items");
  assert.equal(
    await page.$eval("#group > :last-child", (last) => last.textContent),
    "Choose at most 3 items",
  );
  await page.uncheck("#MessagingServiceB");
  assert.deepEqual(await shown(page, "Email"), QUIET);
});

test("what fields are described by stays, and the page's own elements for problems are used", async (t) => {
  const page = await formPage(
    t,
    `${VALID.replace('type="email"', 'type="email" aria-describedby="hint"')}<p id="hint">We write once.</p><p id="own" data-problem="recipient.email"></p>`,
  );
  await page.fill("#email", "x");
  await page.keyboard.press("Tab");
  assert.equal((await shown(page, "email")).text, `We write once. ${EMAIL}`);
  assert.equal(await page.textContent("#own"), EMAIL);
  await page.fill("#email", "x@example.org");
  assert.equal((await shown(page, "email")).text, "We write once.");
  assert.equal(await page.textContent("#own"), "");
});

test("a server's words stay until their field changes, and don't hold the form back", async (t) => {
  const served = VALID.replace(
    'type="email"',
    'type="email" aria-invalid="true" aria-describedby="own"',
  );
  const page = await formPage(
    t,
    `${served}<p id="own" data-problem="recipient.email">We know this address under another name.</p>`,
  );
  assert.deepEqual(await shown(page, "email"), {
    invalid: "true",
    text: "We know this address under another name.",
    custom: false,
  });
  await page.fill("#amount", "4");
  assert.equal(await page.textContent("#own"), "We know this address under another name.");
  await page.fill("#email", "ada@example.com");
  assert.deepEqual(await shown(page, "email"), QUIET);
  await page.click("#send");
  assert.equal((await submitted(page)).length, 1);
});

test("a server's words about a group stay until any field of the group changes", async (t) => {
  const page = await formPage(
    t,
    `${VALID}<p id="own" data-problem="pledges">No more trees today.</p>${field("second", "pledges.1.impact.amount")}<input type="hidden" name="pledges.1.impact.offeringId" value="plastic-kg">`,
  );
  assert.deepEqual(await shown(page, "amount"), {
    invalid: "true",
    text: "No more trees today.",
    custom: false,
  });
  await page.fill("#email", "ada@example.com");
  assert.equal(await page.textContent("#own"), "No more trees today.");
  await page.fill("#second", "1");
  assert.equal(await page.textContent("#own"), "");
  assert.deepEqual(await shown(page, "amount"), QUIET);
});

test("a reset begins anew", async (t) => {
  const page = await formPage(t, `${VALID}<button type="reset" id="reset">Reset</button>`);
  await page.fill("#email", "x");
  await page.click("#send");
  assert.equal((await shown(page, "email")).invalid, "true");
  await page.click("#reset");
  await page.waitForFunction(() => !document.querySelector("#email").hasAttribute("aria-invalid"));
  assert.deepEqual(await shown(page, "email"), QUIET);
});

test("while an order is on its way, the form is busy and is not sent twice", async (t) => {
  const page = await formPage(t, VALID, { bind: false });
  await page.evaluate(() =>
    bindIt({
      onSubmit(payload) {
        submitted.push(payload);
        return new Promise((resolve) => {
          globalThis.done = resolve;
        });
      },
    }),
  );
  await page.click("#send");
  await page.click("#send");
  assert.equal((await submitted(page)).length, 1);
  assert.equal(await page.getAttribute("form", "aria-busy"), "true");
  await page.evaluate(() => globalThis.done());
  await page.waitForFunction(() => !document.querySelector("form").hasAttribute("aria-busy"));
  await page.click("#send");
  assert.equal((await submitted(page)).length, 2);
});

test("without `onSubmit` the browser posts the form, once it is valid", async (t) => {
  const page = await formPage(t, VALID, { bind: false });
  await page.evaluate(() => bindIt({ onSubmit: undefined }));
  await page.fill("#email", "x");
  await page.click("#send");
  assert.equal(page.url(), "http://form.test/");
  await page.fill("#email", "ada@example.org");
  await Promise.all([page.waitForURL(/posted/), page.click("#send")]);
  assert.match(await page.textContent("pre"), /recipient\.email=ada%40example\.org/);
});

test("a button that asks for no check sends the form as it is", async (t) => {
  const page = await formPage(
    t,
    `${VALID.replace('value="order-1"', "")}<button formnovalidate id="draft" formaction="/posted/draft">Keep as a draft</button>`,
  );
  await Promise.all([page.waitForURL(/posted\/draft/), page.click("#draft")]);
  assert.ok(page.url().endsWith("/draft"));
});

test("unbinding leaves nothing behind", async (t) => {
  const page = await formPage(t, VALID, { bind: false });
  const before = await page.$eval("form", (form) => form.outerHTML);
  await page.evaluate(() => bindIt());
  await page.fill("#email", "x");
  await page.click("#send");
  await page.evaluate(() => bound.unbind());
  assert.equal(await page.$eval("form", (form) => form.outerHTML), before);
  assert.deepEqual(await shown(page, "email"), QUIET);
  const count = (await page.evaluate(() => reported)).length;
  await page.fill("#amount", "-1");
  await page.keyboard.press("Tab");
  assert.deepEqual(await shown(page, "amount"), QUIET);
  assert.equal((await page.evaluate(() => reported)).length, count, "no listener is left");
  await page.evaluate(() => bindIt());
  await page.click("#send");
  assert.equal((await shown(page, "amount")).invalid, "true", "and it can be bound again");
});

test("values set by program are read by `read`, and shown after `refresh`", async (t) => {
  const page = await formPage(t, VALID);
  await page.focus("#email");
  await page.focus("#amount");
  const found = await page.evaluate(() => {
    document.querySelector("#email").value = "x";
    const { payload, issues } = bound.read();
    return {
      email: payload.recipient.email,
      issues: issues.map(({ code, field }) => [code, field.id]),
    };
  });
  assert.deepEqual(found, { email: "x", issues: [["invalid_email", "email"]] });
  assert.deepEqual(await shown(page, "email"), QUIET);
  await page.evaluate(() => bound.refresh());
  assert.equal((await shown(page, "email")).text, EMAIL);
});

test("options of other names and types are errors before anything is touched", async (t) => {
  const page = await formPage(t, VALID, { bind: false });
  const found = await page.evaluate(() => {
    const before = document.forms[0].outerHTML;
    const wrong = [
      { onsubmit() {} },
      { onSubmit: "send" },
      { onIssues: {} },
      { summary: "x" },
      { messages: "x" },
      { messages: null },
      { optional: 1 },
      { timeZone: "Mars/Olympus" },
      { timeZone: null },
      "x",
    ];
    const messages = wrong.map((options) => {
      try {
        return bindForm(document.forms[0], options);
      } catch (error) {
        return `${error.name}: ${error.message}`;
      }
    });
    return {
      messages,
      isUntouched: document.forms[0].outerHTML === before && !document.forms[0].noValidate,
    };
  });
  assert.deepEqual(found, {
    isUntouched: true,
    messages: [
      "`onsubmit` is not an option here; the options are `messages`, `summary`, `onSubmit`, `onIssues`, `optional`, `timeZone`",
      "`onSubmit` must be a function",
      "`onIssues` must be a function",
      "`summary` must be a function",
      "`messages` must be a function or object",
      "`messages` must be a function or object",
      "`optional` must be a boolean",
      "`timeZone` must be a time zone such as `Europe/Berlin`",
      "`timeZone` must be a time zone such as `Europe/Berlin`",
      "`0` is not an option here; the options are `messages`, `summary`, `onSubmit`, `onIssues`, `optional`, `timeZone`",
    ].map((message) => `TypeError: ${message}`),
  });
  await page.evaluate(() =>
    bindIt({ messages: undefined, summary: undefined, optional: undefined, timeZone: undefined }),
  );
  assert.equal(await page.evaluate(() => bound.isActive), true);
});

test("an optional pledge: the order goes on without one", async (t) => {
  const page = await formPage(
    t,
    `${VALID.replace('value="3"', 'value="0"')}${field("zip", "address.zip", 'required value="1"')}`,
    { bind: false },
  );
  await page.evaluate(() => bindIt({ optional: true }));
  assert.deepEqual(await page.evaluate(() => bound.read()), {
    valid: true,
    payload: null,
    issues: [],
  });
  await page.click("#send");
  assert.deepEqual(await submitted(page), [null]);
  await page.fill("#email", "ada@@");
  await page.fill("#zip", "");
  await page.click("#send");
  assert.equal((await submitted(page)).length, 1, "the browser's own rules hold");
  for (const id of ["email", "zip"])
    assert.equal(
      (await shown(page, id)).text,
      await page.$eval(`#${id}`, (input) => input.validationMessage),
    );
  await page.fill("#zip", "1");
  await page.fill("#amount", "2");
  await page.click("#send");
  assert.equal((await shown(page, "email")).text, EMAIL, "with a pledge, the rules hold");
  await page.fill("#email", "ada@example.org");
  await page.click("#send");
  assert.deepEqual((await submitted(page))[1].pledges, [
    { impact: { amount: 2, offeringId: "tree" } },
  ]);
});

test("an optional pledge without `onSubmit`: the browser posts the form", async (t) => {
  const page = await formPage(t, VALID.replace('value="3"', 'value=""'), { bind: false });
  await page.evaluate(() => bindIt({ onSubmit: undefined, optional: true }));
  await Promise.all([page.waitForURL(/posted/), page.click("#send")]);
  const posted = new URLSearchParams(await page.textContent("pre"));
  assert.deepEqual(readForm(posted, { optional: true }), {
    valid: true,
    payload: null,
    issues: [],
  });
  assert.equal(readForm(posted).valid, false);
});

test("misuse is an error for the developer", async (t) => {
  const page = await formPage(t, `${VALID}${field("typo", "recipient.emial")}`);
  assert.deepEqual(
    await page.evaluate(() =>
      [() => bindForm(document.forms[0]), () => bindForm(null), () => bindForm(document.body)].map(
        (misuse) => {
          try {
            return misuse();
          } catch (error) {
            return `${error.name}: ${error.message}`;
          }
        },
      ),
    ),
    [
      "TypeError: this form is bound already: unbind it first",
      "TypeError: `bindForm` takes a form element",
      "TypeError: `bindForm` takes a form element",
    ],
  );
  await page.fill("#typo", "x");
  await page.click("#send");
  assert.match((await shown(page, "typo")).text, /^This field is not used here$/);
});

test("fifty pledges: each problem finds its field", async (t) => {
  const row = (index) =>
    `<fieldset><legend>Pledge ${index}</legend>${field(`amount-${index}`, `pledges.${index}.impact.amount`, `value="${index + 1}"`)}${field(`offering-${index}`, `pledges.${index}.impact.offeringId`, 'value="tree"')}${field(`image-${index}`, `pledges.${index}.detail.image`)}</fieldset>`;
  const rows = Array.from({ length: 50 }, (_, index) => row(index)).join("");
  const page = await formPage(
    t,
    field("reference", "reference", 'value="r"') +
      field("email", "recipient.email", 'value="ada@example.org"') +
      rows,
  );
  await page.fill("#image-49", "no address");
  await page.fill("#amount-31", "0");
  await page.fill("#amount-7", "");
  await page.click("#send");
  const wrong = await page.$$eval("[aria-invalid]", (all) => all.map(({ id }) => id));
  assert.deepEqual(wrong, ["amount-7", "amount-31", "image-49"]);
  assert.equal(await focused(page), "amount-7");
  await page.fill("#amount-7", "1");
  await page.fill("#amount-31", "1");
  await page.fill("#image-49", "https://example.org/tree.png");
  await page.click("#send");
  const [{ pledges }] = await submitted(page);
  assert.equal(pledges.length, 50);
  assert.deepEqual(pledges[49], {
    impact: { amount: 50, offeringId: "tree" },
    detail: { image: "https://example.org/tree.png" },
  });
});

const files = fixturesIn("form");
const rows = files.flatMap(({ rows }) => rows ?? []);

test("every row, with a field for each control", async (t) => {
  const found = await inPage(t, ({ fields, optional }) => {
    bindIt({ optional });
    const { valid, payload, issues } = bound.read();
    bound.unbind();
    return {
      valid,
      json: JSON.stringify(payload),
      problems: issues.map(({ field, pointer, code }) => [
        field && fields.indexOf(field),
        pointer,
        code,
      ]),
    };
  });
  assert.ok(rows.length > 25);
  for (const [nth, { name, json, payload = JSON.parse(json), problems }] of rows.entries()) {
    assert.deepEqual(JSON.parse(found[nth].json), payload, name);
    if (json) assert.equal(found[nth].json, JSON.stringify(JSON.parse(json)), name);
    assert.deepEqual(found[nth].problems, problems, name);
    assert.equal(found[nth].valid, problems.length === 0, name);
  }
});

test("every row: the same verdict with JavaScript on and off", async (t) => {
  const found = await inPage(t, ({ form, optional, hidden }) => {
    bindIt({ optional, timeZone: "UTC" });
    const inThePage = bound.read(),
      onTheServer = readForm(new FormData(form), {
        optional,
        hidden: (name) => hidden.includes(name),
      });
    bound.unbind();
    return [inThePage, onTheServer].map(({ valid, payload, issues }) => ({
      valid,
      json: JSON.stringify(payload),
      issues: issues.map(({ pointer, code }) => `${pointer} ${code}`),
    }));
  });
  for (const [nth, [inThePage, onTheServer]] of found.entries())
    assert.deepEqual(inThePage, onTheServer, rows[nth].name);
});

/**
 * Calls a function in a page for each row, with a form that has a field for each of its controls.
 */
async function inPage(t, work) {
  const page = await formPage(t, "", { bind: false, timezoneId: "America/New_York" });
  const script = `(rows) => rows.map(({ controls, optional }) => {
    const [form] = document.forms;
    const fields = controls.map(([name, value, hidden]) => Object.assign(document.createElement(hidden ? "input" : "textarea"), { name, ...(hidden && { type: hidden }), value }));
    form.replaceChildren(...fields);
    return (${work})({ form, fields, optional, hidden: controls.filter(([, , hidden]) => hidden).map(([name]) => name) });
  })`;
  return page.evaluate(`(${script})(${JSON.stringify(rows)})`);
}

test("dates and local times, in the browser's own zone", async (t) => {
  const dates = files.flatMap(({ dates }) => dates ?? []);
  assert.ok(dates.length > 50);
  for (const timezoneId of new Set(dates.map(([, timeZone]) => timeZone))) {
    const page = await formPage(
      t,
      `${VALID}<textarea aria-label="when" id="when" name="trigger.date"></textarea>`,
      { bind: false, timezoneId },
    );
    const here = dates.filter(([, timeZone]) => timeZone === timezoneId);
    const found = await page.evaluate(
      (here) =>
        here.map(([typed]) => {
          document.querySelector("#when").value = typed;
          const read = (options) => {
            bindIt(options);
            const { valid, payload } = bound.read();
            bound.unbind();
            return { date: payload.trigger.date, valid };
          };
          const local = new Date(typed.length > 10 ? typed : `${typed}T00:00`);
          return {
            own: read({}),
            told: read({ timeZone: here[0][1] }),
            utc: read({ timeZone: "UTC" }).date,
            instant: local.getTime(),
          };
        }),
      here,
    );
    for (const [nth, [typed, , expected]] of here.entries()) {
      assert.deepEqual(
        found[nth].own,
        { date: expected ?? typed, valid: expected !== null },
        `${typed} ${timezoneId}`,
      );
      assert.deepEqual(found[nth].told, found[nth].own, `${typed} ${timezoneId}`);
      if (expected === null || expected === typed) continue;
      assert.equal(
        Date.parse(expected),
        found[nth].instant,
        `${typed} ${timezoneId}: as JavaScript's Date has it`,
      );
      assert.equal(
        found[nth].utc,
        readForm([["trigger.date", typed]]).payload.trigger.date,
        `${typed}: with one zone the same on both sides`,
      );
    }
  }
});

test("what a buyer picks in a date control is a date-time", async (t) => {
  const page = await formPage(t, `${VALID}${field("day", "trigger.date", 'type="date"')}`, {
    timezoneId: "Europe/Berlin",
  });
  await page.fill("#day", "2026-07-31");
  await page.click("#send");
  assert.equal((await submitted(page))[0].trigger.date, "2026-07-31T00:00:00+02:00");
});

test("amounts as people type them", async (t) => {
  const page = await formPage(t, "", { bind: false });
  const amounts = files.flatMap(({ amounts }) => amounts ?? []);
  const wrong = await page.evaluate(
    (amounts) =>
      amounts.filter(
        ([typed, json]) =>
          !Object.is(
            readForm([["pledges.0.impact.amount", typed]]).payload.pledges[0].impact.amount,
            JSON.parse(json),
          ),
      ),
    amounts,
  );
  assert.deepEqual(wrong, []);
});

/**
 * Ways in which the rules cannot run: options of the page, and what is done to it before the
 * package is used.
 */
const BLOCKED = {
  "a policy forbids wasm": [
    { policy: "default-src 'none'; script-src 'self'; form-action 'self'; img-src data:" },
    () => {},
    /'wasm-unsafe-eval'/,
  ],
  "there is no WebAssembly": [{}, () => delete globalThis.WebAssembly, /needs WebAssembly/],
  "there is no TextEncoder": [{}, () => delete globalThis.TextEncoder, /needs TextEncoder/],
  "there is no TextDecoder": [{}, () => delete globalThis.TextDecoder, /needs TextDecoder/],
};

for (const [name, [options, prepare, reason]] of Object.entries(BLOCKED)) {
  test(`where ${name}, the form stays the browser's own`, {
    skip: isPlain() && "it needs none of these",
  }, async (t) => {
    const page = await formPage(t, VALID, {
      ...options,
      bind: false,
      expected: /wasm|Content Security Policy|impact-pledge/i,
    });
    const logged = [];
    page.on(
      "console",
      (message) =>
        message.text().startsWith("impact-pledge:") &&
        logged.push([message.type(), message.text()]),
    );
    await page.evaluate(prepare);
    const before = await page.$eval("form", (form) => form.outerHTML);
    const found = await page.evaluate(() => {
      const { noValidate } = document.forms[0];
      bindIt();
      const [binding, reading] = [globalThis.bound, bound.read()];
      bindIt();
      for (const { refresh, report, unbind } of [binding, bound]) {
        refresh();
        report([{ path: ["reference"], message: "x" }]);
        unbind();
      }
      bindIt({ optional: true });
      return {
        isActive: bound.isActive,
        reading: { ...reading, payload: typeof reading.payload },
        noValidate: [noValidate, document.forms[0].noValidate],
      };
    });
    assert.deepEqual(found, {
      isActive: false,
      reading: { valid: false, payload: "undefined", issues: [] },
      noValidate: [false, false],
    });
    assert.equal(logged.length, 1, "once for the page");
    assert.equal(logged[0][0], "error");
    assert.match(logged[0][1], reason);
    assert.equal(await page.$eval("form", (form) => form.outerHTML), before);
    await page.fill("#email", "ada@@");
    await page.click("#send");
    assert.equal(page.url(), "http://form.test/", "the browser's own check");
    assert.ok(await page.$eval("#email", (email) => email.matches(":user-invalid")));
    await page.fill("#email", "ada@example.org");
    await Promise.all([page.waitForURL(/posted/), page.click("#send")]);
    assert.match(await page.textContent("pre"), /recipient\.email=ada%40example\.org/);
  });
}

test("misuse is an error where the rules cannot run, too", async (t) => {
  const page = await formPage(t, VALID, { bind: false });
  assert.deepEqual(
    await page.evaluate(() => {
      delete globalThis.WebAssembly;
      return [() => bindForm(null), () => bindForm(document.forms[0], { onsubmit() {} })].map(
        (misuse) => {
          try {
            return misuse();
          } catch (error) {
            return error.name;
          }
        },
      );
    }),
    ["TypeError", "TypeError"],
  );
});

test("20,000 fields with a problem and an element for it each are shown in less than a minute", {
  timeout: 60_000,
}, async (t) => {
  const page = await formPage(t, "", { bind: false, expected: LOST });
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
