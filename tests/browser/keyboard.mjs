/** Uses a page by keyboard alone. The focus must be visible wherever it stops. */
import assert from "node:assert/strict";

/** The maximum number of Tab presses. No page of the tests has more elements that Tab reaches. */
const MAX_STOPS = 150;

/** Returns whether the element has a visible size, and the style of its focus outline. */
const seen = (element) => {
  const { outlineStyle } = getComputedStyle(element);
  const { width, height } = element.getBoundingClientRect();
  return { outlineStyle, isShown: width > 0 && height > 0 };
};

/** Presses Tab until an element that a selector matches has the focus. */
export async function tabTo(page, selector) {
  for (let presses = 0; presses < MAX_STOPS; presses += 1) {
    await page.keyboard.press("Tab");
    if ((await page.locator(`:is(${selector}):focus`).count()) === 0) continue;
    const { outlineStyle, isShown } = await page.locator(":focus").evaluate(seen);
    assert.ok(isShown, selector);
    assert.equal(outlineStyle, "solid", selector);
    return;
  }
  assert.fail(`no Tab leads to ${selector} on ${page.url()}`);
}

/**
 * Fills in fields by keyboard, in their order on the page. In a drop-down list, typing a text selects the option
 * with that text. The value `true` ticks a checkbox.
 * @param {import("playwright-core").Page} page
 * @param {Record<string, string | true>} fields the values to fill in, by field name
 */
export async function fillIn(page, fields) {
  for (const [name, value] of Object.entries(fields)) {
    await tabTo(page, `main [name="${name}"]`);
    if (value === true) await page.keyboard.press("Space");
    else await page.keyboard.type(value);
  }
}

/** Fills in fields, goes to a link or a button, presses Enter, and waits for the page. */
export async function send(page, fields, selector) {
  await fillIn(page, fields);
  await tabTo(page, selector);
  await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
}

/** Searches by the field in the head of a dashboard's page. */
export async function find(page, text) {
  await tabTo(page, 'search [name="text"]');
  await page.keyboard.type(text);
  await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
}

const CONTROLS =
  'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]';

/** Numbers the visible controls of a page. Returns the first 120 characters of each control's HTML. */
function numberControls(selector) {
  const shown = [...document.querySelectorAll(selector)].filter((control) =>
    control.checkVisibility(),
  );
  for (const [number, control] of shown.entries()) control.dataset.number = `${number}`;
  return shown.map((control) => control.outerHTML.slice(0, 120));
}

/**
 * Returns the number of the focused control, and whether its focus can be seen. Returns null at the end of
 * the page.
 */
function focused() {
  const control = /** @type {HTMLInputElement | null} */ (document.activeElement);
  const number = control?.dataset.number;
  if (!control || number === undefined) return null;
  const { left, right, width } = control.getBoundingClientRect();
  const { outlineStyle } = getComputedStyle(control);
  // The browser shows which part of a date has the focus.
  const isMarked = outlineStyle === "solid" || ["date", "month"].includes(control.type);
  const isSeen = isMarked && width > 0 && left >= 0 && right <= innerWidth;
  return { number: Number(number), isSeen };
}

/**
 * Presses Tab until the last control of the page has the focus. The next Tab leads to the beginning of the
 * page.
 */
async function goToEnd(page, count) {
  for (let presses = 0; presses < MAX_STOPS + count; presses += 1) {
    await page.keyboard.press("Tab");
    if ((await page.evaluate(focused))?.number === count - 1) return;
  }
}

/**
 * Presses Tab from the beginning to the end of a page. Asserts that Tab reaches every control in the order
 * of the page, and that each control is visible when it has the focus.
 * @param {import("playwright-core").Page} page a page that was just opened
 */
export async function reachesEveryControl(page) {
  const controls = await page.evaluate(numberControls, CONTROLS);
  if ((await page.locator("[autofocus]").count()) > 0) await goToEnd(page, controls.length);
  const reached = [];
  for (let presses = 0; presses < MAX_STOPS + controls.length; presses += 1) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(focused);
    if (stop === null && reached.length === 0) continue;
    const isAround = reached.length > 1 && stop?.number === reached[0];
    if (stop === null || isAround) break;
    assert.ok(stop.isSeen, `the focus cannot be seen: ${controls[stop.number]}`);
    if (reached.at(-1) !== stop.number) reached.push(stop.number); // a date has several parts
  }
  assert.deepEqual(
    reached.map((number) => controls[number]),
    controls,
  );
}
