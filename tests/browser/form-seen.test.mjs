/**
 * Tests that the user always sees a problem. Examples are a field that is not rendered, a message outside of
 * the form, and a mouse button that is released outside of the page.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { axeFindings, useBrowser } from "./chromium.mjs";
import {
  VALID,
  field,
  formPage,
  isLiveVisible,
  leave,
  problems,
  send,
  submitted,
  told,
} from "./form-page.mjs";

useBrowser();

const EMAIL = "Enter an e-mail address such as ada@example.org";
const WRONG = field("email", "recipient.email", 'value="x"').replace(
  "email</label>",
  "E-mail</label>",
);
const REST = VALID.replace(/<p>.*?recipient\.email.*?<\/p>/, "");

/** Ways to hide a field. Each row says whether a link in the summary can make the field visible. */
const HIDDEN = {
  "a wizard's step": [`<div class="step">${WRONG}</div>`, false],
  "a step with `hidden`": [`<section hidden>${WRONG}</section>`, false],
  "a closed dialog": [`<dialog>${WRONG}</dialog>`, false],
  "hidden until found": [`<div hidden="until-found">${WRONG}</div>`, true],
  "hidden until found, in a hidden step": [
    `<section hidden><div hidden="until-found">${WRONG}</div></section>`,
    false,
  ],
};

for (const [name, [fields, isLinked]] of Object.entries(HIDDEN))
  test(`a problem in ${name} is named in the summary, which has the focus`, async (t) => {
    const page = await formPage(t, fields + REST);
    await page.$$eval(".step", (steps) => {
      for (const { style } of steps) style.display = "none";
    });
    await send(page);
    assert.deepEqual(await submitted(page), []);
    const line = `E-mail: ${EMAIL}`;
    assert.deepEqual((await told(page)).lines, ["Please check 1 entry", line]);
    assert.ok(await isLiveVisible(page));
    assert.ok(await page.$eval("form [role=status]", (region) => region.matches(":focus")));
    assert.deepEqual(await axeFindings(page), []);
    const link = page.locator("form [role=status] a");
    assert.equal(await link.count(), isLinked ? 1 : 0);
    if (isLinked) {
      await page.evaluate(() => {
        document.addEventListener("beforematch", ({ target }) => submitted.push(target.localName));
      });
      await link.click();
      assert.deepEqual(await page.evaluate(() => submitted.splice(0)), ["div"]);
      assert.equal((await told(page)).focus, "email");
      assert.ok(await page.isVisible("#email"));
    } else {
      await page.evaluate(() => {
        for (const part of document.querySelectorAll("[hidden],.step")) {
          part.hidden = false;
          part.style.display = "";
        }
        document.querySelector("dialog")?.show();
      });
    }
    await page.fill("#email", "ada@example.org");
    assert.deepEqual(await told(page), { problems: {}, lines: [], focus: "email" });
    await send(page);
    assert.equal((await submitted(page)).length, 1);
  });

test("all hidden problems are listed when the first is hidden; else the first field has the focus", async (t) => {
  const page = await formPage(
    t,
    `<div id="step" hidden>${WRONG}${field("name", "address.zip", 'required aria-label="Postcode"')}</div>${REST}`,
  );
  await page.fill("#amount", "-1");
  await send(page);
  assert.deepEqual((await told(page)).lines, [
    "Please check 3 entries",
    `E-mail: ${EMAIL}`,
    "name: Fill in this field",
  ]);
  await page.$eval("#step", (step) => {
    step.hidden = false;
  });
  await send(page);
  assert.deepEqual(
    [(await told(page)).focus, (await told(page)).lines],
    ["email", ["Please check 3 entries"]],
  );
});

test("a server's issue at a field that is not rendered is listed, too", async (t) => {
  const page = await formPage(t, `<div hidden>${field("coupon", "coupon")}</div>${VALID}`);
  await page.evaluate(() =>
    bound.report([{ path: ["coupon"], message: "This coupon has expired." }]),
  );
  assert.deepEqual((await told(page)).lines, [
    "Please check 1 entry",
    "coupon: This coupon has expired.",
  ]);
  assert.ok(await isLiveVisible(page));
});

test("`data-problem` beside a field outside of the form shows its problem, in a page with another form", async (t) => {
  const place = (id, text = "") => `<p id="${id}" data-problem="recipient.email">${text}</p>`;
  const page = await formPage(t, REST, {
    outside: `<form>${place("other")}</form><div>${field("email", "recipient.email", 'form="form" value="ada@example.com"')}${place("own", "We know this address.")}</div>`,
  });
  assert.deepEqual(await problems(page), { email: "We know this address." });
  await page.fill("#email", "ada@example.org");
  await leave(page);
  assert.deepEqual([await problems(page), await page.textContent("#own")], [{}, ""]);
  await page.fill("#email", "");
  await send(page);
  assert.deepEqual(await problems(page), { email: "Fill in this field" });
  assert.equal(await page.textContent("#own"), "Fill in this field");
  assert.equal(await page.textContent("#other"), "");
  assert.equal(await page.locator(".impact-pledge-problem").count(), 0);
});

test("a mouse button that is released outside of the page delays no message", async (t) => {
  const page = await formPage(t, VALID);
  const press = () =>
    page.evaluate(() =>
      document.body.dispatchEvent(new MouseEvent("mousedown", { bubbles: true })),
    );
  await press(); // and no release
  await page.fill("#amount", "-1");
  await leave(page);
  assert.deepEqual(await problems(page), { amount: "Enter a number greater than 0" });
  await page.fill("#amount", "1");
  await page.clock.install();
  await page.focus("#email");
  await page.fill("#email", "x");
  await page.evaluate(() => {
    document.body.dispatchEvent(new MouseEvent("mousedown", { bubbles: true }));
    document.querySelector("#email").blur();
  });
  assert.deepEqual(await problems(page), {});
  await page.clock.fastForward(1_000);
  assert.deepEqual(await problems(page), { email: EMAIL });
});
