/**
 * Tests the package's schema in React form libraries, in Chromium. Each problem must appear at its field, in
 * the package's own words.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { build } from "esbuild";
import { openPage, useBrowser } from "../browser/chromium.mjs";
import { packed } from "../package/packed.mjs";
import { examplesOf } from "../support/examples.mjs";
import { fixturesIn } from "../support/fixtures.mjs";

const project = await packed();
const root = join(import.meta.dirname, "..", "..");
const ORIGIN = "http://consumer.test";
const HTML =
  '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A form</title><link rel="icon" href="data:,"></head><body><main id="root"></main><script type="module" src="/form.js"></script></body></html>';
const EMAIL = "must be an e-mail address";
const ADDRESS = "Geben Sie eine E-Mail-Adresse wie ada@example.org ein";
const NUMBER = "Geben Sie eine Zahl ein";
const POSITIVE = "Geben Sie eine Zahl größer als 0 ein";
const REQUIRED = "Bitte füllen Sie dieses Feld aus";
const AMOUNT = "must be greater than 0";

useBrowser();

for (const library of ["react-hook-form", "tanstack-form"]) {
  test(`${library}: problems appear and disappear at their fields, and a valid form is sent`, async (t) => {
    const page = await formPage(t, library);
    await page.fill("#email", "ada@");
    await page.fill("#amount", "0");
    await page.click("#send");
    assert.match(await problem(page, "email"), new RegExp(`^${EMAIL}`));
    assert.equal(await problem(page, "amount"), AMOUNT);
    assert.equal(await sent(page), undefined);
    await page.fill("#email", "ada@example.org");
    await page.waitForFunction(() => document.querySelector("#email-problem").textContent === "");
    assert.equal(await problem(page, "amount"), AMOUNT);
    await page.fill("#amount", "2.5");
    await page.click("#send");
    await page.waitForFunction(() => window.sent !== undefined);
    assert.deepEqual(await sent(page), {
      reference: "order-1",
      recipient: { email: "ada@example.org" },
      pledges: [{ impact: { amount: 2.5, offeringId: "tree" } }],
    });
  });
}

test("react-hook-form-resolver: the shop's own fields are unchanged, and the request is read like a form", async (t) => {
  const page = await formPage(t, "react-hook-form-resolver");
  const pledge = {
    reference: "order-1",
    recipient: { email: "ada@example.org" },
    pledges: [{ impact: { amount: 2.5, offeringId: "tree" } }],
    trigger: { date: "2026-07-01T12:00:00+02:00" },
    notifications: ["Email"],
  };
  const order = { coupon: "SPRING", address: { zip: "10115" }, quantity: 2, pledge };
  await page.fill("#coupon", "SPRING");
  await page.fill("#zip", "10115");
  await page.fill("#email", "ada@example.org");
  assert.deepEqual(await send(page), { ...order, pledge: null });
  await page.fill("#amount", "2.5");
  await page.fill("#date", "2026-07-01T12:00");
  await page.check("#Email");
  assert.deepEqual(await send(page), order);
  assert.deepEqual(await errors(page), {});
});

test("react-hook-form-resolver: an error's type is the code, its message that of a locale pack", async (t) => {
  const page = await formPage(t, "react-hook-form-resolver");
  await page.fill("#reference", "");
  await page.fill("#email", "ada@");
  await page.fill("#amount", "-1");
  await page.fill("#date", "2026-07-01T12:00");
  for (const id of ["Email", "MessagingServiceA", "MessagingServiceB", "Pigeon"])
    await page.check(`#${id}`);
  assert.equal(await send(page), undefined);
  const error = (type, message, id) => ({ type, message, ref: id, types: { [type]: message } });
  const { pledge, ...others } = await errors(page);
  assert.deepEqual(others, {});
  assert.deepEqual(pledge.reference, error("required", REQUIRED, "reference"));
  assert.deepEqual(pledge.recipient, { email: error("invalid_email", ADDRESS, "email") });
  assert.deepEqual(pledge.pledges[0].impact.amount, error("not_positive", POSITIVE, "amount"));
  assert.deepEqual(
    [pledge.notifications.type, pledge.notifications.ref, pledge.notifications[3].type],
    ["too_many_items", "Email", "not_allowed"],
  );
  assert.equal(await page.evaluate(() => document.activeElement.id), "reference");
  await page.uncheck("#Pigeon");
  await page.fill("#reference", "order-1");
  await page.fill("#email", "ada@example.org");
  assert.deepEqual(Object.keys((await errors(page)).pledge), ["pledges"]);
  await page.fill("#amount", "");
  await page.focus("#amount");
  await page.keyboard.type("1e"); // which the browser cannot read: no reason to send the order without its pledge
  assert.equal(await send(page), undefined);
  assert.equal((await errors(page)).pledge.pledges[0].impact.amount.message, NUMBER);
});

test("react-hook-form-resolver: the browser shows the message of the first wrong field", async (t) => {
  const page = await formPage(t, "react-hook-form-resolver", { search: "?native" });
  const messages = () =>
    page.$$eval("input", (all) =>
      Object.fromEntries(
        all.map((each) => [each.id, each.validationMessage]).filter(([, text]) => text),
      ),
    );
  await page.fill("#amount", "1");
  await page.fill("#email", "ada@");
  assert.equal(await send(page), undefined);
  assert.deepEqual(await messages(), { email: ADDRESS });
  assert.equal(await page.evaluate(() => document.activeElement.id), "email");
  await page.fill("#email", "ada@example.org");
  assert.equal((await send(page)).pledge.recipient.email, "ada@example.org");
  assert.deepEqual(await messages(), {});
});

test("react-hook-form-resolver: a policy that forbids wasm makes no difference, in a single file", async (t) => {
  const page = await formPage(t, "react-hook-form-resolver", {
    policy: "script-src 'self'",
    expected: /WebAssembly|wasm-unsafe-eval/,
  });
  await page.fill("#email", "ada@");
  await page.fill("#amount", "1");
  assert.equal(await send(page), undefined);
  assert.equal((await errors(page)).pledge.recipient.email.message, ADDRESS);
  await page.fill("#email", "ada@example.org");
  assert.equal((await send(page)).pledge.pledges[0].impact.amount, 1);
});

const { readForm } = await project.load("impact-pledge/form");
const { validate } = await project.load("impact-pledge/validate");
const { pledgeResolver } = await project.load("impact-pledge/react-hook-form");
const FORM = { fields: {}, names: [], criteriaMode: "firstError" };

/**
 * Converts a form's fields to an object of values. Returns undefined if an object cannot express them, for
 * example two fields with one name.
 */
function valuesOf(controls) {
  const values = {};
  for (const [name, text] of controls) {
    const steps = name.split(".");
    let node = values;
    for (const [index, step] of steps.entries()) {
      const isLast = index === steps.length - 1;
      if (typeof node !== "object" || (isLast && Object.hasOwn(node, step))) return undefined;
      if (!Object.hasOwn(node, step)) node[step] = isLast ? text : {};
      node = node[step];
    }
  }
  return values;
}

test("every form that values can express is read in the same way by `pledgeResolver` and `readForm`", () => {
  let count = 0;
  for (const { name, controls, optional } of fixturesIn("form").flatMap(({ rows = [] }) => rows)) {
    const values = valuesOf(controls);
    if (!values) continue;
    count += 1;
    const options = { optional };
    const { valid, payload, issues } = readForm(controls, options);
    const found = pledgeResolver({ ...options, name: "x" })({ y: 1, x: values }, undefined, FORM);
    if (valid) assert.deepEqual(found, { values: { y: 1, x: payload }, errors: {} }, name);
    else assert.deepEqual(found.values, {}, name);
    for (const { name: field, path, code } of issues) {
      const at = (code.endsWith("_items") ? path : (field?.split(".") ?? path)).map(String);
      const error = at.reduce((node, step) => node?.[step], found.errors.x);
      assert.ok(
        issues.some((issue) => issue.code === error?.type),
        `${name}: ${code} at ${at}`,
      );
    }
  }
  assert.ok(count > 40, `${count}`);
});

test("values that no field sets are errors or the shop's own, and nothing throws", () => {
  const request = {
    reference: "r",
    recipient: { email: "a@b.c" },
    pledges: [{ impact: { amount: 1, offeringId: "tree" } }],
  };
  const resolve = (values, options, form) =>
    pledgeResolver(options)(values, undefined, { ...FORM, ...form });
  const own = (name, value = 1) => Object.defineProperty({}, name, { value, enumerable: true });
  for (const name of ["__proto__", "constructor", "prototype", "toString", "length"]) {
    const top = { ...request };
    Object.defineProperty(top, name, { value: 1, enumerable: true });
    assert.deepEqual(resolve(top), { values: top, errors: {} }, "the shop's");
    const recipient = Object.assign(own(name), request.recipient);
    const { errors } = resolve({ ...request, recipient });
    assert.equal(errors.recipient.type ?? errors.recipient[name].type, "unknown_member", name);
  }
  assert.equal({}.type ?? Object.prototype.toString.type, undefined);

  const cyclic = { ...request, trigger: {} };
  cyclic.trigger.trigger = cyclic.trigger;
  assert.equal(
    resolve(cyclic).errors.trigger.trigger.trigger.trigger.trigger.type,
    "unknown_member",
  );
  const read = (trigger) => resolve({ ...request, trigger }).values.trigger?.date;
  assert.equal(read({ date: new Date(0) }), "1970-01-01T00:00:00.000Z");
  assert.equal(read({ date: null }), undefined);

  const items = [{ impact: { amount: "", offeringId: "" } }, { impact: { amount: false } }];
  const names = ["pledges.0.impact.amount"];
  const none = resolve({ ...request, pledges: items }, {}, { names, criteriaMode: "all" });
  const { root } = none.errors.pledges;
  assert.deepEqual([root.type, Object.keys(root.types)], ["too_few_items", ["too_few_items"]]);
  assert.deepEqual(
    resolve({ ...request, pledges: items, coupon: "c" }, { optional: true }).values,
    {
      reference: "r",
      recipient: { email: "a@b.c" },
      coupon: "c",
    },
  );
  assert.deepEqual(
    resolve({ cart: { pledge: request, coupon: "c" } }, { name: "cart.pledge" }).values,
    {
      cart: { pledge: request, coupon: "c" },
    },
  );
  assert.throws(() => pledgeResolver({ optinal: true }), /`optinal` is not an option here/);
});

/**
 * Values that cannot be read as a number or a date. Each row has the value, and the state of its input element
 * (undefined: no element). In the rows with `empty`, the value counts as empty.
 */
const UNREAD = [
  ["3,5", undefined],
  ["abc", undefined],
  ["", { badInput: true }],
  ["", {}, "empty"],
  ["", undefined, "empty"],
  [undefined, undefined],
];

test("a number or a date that cannot be read is an issue at its field, and counts as empty only if its element is empty", () => {
  const amount = { impact: { amount: Number.NaN, offeringId: "tree" } };
  const request = { reference: "r", recipient: { email: "a@b.c" } };
  const good = [{ impact: { amount: 1, offeringId: "tree" } }];
  for (const [value, validity, isEmpty] of UNREAD) {
    const ref = value === undefined ? { focus() {} } : { value, validity };
    const resolve = (values, fields) =>
      pledgeResolver({ optional: true })(values, undefined, { ...FORM, fields });
    const number = resolve(
      { ...request, pledges: [amount] },
      { pledges: [{ impact: { amount: { ref } } }] },
    );
    const date = resolve(
      { ...request, pledges: good, trigger: { date: new Date(Number.NaN) } },
      { trigger: { date: { ref } } },
    );
    assert.equal(
      number.errors.pledges?.[0].impact.amount.type,
      isEmpty ? undefined : "invalid_type",
    );
    assert.equal(date.errors.trigger?.date.type, isEmpty ? undefined : "invalid_date_time");
  }
  const { errors } = pledgeResolver({ optional: true })(
    { ...request, pledges: [amount] },
    undefined,
    FORM,
  );
  assert.equal(errors.pledges[0].impact.amount.type, "invalid_type", "there is no element");
});

for (const way of ["valueAsNumber", "setValueAs"])
  test(`react-hook-form-resolver: text that ${way} cannot read does not become an order without its pledge`, async (t) => {
    const page = await formPage(t, "react-hook-form-resolver", { search: `?${way}` });
    await page.fill("#email", "ada@example.org");
    for (const typed of ["3,5", "abc"]) {
      await page.fill("#amount", typed);
      assert.equal(await send(page), undefined, typed);
      assert.equal((await errors(page)).pledge.pledges[0].impact.amount.message, NUMBER);
    }
    await page.fill("#amount", "");
    assert.equal((await send(page)).pledge, null, "an empty field is a choice");
    await page.fill("#amount", "3.5");
    assert.equal((await send(page)).pledge.pledges[0].impact.amount, 3.5);
  });

test("values that cannot be checked are left to the server, and this is logged once", async (t) => {
  const log = t.mock.method(console, "error", () => {});
  const resolver = pledgeResolver();
  const values = {
    get recipient() {
      throw new Error("trap");
    },
  };
  for (let i = 0; i < 3; i += 1)
    assert.equal((await resolver(values, undefined, FORM)).values, values);
  assert.equal(log.mock.callCount(), 1);
});

test("the example of docs/react-hook-form.md: with a pledge, without, and the shop's own fields", async (t) => {
  const [{ code }, ...others] = examplesOf(
    join(project.folder, "node_modules", "impact-pledge", "docs", "react-hook-form.md"),
  );
  assert.deepEqual(others, []);
  const contents = `${code}
    import { createRoot } from "react-dom/client";
    const placeOrder = (order) => { window.sent = order; };
    createRoot(document.querySelector("#root")).render(<Checkout placeOrder={placeOrder} />);`;
  const script = await bundle({ stdin: { contents, resolveDir: project.folder, loader: "jsx" } });
  const page = await openForm(t, script);
  await page.getByLabel("Coupon").fill("SPRING");
  await page.getByLabel("Newsletter").check();
  await page.getByLabel("E-mail").fill("ada..lovelace@example.org"); // valid for HTML
  await page.getByLabel("Plant a tree").check();
  const button = "button";
  assert.equal(await send(page, button), undefined);
  await page.getByText("Enter an e-mail address").waitFor();
  await page.getByLabel("E-mail").fill("ada@example.org");
  const order = {
    coupon: "SPRING",
    newsletter: true,
    reference: "order-1001",
    recipient: { email: "ada@example.org" },
  };
  const pledges = [{ impact: { amount: 1, offeringId: "tree" } }];
  const { coupon, newsletter, ...payload } = await send(page, button);
  assert.deepEqual({ coupon, newsletter, ...payload }, { ...order, pledges });
  assert.deepEqual(validate(payload), []);
  await page.getByLabel("Plant a tree").uncheck();
  assert.deepEqual(await send(page, button), order);
});

for (const search of ["", "?layout", "?kept", "?kept-layout"])
  test(`an action of React 19, which resets the form (${search || "empty"}): issues of the server are shown until they are solved`, async (t) => {
    const page = await formPage(t, "react-action", { search, expected: /no field can show/ });
    const told = () =>
      page.evaluate(() => {
        const textOf = (id) => document.getElementById(id)?.textContent ?? "";
        const described = (field) => field.getAttribute("aria-describedby").split(" ").map(textOf);
        const wrong = [...document.querySelectorAll("[aria-invalid=true]")];
        return Object.fromEntries(wrong.map((field) => [field.id, described(field).join("")]));
      });
    for (const times of [1, 2]) {
      await page.fill("#amount", "3");
      await page.fill("#email", "ada@example.org");
      await page.fill("#coupon", "SPRING");
      await page.click("#send");
      await page.waitForFunction((times) => window.sent === times, times);
      await page.waitForTimeout(100); // React resets the form, and renders the answer
      assert.equal(
        await page.inputValue("#coupon"),
        search.includes("kept") ? "SPRING" : "",
        "React has reset the form",
      );
      assert.deepEqual(await told(), {
        email: "HintWe know it.",
        coupon: "HintThis coupon has expired.",
      });
      assert.match(await page.textContent("form [role=status]"), /Closed\./);
    }
    await page.fill("#email", "ada@example.com");
    assert.deepEqual(await told(), { coupon: "HintThis coupon has expired." });
  });

async function formPage(t, library, options) {
  return openForm(t, await bundled(`./${library}.jsx`), options);
}

async function openForm(t, script, { search = "", policy = "", expected } = {}) {
  const page = await openPage(t, { expected });
  const headers = policy ? { "content-security-policy": policy } : {};
  await page.route(`${ORIGIN}/**`, (route) =>
    route.fulfill(
      route.request().url().endsWith(".js")
        ? { contentType: "text/javascript", body: script }
        : { contentType: "text/html", headers, body: HTML },
    ),
  );
  await page.goto(ORIGIN + search);
  await page.waitForSelector("form");
  return page;
}

const bundled = (entry) => bundle({ entryPoints: [join(import.meta.dirname, entry)] });

/** Bundles a page with the installed package and React, as a shop does. */
async function bundle(source) {
  const nodePaths = [root, project.folder].map((folder) => join(folder, "node_modules"));
  const define = { "process.env.NODE_ENV": '"production"' };
  const { outputFiles } = await build({
    ...source,
    bundle: true,
    minify: true,
    format: "esm",
    jsx: "automatic",
    nodePaths,
    define,
    write: false,
    logLevel: "error",
  });
  return outputFiles[0].text;
}

async function problem(page, field) {
  await page.waitForFunction(
    (id) => document.getElementById(id).textContent !== "",
    `${field}-problem`,
  );
  return page.textContent(`#${field}-problem`);
}

const sent = (page) => page.evaluate(() => window.sent);

/** Waits until React has rendered the result of a resolver. */
const shown = (page) =>
  page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );

async function errors(page) {
  await shown(page);
  return page.evaluate(() => window.errors());
}

/** Sends the form. @returns the order that the page sent; undefined if the page sent none */
async function send(page, button = "#send") {
  await page.evaluate(() => {
    window.sent = undefined;
  });
  await page.click(button);
  await shown(page);
  return sent(page);
}
