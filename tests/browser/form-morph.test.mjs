/**
 * Tests bound forms in pages that another script changes. The script is a library that morphs the page into new
 * HTML, as Turbo, Livewire, LiveView and htmx do, or a framework that renders attributes again.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { build } from "esbuild";
import { useBrowser } from "./chromium.mjs";
import { VALID, formPage, isLiveVisible, problems, send, submitted, told } from "./form-page.mjs";

useBrowser();

const EMAIL = "Enter an e-mail address such as ada@example.org";
const EMPTY = "Fill in this field";
const ONE = "Please check 1 entry";
const WRONG = { email: EMAIL };
const WITH_PLACE = `${VALID}<p data-problem="recipient.email"></p><div id="mine"></div>`;

/** Libraries that morph a form into new HTML. Each has a script that defines `morph`. */
const LIBRARIES = {
  idiomorph: "import { Idiomorph } from 'idiomorph'; globalThis.morph = Idiomorph.morph;",
  morphdom: "import morphdom from 'morphdom'; globalThis.morph = morphdom;",
};
const scripts = {};

async function loadLibrary(page, name) {
  const stdin = { contents: LIBRARIES[name], resolveDir: import.meta.dirname };
  scripts[name] ??= build({ stdin, bundle: true, write: false, format: "iife" });
  await page.evaluate((await scripts[name]).outputFiles[0].text);
}

/** Waits until the binding has seen the changes of the page. */
const settle = (page) => page.evaluate(() => new Promise((done) => setTimeout(done, 20)));

/** Opens a form, remembers its HTML as `original`, and sends it with a wrong e-mail address. */
async function wrongForm(t, fields, library, binding = () => ({})) {
  const page = await formPage(t, fields, { binding: null, expected: /no field can show/ });
  if (library) await loadLibrary(page, library);
  await page.evaluate(() => (globalThis.original = document.forms[0].outerHTML));
  await page.evaluate(`bindIt((${binding})())`);
  await page.waitForFunction(() => bound.isActive); // else the problem may appear after the change
  await page.fill("#email", "ada@");
  await send(page);
  await page.waitForSelector("[aria-invalid=true]");
  return page;
}

/** Returns how many live regions and how many added paragraphs the page has. */
const counts = (page) =>
  page.evaluate(() =>
    ["[role=status]", ".impact-pledge-problem"].map((all) => document.querySelectorAll(all).length),
  );

/** Checks that a form with a wrong e-mail address says so once, and can then be corrected and sent. */
async function worksOn(page, made, what) {
  await page.fill("#email", "ada@");
  await send(page);
  assert.deepEqual(await told(page), { problems: WRONG, lines: [ONE], focus: "email" }, what);
  assert.deepEqual(await counts(page), [1, made], what);
  await page.fill("#email", "");
  await send(page);
  assert.deepEqual((await told(page)).problems, { email: EMPTY }, what);
  await page.fill("#email", "ada@example.org");
  assert.deepEqual(await told(page), { problems: {}, lines: [], focus: "email" }, what);
  await send(page);
  assert.equal((await submitted(page)).length, 1, what);
  await page.evaluate(() => bound.unbind());
  const left = await page.evaluate(() => {
    const { forms } = new DOMParser().parseFromString(original, "text/html");
    const html = ([form]) => form.innerHTML.replace(/ id=".*?"|\s+(?=<)/g, "");
    return [html(document.forms), html(forms), document.forms[0].noValidate];
  });
  assert.deepEqual(left, [left[1], left[1], false], `${what}: nothing is left`);
}

/**
 * Where a problem is shown. Each row has the place, the fields of the form, and how many elements the package
 * adds for the problem.
 */
const PLACES = [
  ["a paragraph of the package", VALID, 1],
  ["an element of the page", WITH_PLACE, 0],
];

for (const library of Object.keys(LIBRARIES))
  for (const [place, fields, made] of PLACES)
    test(`${library} morphs a form whose problem is in ${place}: the problem is shown again`, async (t) => {
      const page = await wrongForm(t, fields, library);
      await page.evaluate(() => morph(document.forms[0], original));
      await settle(page);
      assert.equal(await page.$eval("form", (form) => form.noValidate), true);
      // A library may give the field the value of the new HTML, which is right.
      const isRight = (await page.inputValue("#email")) !== "ada@";
      assert.deepEqual(await problems(page), isRight ? {} : WRONG);
      await worksOn(page, made, library);
    });

test("a morph that adds elements of the page beside those of the package mixes none of them up", async (t) => {
  for (const library of Object.keys(LIBRARIES)) {
    const page = await wrongForm(t, VALID, library);
    await page.evaluate(() => {
      const more = "<p>A paragraph</p><div class='flash'>Saved</div></form>";
      morph(document.forms[0], original.replace("</form>", more));
    });
    await page.fill("#email", "ada@");
    await send(page);
    assert.deepEqual(await problems(page), WRONG, library);
    await page.evaluate(() => bound.unbind());
    const all = ["form > p:not(:has(input))", ".flash", "[role]", "[class*=impact]"];
    const seen = await page.evaluate(
      (all) => all.map((each) => [...document.querySelectorAll(each)].map((x) => x.textContent)),
      all,
    );
    assert.deepEqual(seen, [["A paragraph"], ["Saved"], [], []], library);
  }
});

test("a morph after success shows no problem of the empty form", async (t) => {
  const page = await wrongForm(t, VALID, "morphdom");
  await page.fill("#email", "ada@example.org");
  await send(page);
  await page.evaluate(() =>
    morph(document.forms[0], original.replace('value="ada@example.org"', 'value=""')),
  );
  await settle(page);
  assert.equal(await page.inputValue("#email"), "");
  assert.deepEqual(await problems(page), {});
});

test("problems that a morph brings from the server are taken over until their field is edited", async (t) => {
  for (const library of Object.keys(LIBRARIES)) {
    const page = await wrongForm(t, WITH_PLACE, library);
    await page.fill("#email", "ada@example.org");
    await page.evaluate(() =>
      morph(document.forms[0], original.replace('.email"></p>', '.email">We know it.</p>')),
    );
    await settle(page);
    assert.deepEqual(await problems(page), { email: "We know it." }, library);
    await page.fill("#email", "ada@example.com");
    assert.deepEqual(await problems(page), {}, library);
    assert.equal(await page.textContent("[data-problem]"), "", library);
  }
});

/** Changes that another script makes to a form while a problem is shown. */
const CHANGES = {
  "renders `aria-describedby` anew": () => email.setAttribute("aria-describedby", "hint"),
  "removes `aria-describedby`": () => email.removeAttribute("aria-describedby"),
  "removes `aria-invalid`": () => email.removeAttribute("aria-invalid"),
  "removes `novalidate`": () => document.forms[0].removeAttribute("novalidate"),
  "removes the message": () => document.getElementById(described()).remove(),
  "empties the message": () => document.getElementById(described()).replaceChildren(),
  "gives the message another ID": () => (document.getElementById(described()).id = "other"),
  "moves the message": () => document.forms[0].prepend(document.getElementById(described())),
  "moves the field": () => document.forms[0].prepend(email.parentElement),
  "removes the live region": () => document.querySelector("[role=status]").remove(),
  "empties the live region": () => document.querySelector("[role=status]").replaceChildren(),
  "replaces the field": () => {
    const copy = email.cloneNode();
    for (const name of ["aria-invalid", "aria-describedby"]) copy.removeAttribute(name);
    copy.value = email.value;
    email.replaceWith(copy);
  },
  "renders the whole form anew": () => {
    const typed = email.value;
    document.forms[0].innerHTML = original.replace(/^<form.*?>|<\/form>$/g, "");
    email.value = typed;
  },
};

/** The changes whose result depends on whether the page has an element for the problem. */
const AT_PLACES = /^(empties the m|replaces|renders)/;

for (const [what, change] of Object.entries(CHANGES))
  for (const [place, fields, made] of PLACES)
    if (made || AT_PLACES.test(what))
      test(`another script ${what}, with the problem in ${place}: it is shown again at once`, async (t) => {
        const page = await wrongForm(t, fields);
        await page.evaluate(() => {
          globalThis.described = () => email.getAttribute("aria-describedby");
          email.insertAdjacentHTML("afterend", "<i id=hint hidden></i>");
        });
        await page.evaluate(change);
        await settle(page);
        const isDescribed = what.startsWith("renders `aria");
        assert.deepEqual(await problems(page), isDescribed ? { email: ` ${EMAIL}` } : WRONG);
        await page.evaluate(() => {
          document.querySelector("#hint")?.remove();
          const others = email.getAttribute("aria-describedby").replace("hint ", "");
          email.setAttribute("aria-describedby", others);
          document.querySelector("#reference").parentElement.after(email.parentElement);
        });
        await worksOn(page, made, what);
      });

test("problems without a field, and the message of a failure, return after a morph", async (t) => {
  const page = await formPage(t, VALID, { binding: null, expected: /down|no field/ });
  await loadLibrary(page, "idiomorph");
  await page.evaluate(() => (globalThis.original = document.forms[0].outerHTML));
  await page.evaluate(() => bindIt());
  await page.evaluate(() => {
    bound.report([{ message: "Closed." }]);
    morph(document.forms[0], original);
  });
  await settle(page);
  assert.ok((await told(page)).lines.includes("Closed."));
  assert.ok(await isLiveVisible(page));
  await page.evaluate(() => {
    globalThis.answer = () => Promise.reject(new Error("down"));
  });
  await send(page);
  await page.waitForSelector("form [role=alert]");
  await page.evaluate(() => morph(document.forms[0], original));
  await settle(page);
  assert.equal(await page.locator("form [role=alert]").count(), 1);
  await page.evaluate(() => (globalThis.answer = undefined));
  await page.click("text=Try again");
  assert.equal(await page.locator("form [role=alert]").count(), 0);
  assert.equal((await submitted(page)).length, 2);
});

test("a form that is being sent stays `aria-busy` when a morph removes this", async (t) => {
  const page = await formPage(t, VALID);
  await loadLibrary(page, "idiomorph");
  await page.evaluate(() => {
    const [form] = document.forms;
    globalThis.original = form.outerHTML.replace(' novalidate=""', "");
    globalThis.answer = () => new Promise((done) => (globalThis.finish = done));
  });
  await send(page);
  await page.evaluate(() => morph(document.forms[0], original));
  await settle(page);
  assert.equal(await page.getAttribute("form", "aria-busy"), "true");
  await page.evaluate(() => finish());
  await page.waitForSelector("form:not([aria-busy])");
});
