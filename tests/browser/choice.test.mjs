/** Tests what a buyer does with `<impact-choice>`, and what the form then posts. */
import assert from "node:assert/strict";
import test from "node:test";
import { accessibilityNodes, axeFindings, useBrowser } from "./chromium.mjs";
import {
  STEPPER,
  TICK,
  TREES,
  choicePage,
  heard,
  minus,
  plus,
  seen,
  sees,
} from "./choice-page.mjs";

const RADIOS = `<impact-choice ${TREES}><fieldset><legend>Trees</legend>${[0, 1, 3]
  .map((trees) => `<label><input type="radio" name="trees" value="${trees}"> ${trees}</label>`)
  .join("")}</fieldset></impact-choice>`;
const LIST = `<label for="trees">Trees</label>
<impact-choice ${TREES}><select id="trees" name="trees"><option>0</option><option>3</option></select></impact-choice>`;

useBrowser();

// ---- The form ----------------------------------------------------------------------------------------

/** Each control, with what the untouched form posts, how a buyer chooses, and what the form posts then. */
const KINDS = [
  ["a stepper", STEPPER, "trees=0", (page) => page.fill("#trees", "3"), "trees=3"],
  ["a tick", TICK, "", (page) => page.check("#tick"), "tick=1"],
  ["radio buttons", RADIOS, "", (page) => page.check("[value='3']"), "trees=3"],
  ["a list", LIST, "trees=0", (page) => page.selectOption("#trees", "3"), "trees=3"],
];

for (const hasScript of [false, true])
  for (const [what, fields, untouched, choose, chosen] of KINDS)
    test(`${what} ${hasScript ? "with" : "without"} JavaScript is posted once, and only as the buyer chose`, async (t) => {
      for (const [act, expected] of [
        [() => {}, untouched],
        [choose, chosen],
      ]) {
        const page = await choicePage(t, fields, { hasScript });
        await act(page);
        await Promise.all([page.waitForURL("**/posted"), page.click("#send")]);
        assert.deepEqual(page.posted, [expected || null]);
      }
    });

test("what the page has filled in stays, and nothing is ticked or raised by itself", async (t) => {
  const filledIn = STEPPER.replace('value="0"', 'value="3"') + TICK.replace("id=", "checked id=");
  const page = await choicePage(t, filledIn);
  assert.deepEqual([await page.inputValue("#trees"), await page.isChecked("#tick")], ["3", true]);
  assert.equal(await seen(page), "3 trees · €1.50 −+");
  assert.deepEqual(await heard(page), []);
});

test("back in the history, the sum is that of the value that the browser restores", async (t) => {
  const page = await choicePage(t, STEPPER);
  await plus(page).click();
  await plus(page).click();
  await Promise.all([page.waitForURL("**/posted"), page.click("#send")]);
  await page.goBack();
  await page.waitForFunction(() => globalThis.heard);
  assert.equal(await page.inputValue("#trees"), "2");
  await sees(page, "2 trees · €1.00");
});

// ---- The buttons -------------------------------------------------------------------------------------

test("the buttons change the number between its limits, as a native control does, and submit nothing", async (t) => {
  const page = await choicePage(t, STEPPER);
  assert.equal(await seen(page), "0 trees · €0.00 +");
  await plus(page).click();
  assert.deepEqual(await heard(page), ["input 1", "change 1"]);
  assert.equal(await seen(page), "1 tree · €0.50 −+");
  await minus(page).click();
  await minus(page).click({ force: true });
  assert.deepEqual(await heard(page), ["input 0", "change 0"], "a click at the limit does nothing");
  for (let clicks = 0; clicks < 7; clicks += 1) await plus(page).click({ force: true });
  assert.equal(await seen(page), "5 trees · €2.50 −");
  assert.equal((await heard(page)).length, 10);
  assert.deepEqual(page.posted, []);
});

test("by keyboard: every control can be reached, and a button keeps the focus at a limit", async (t) => {
  const page = await choicePage(t, STEPPER.replace('max="5"', 'max="2"'));
  await page.focus("#trees");
  await page.keyboard.press("ArrowUp");
  assert.equal(await seen(page), "1 tree · €0.50 −+");
  await page.keyboard.press("Tab");
  for (const key of ["Enter", "Space"]) await page.keyboard.press(key);
  assert.equal(await seen(page), "2 trees · €1.00 −");
  const focused = () =>
    page.evaluate(() => document.activeElement.shadowRoot?.activeElement.part.value);
  assert.equal(await focused(), "plus");
  for (const _ of "12") await page.keyboard.press("Shift+Tab");
  assert.equal(await focused(), "minus");
  for (const _ of "123") await page.keyboard.press("Space");
  assert.equal(await seen(page), "0 trees · €0.00 +");
  assert.equal(await focused(), "minus");
  const outline = await minus(page).evaluate((button) => getComputedStyle(button).outlineStyle);
  assert.equal(outline, "solid");
  assert.deepEqual(page.posted, []);
});

/**
 * Numbers as a buyer types them, with what the buyer then sees. Each has the attributes of the input, the text, what
 * is shown, and the value after a press of plus and of minus.
 */
const TYPED = [
  ['min="0" max="5"', "", "0 trees · €0.00 +", "1", ""],
  ['min="0" max="5"', "-", "+", "1", ""],
  ['min="0" max="5"', "1e", "+", "1", ""],
  ['min="0" max="5"', "1e0", "−+", "2", "0"],
  ['min="0" max="5"', "-3", "+", "0", ""],
  ['min="0" max="5"', "999", "−", "", "5"],
  ['min="0" max="5"', "1.5", "−+", "2", "1"],
  ['min="0" max="5"', "003", "3 trees · €1.50 −+", "4", "2"],
  ['min="0" max="5" step="2"', "4", "4 trees · €2.00 −", "", "2"],
  ['min="0" step="ANY"', "1.25", "1.25 trees · €0.63 −+", "2", "1"],
  ['min="0" step="0.1"', "0.3", "0.3 trees · €0.15 −+", "0.4", "0.2"],
  ['min="2" max="4"', "", "0 trees · €0.00 +", "2", ""],
  ['min="0"', "12345678901234567890", "", "", ""],
  ["", "0", "0 trees · €0.00 +", "1", ""],
  ["", "-2", "+", "-1", ""],
];

test("typed numbers: the sum is shown for a valid one only, and the buttons lead back to one", async (t) => {
  for (const [attributes, text, shown, ...after] of TYPED) {
    const page = await choicePage(t, STEPPER.replace('min="0" max="5"', attributes));
    for (const [index, button] of [plus, minus].entries()) {
      await page.focus("#trees");
      for (const key of ["Control+a", "Delete"]) await page.keyboard.press(key);
      await page.keyboard.type(text);
      assert.equal(await seen(page), shown, `${attributes}: ${text}`);
      const posted = await page.inputValue("#trees");
      await button(page).click({ force: true });
      assert.equal(
        await page.inputValue("#trees"),
        after[index] || posted,
        `${attributes}: ${text}`,
      );
    }
  }
});

// ---- Texts -------------------------------------------------------------------------------------------

/** The attributes of a choice in this language, the value of its input, and the text that is shown. */
const SUMS = [
  ["en", TREES, "3", "3 trees · €1.50"],
  ["en", 'other="{} trees"', "3", "3 trees"],
  ["en", 'price="0.50" currency="EUR"', "3", "€1.50"],
  ["en", "", "3", ""],
  ["en", 'price="0.50"', "3", ""],
  ["en", 'price="0.50" currency="EURO"', "3", ""],
  ["en", 'price="0,50" currency="EUR" other="trees"', "3", ""],
  ["en", 'price="-1" currency="EUR"', "3", ""],
  ["en", 'price="1.005" currency="EUR"', "3", "€3.02"],
  ["en", 'price="0.1" currency="USD"', "3", "$0.30"],
  ["en", 'price="1.15" currency="USD"', "123456789012345", "$141,975,307,364,196.75"],
  ["en", 'price="70" currency="JPY"', "3", "¥210"],
  ["ja", 'price="70" currency="JPY" other="{}本"', "3", "3本 · ￥210"],
  ["en", 'price="0.125" currency="KWD"', "3", "KWD\u00a00.375"],
  [
    "de_DE",
    'price="1.5" currency="EUR" one="{} Baum" other="{} Bäume"',
    "1",
    "1 Baum · 1,50\u00a0€",
  ],
  ["pl", 'one="{} drzewo" few="{} drzewa" other="{} drzew"', "3", "3 drzewa"],
  ["fr", 'one="{} arbre" other="{} arbres"', "0", "0 arbre"],
  ["no such language", TREES, "3", ""],
  ["en", 'price="2" currency="EUR" other="<b>{}</b>"', "3", "<b>3</b> · €6.00"],
];

test("sums are exact, and follow language and currency; a wrong attribute shows nothing", async (t) => {
  const choices = SUMS.map(
    ([lang, attributes, value]) =>
      `<label>Trees <impact-choice lang="${lang}" ${attributes}><input type="number" name="trees" value="${value}"></impact-choice></label>`,
  );
  const page = await choicePage(t, choices.join("\n"));
  assert.deepEqual(
    await page.$$eval("impact-choice", (all) =>
      all.map(({ shadowRoot }) => shadowRoot.querySelector("output").textContent),
    ),
    SUMS.map(([, , , text]) => text),
  );
});

/** The names of the buttons by language. */
const NAMES = {
  da: ["Reducer", "Forøg"],
  de: ["Verringern", "Erhöhen"],
  en: ["Decrease", "Increase"],
  es: ["Disminuir", "Aumentar"],
  fr: ["Diminuer", "Augmenter"],
  it: ["Diminuisci", "Aumenta"],
  ja: ["減らす", "増やす"],
  nl: ["Verlagen", "Verhogen"],
  pl: ["Zmniejsz", "Zwiększ"],
  pt: ["Diminuir", "Aumentar"],
  "pt-BR": ["Diminuir", "Aumentar"],
  sv: ["Minska", "Öka"],
  zh: ["减少", "增加"],
  "de-AT": ["Verringern", "Erhöhen"],
  "zh-Hans-CN": ["减少", "增加"],
  DE_de: ["Verringern", "Erhöhen"],
  fi: ["Decrease", "Increase"],
};

test("the buttons have names in 13 languages, with the label, and names of the shop", async (t) => {
  const page = await choicePage(t, STEPPER);
  const names = async () => {
    const buttons = (await accessibilityNodes(page)).filter(({ role }) => role === "button");
    return buttons.map(({ name }) => name).filter((name) => name !== "Send");
  };
  for (const [lang, [down, up]] of Object.entries(NAMES)) {
    await page.evaluate((lang) => (document.documentElement.lang = lang), lang);
    assert.deepEqual(await names(), [`${down}: Trees`, `${up}: Trees`], lang);
  }
  await page.evaluate(() => {
    const choice = document.querySelector("impact-choice");
    choice.setAttribute("minus", "Vähennä");
    choice.setAttribute("plus", "Lisää");
    document.querySelector("#trees").ariaLabel = "Puut";
  });
  assert.deepEqual(await names(), ["Vähennä: Puut", "Lisää: Puut"]);
});

test("a screen reader gets the name, the limits and the sum, and each new sum by itself", async (t) => {
  const page = await choicePage(t, STEPPER + TICK);
  const found = async (wanted) =>
    (await accessibilityNodes(page)).filter(({ role }) => role === wanted);
  await plus(page).first().click();
  const [input] = await found("spinbutton");
  assert.deepEqual([input.name, input.value, input.description], ["Trees", 1, "1 tree · €0.50"]);
  const [box] = await found("checkbox");
  assert.deepEqual([box.name, box.description], ["A tree", "0 trees · €0.00"]);
  const lines = (await found("status")).map(({ states }) => [states.live, states.atomic]);
  assert.deepEqual(lines, Array(2).fill(["polite", true]));
  await minus(page).first().click();
  const buttons = (await found("button")).map(({ name, states }) => [name, states.disabled]);
  assert.deepEqual(buttons.sort(), [
    ["Decrease: Trees", true],
    ["Increase: Trees", undefined],
    ["Send", undefined],
  ]);
  const changes = await page.evaluate(() => {
    const [sum] = document.querySelector("impact-choice").shadowRoot.querySelectorAll("output");
    const observer = new MutationObserver(() => {});
    observer.observe(sum, { childList: true, characterData: true, subtree: true });
    for (const type of ["focusin", "input", "change"])
      document.querySelector("#trees").dispatchEvent(new Event(type, { bubbles: true }));
    return observer.takeRecords().length;
  });
  assert.equal(changes, 0, "an unchanged sum is not announced again");
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    assert.deepEqual(await axeFindings(page), []);
  }
});

test("a shop styles the parts, and may hide the element", async (t) => {
  const page = await choicePage(t, STEPPER + TICK);
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`impact-choice::part(minus), impact-choice::part(plus) { display: grid; color: rgb(1, 2, 3) }
      impact-choice::part(sum) { font-weight: 700 }`);
    document.adoptedStyleSheets.push(sheet);
  });
  const style = (part, name) =>
    page
      .locator(`[part=${part}]`)
      .first()
      .evaluate((element, name) => getComputedStyle(element)[name], name);
  assert.equal(await style("plus", "color"), "rgb(1, 2, 3)");
  assert.equal(await style("sum", "fontWeight"), "700");
  assert.equal(await page.locator("[part=plus]:visible").count(), 1, "a tick has no buttons");
  const { width, height } = await plus(page).first().boundingBox();
  assert.ok(Math.min(width, height) >= 44, `${width} × ${height}`);
  await page.evaluate(() => (document.querySelector("impact-choice").hidden = true));
  assert.equal(await page.locator("#trees").isVisible(), false);
});
