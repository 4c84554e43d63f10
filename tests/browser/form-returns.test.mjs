/** Tests forms after the browser restores their page, after the user leaves or duplicates the page, and after a form is removed. */
import assert from "node:assert/strict";
import test from "node:test";
import { useBrowser } from "./chromium.mjs";
import { VALID, formPage, leave, lines, problems, send, submitted } from "./form-page.mjs";

useBrowser();

const EMAIL = "Enter an e-mail address such as ada@example.org";
const isBusy = (page) => page.$eval("form", (form) => form.matches("[aria-busy]"));
const count = async (page) => (await submitted(page)).length;
const answerBy = (page, body) =>
  page.evaluate((body) => {
    globalThis.answer = new Function(body);
  }, body);
const comeBack = (page, persisted) =>
  page.evaluate(
    (persisted) => window.dispatchEvent(new PageTransitionEvent("pageshow", { persisted })),
    persisted,
  );

test("a page restored from the browser's cache can be sent again, and the earlier submission is dropped", async (t) => {
  const page = await formPage(t, VALID);
  await answerBy(
    page,
    "return new Promise((_, reject) => { globalThis.fail = () => reject(new Error('late')); })",
  );
  await send(page);
  await comeBack(page, false);
  assert.equal(await isBusy(page), true, "a first show changes nothing");
  await comeBack(page, true);
  assert.equal(await isBusy(page), false);
  await page.evaluate(() => globalThis.fail());
  assert.equal(await page.locator("form [role=alert]").count(), 0);
  await answerBy(page, "");
  await send(page);
  assert.equal(await count(page), 2);
});

/**
 * Code with which `onSubmit` leaves the page: at once, or after a wait. The last code starts a download, which
 * only seems to leave the page.
 */
const LEAVING = {
  "an address": "location.assign('/slow')",
  "behind a wait": "return Promise.resolve().then(() => { location.href = '/slow'; })",
  "a download, in truth": "location.assign('/download')",
};

/**
 * Sends the form twice while the page is being left, and again 10 seconds later. Runs inside the page,
 * because Playwright would wait for the navigation.
 */
async function sendWhileLeaving(body) {
  const { setTimeout } = window;
  const late = []; // timers of 10 seconds, run by hand
  window.setTimeout = (work, ms, ...given) =>
    ms === 10_000 ? late.push(() => work(...given)) : setTimeout(work, ms, ...given);
  const [form] = document.forms;
  const seen = [];
  const see = async () => {
    form.requestSubmit();
    await new Promise((done) => setTimeout(done, 50));
    seen.push([submitted.length, form.ariaBusy]);
  };
  globalThis.answer = new Function(body);
  await see();
  await see();
  for (const each of late.splice(0)) each();
  seen.push(form.ariaBusy);
  globalThis.answer = () => {};
  await see();
  return seen;
}

for (const [name, body] of Object.entries(LEAVING))
  test(`while the page is left for ${name}, nothing is sent twice, for 10 seconds at most`, async (t) => {
    const page = await formPage(t, VALID, { expected: /ERR_ABORTED/ });
    await page.route("**/slow", () => {}); // no answer
    await page.route("**/download", (route) =>
      route.fulfill({ body: "x", headers: { "content-disposition": "attachment" } }),
    );
    const seen = await page.evaluate(sendWhileLeaving, body);
    assert.deepEqual(seen, [[1, "true"], [1, "true"], null, [2, null]]);
  });

test("an `onSubmit` that stays in the page, or only changes the fragment, ends at once", async (t) => {
  const page = await formPage(t, VALID);
  await answerBy(page, "location.hash = 'done'; history.pushState({}, '', '?done');");
  for (const times of [1, 2]) {
    await send(page);
    await page.waitForSelector("form:not([aria-busy])");
    assert.equal(await count(page), times);
  }
});

/** Ways in which a router keeps a page to show it again. */
const COPIES = {
  "a clone": () =>
    document.documentElement.replaceChild(document.body.cloneNode(true), document.body),
  "its HTML": () => {
    document.body.innerHTML = String(document.body.innerHTML);
  },
};

for (const [name, copy] of Object.entries(COPIES))
  test(`a page that is kept as ${name}: a new binding takes over from the earlier one`, async (t) => {
    const page = await formPage(t, VALID, { binding: null, expected: /down|inline style/ });
    const html = () => page.$eval("form", (form) => form.outerHTML);
    const before = await html();
    await page.evaluate(() => bindIt());
    await answerBy(page, "throw new Error('down')");
    await send(page);
    await page.fill("#email", "x");
    await page.fill("#amount", "-1");
    await leave(page);
    await page.evaluate(() => document.forms[0].setAttribute("aria-busy", "true"));
    await page.evaluate(copy);
    await page.evaluate(() => {
      document.querySelector("#email").value = "x";
      document.querySelector("#amount").value = "-1";
      bindIt();
    });
    const one = ["[role=status]", ".impact-pledge-problem", "[role=alert]", "[aria-busy]"];
    const counts = () =>
      page.evaluate((all) => all.map((each) => document.querySelectorAll(each).length), one);
    assert.deepEqual(await counts(), [1, 2, 0, 0]);
    assert.deepEqual(await problems(page), {
      email: EMAIL,
      amount: "Enter a number greater than 0",
    });
    await page.fill("#email", "ada@example.org");
    assert.deepEqual(await problems(page), { amount: "Enter a number greater than 0" });
    await page.fill("#amount", "3");
    assert.deepEqual([await counts(), await lines(page)], [[1, 0, 0, 0], []]);
    await answerBy(page, "");
    await send(page);
    await page.waitForSelector("form:not([aria-busy])");
    assert.equal(await count(page), 2);
    await page.evaluate(() => bound.unbind());
    const after = (await html()).replaceAll("<p></p>", ""); // HTML has no nested paragraphs
    assert.equal(after, before, "unbinding restores the form as it was before the first binding");
  });

test("a form that was removed from the document is not kept in memory, whatever it was doing", async (t) => {
  const page = await formPage(t, VALID, { binding: null });
  await page.evaluate(() => bindIt({ onSubmit: () => new Promise(() => {}) }));
  await page.fill("#email", "x");
  await send(page);
  await page.fill("#email", "ada@example.org");
  await send(page);
  assert.equal(await isBusy(page), true);
  await page.evaluate(() => {
    globalThis.gone = new WeakRef(document.forms[0]);
    document.forms[0].remove();
    globalThis.bound = undefined;
    globalThis.reported.length = 0;
  });
  const session = await page.context().newCDPSession(page);
  const isGone = async () => {
    await session.send("HeapProfiler.collectGarbage");
    return page.evaluate(() => gone.deref() === undefined);
  };
  for (let i = 0; i < 20 && !(await isGone()); i += 1) await page.waitForTimeout(100);
  assert.ok(await isGone());
});
