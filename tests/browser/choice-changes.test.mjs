/** Tests `<impact-choice>` in pages that other scripts change. */
import assert from "node:assert/strict";
import test from "node:test";
import { build } from "esbuild";
import {
  CHOICE,
  STEPPER,
  TICK,
  choicePage,
  heard,
  minus,
  plus,
  seen,
  sees,
} from "./choice-page.mjs";
import { useBrowser } from "./chromium.mjs";
import { VALID, field, formPage, problems, send, submitted } from "./form-page.mjs";

useBrowser();

/** Bundles a script for the page from the packages of the clone. */
async function bundled(contents) {
  const stdin = { contents, resolveDir: import.meta.dirname, loader: /** @type {const} */ ("jsx") };
  const { outputFiles } = await build({
    stdin,
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"production"' },
  });
  return outputFiles[0].text;
}

/** Changes that another script makes to a stepper of 1 tree. Each has what a buyer sees then, and the value after plus. */
const CHANGES = {
  "replaces the input": [
    () => {
      const copy = trees.cloneNode();
      copy.value = "2";
      trees.replaceWith(copy);
    },
    "2 trees · €1.00 −+",
    "3",
  ],
  "renders the input anew": [
    () =>
      trees.parentElement.replaceChildren(
        Object.assign(document.createElement("input"), {
          id: "trees",
          type: "number",
          value: "4",
          max: "4",
        }),
      ),
    "4 trees · €2.00 −",
    "4",
  ],
  "wraps the input": [
    () => {
      const [box, input] = [document.createElement("div"), trees];
      input.replaceWith(box);
      box.append(input);
    },
    "1 tree · €0.50 −+",
    "2",
  ],
  "sets the value, and says so": [
    () => {
      trees.value = "3";
      trees.dispatchEvent(new Event("change", { bubbles: true }));
    },
    "3 trees · €1.50 −+",
    "4",
  ],
  "changes the limits": [() => Object.assign(trees, { min: "1", max: "1" }), "1 tree · €0.50", "1"],
  "changes the price": [
    () => trees.parentElement.setAttribute("price", "2"),
    "1 tree · €2.00 −+",
    "2",
  ],
  "changes the language of the page": [
    () => (document.documentElement.lang = "de"),
    "1 tree · 0,50\u00a0€ −+",
    "2",
  ],
  "disables the input": [() => (trees.disabled = true), "1 tree · €0.50", "1"],
  "makes the input read-only": [() => (trees.readOnly = true), "1 tree · €0.50", "1"],
  "disables a fieldset": [
    () => {
      const set = document.createElement("fieldset");
      trees.form.append(set);
      set.append(trees.parentElement);
      set.disabled = true;
    },
    "1 tree · €0.50",
    "1",
  ],
  "moves the element": [() => trees.form.prepend(trees.parentElement), "1 tree · €0.50 −+", "2"],
  "removes the element, and puts it back": [
    () => {
      const choice = trees.parentElement;
      choice.remove();
      choice.querySelector("input").value = "3";
      document.forms[0].append(choice);
    },
    "3 trees · €1.50 −+",
    "4",
  ],
  "makes it a tick": [
    () => Object.assign(trees, { type: "checkbox", checked: true }),
    "1 tree · €0.50",
    "1",
  ],
  "removes the input": [() => trees.remove(), "0 trees · €0.00", undefined],
};

for (const [what, [change, shown, after]] of Object.entries(CHANGES))
  test(`another script ${what}`, async (t) => {
    const page = await choicePage(t, STEPPER);
    await plus(page).click();
    await page.evaluate(change);
    assert.equal(await seen(page), shown);
    await heard(page);
    await page.evaluate(() =>
      document.querySelector("impact-choice").shadowRoot.querySelector("[part=plus]").click(),
    );
    assert.equal(await page.evaluate(() => document.querySelector("#trees")?.value), after);
    assert.equal((await heard(page)).length, shown.endsWith("+") ? 2 : 0);
  });

test("a reset shows the first value again", async (t) => {
  const page = await choicePage(t, STEPPER + TICK);
  await plus(page).first().click();
  await page.check("#tick");
  await page.evaluate(() => document.forms[0].reset());
  await sees(page, "0 trees · €0.00");
  assert.equal(await seen(page), "0 trees · €0.00 +");
  assert.equal(await page.locator("[part=sum]").last().textContent(), "0 trees · €0.00");
});

test("a library that morphs the page: the sum follows the input, and keeps describing it", async (t) => {
  const trusted = "trustedTypes.createPolicy('default', { createHTML: (html) => html });"; // for the libraries
  for (const library of [
    "import { Idiomorph } from 'idiomorph'; globalThis.morph = Idiomorph.morph;",
    "import morphdom from 'morphdom'; globalThis.morph = morphdom;",
  ]) {
    const page = await choicePage(t, STEPPER, {
      files: { "/morph.js": await bundled(library + trusted) },
    });
    await page.waitForFunction(() => globalThis.morph);
    await plus(page).click();
    const morph = (html) =>
      page.evaluate((html) => morph(document.querySelector("impact-choice"), html), html);
    const fresh = STEPPER.slice(STEPPER.indexOf("<impact-choice"));
    await morph(fresh.replace('value="0"', 'value="3"'));
    assert.equal(await seen(page), `${await page.inputValue("#trees")} trees · €1.50 −+`);
    assert.equal(await page.getAttribute("#trees", "aria-description"), "3 trees · €1.50");
    await plus(page).click();
    assert.equal(await seen(page), "4 trees · €2.00 −+");
  }
});

test("an input of React follows the buttons, and the buttons its state", async (t) => {
  const app = `import { useState } from "react";
    import { createRoot } from "react-dom/client";
    function Cart() {
      const [trees, setTrees] = useState(0);
      globalThis.setTrees = setTrees;
      return <impact-choice price="0.50" currency="EUR" one="{} tree" other="{} trees">
        <input id="trees" type="number" aria-label="Trees" min="0" max="5" value={trees}
          onChange={({ target }) => setTrees(Math.min(target.valueAsNumber, 2))} />
      </impact-choice>;
    }
    createRoot(document.querySelector("#app")).render(<Cart />);`;
  const files = { "/app.js": await bundled(app) };
  const page = await choicePage(t, '<div id="app"></div>', { files });
  await plus(page).click();
  assert.equal(await seen(page), "1 tree · €0.50 −+");
  await page.evaluate(() => setTrees(2));
  await sees(page, "2 trees · €1.00");
  await plus(page).click();
  await sees(page, "2 trees · €1.00");
  assert.equal(await page.inputValue("#trees"), "2", "the state decides");
  await minus(page).click();
  await sees(page, "1 tree · €0.50");
});

test("a bound form has the number of the buttons, and its problem goes with them", async (t) => {
  const amount = 'type="number" step="1" min="1" value="3"';
  const [input] =
    field("trees", "pledges.0.impact.amount", amount).match(/<input.*>(?=<\/p>)/) ?? [];
  const choice = `<label for="trees">Trees</label> <impact-choice other="trees">${input}</impact-choice>`;
  const page = await formPage(t, VALID.replace(/<p><label for="amount".*/, choice));
  await page.evaluate(CHOICE);
  await plus(page).click();
  await send(page);
  const amounts = async () =>
    (await submitted(page)).map(({ pledges }) => pledges[0].impact.amount);
  assert.deepEqual(await amounts(), [4]);
  await page.fill("#trees", "0");
  await send(page);
  assert.deepEqual(Object.keys(await problems(page)), ["trees"]);
  assert.equal(await seen(page), "+");
  await plus(page).click();
  assert.deepEqual(await problems(page), {});
  assert.equal(await seen(page), "1 trees +");
  await send(page);
  assert.deepEqual(await amounts(), [4, 1]);
});

test("an input that is parsed after the element is found", async (t) => {
  const page = await choicePage(t, "");
  await page.evaluate(() => {
    const choice = document.createElement("impact-choice");
    document.querySelector("form").append(choice);
    for (const [name, value] of [
      ["other", "trees"],
      ["lang", "en"],
    ])
      choice.setAttribute(name, value);
    choice.append(Object.assign(document.createElement("input"), { type: "number", id: "trees" }));
  });
  assert.equal(await seen(page), "0 trees +");
});

test("a label around the element keeps its input, and a press of a button does not focus that", async (t) => {
  const inner = STEPPER.slice(STEPPER.indexOf("<impact-choice"));
  const page = await choicePage(t, `<label>Trees ${inner}</label>`);
  await plus(page).click();
  assert.equal(await page.evaluate(() => document.activeElement?.localName), "impact-choice");
  await page.click("text=Trees >> nth=0", { position: { x: 2, y: 2 } });
  assert.equal(await page.evaluate(() => document.activeElement?.id), "trees");
});

test("a removed element leaves nothing behind", async (t) => {
  const page = await choicePage(t, STEPPER);
  const session = await page.context().newCDPSession(page);
  const alive = async () => {
    await session.send("HeapProfiler.collectGarbage");
    const expression = "customElements.get('impact-choice').prototype";
    const { result } = await session.send("Runtime.evaluate", { expression });
    const { objects } = await session.send("Runtime.queryObjects", {
      prototypeObjectId: result.objectId,
    });
    const counted = await session.send("Runtime.callFunctionOn", {
      objectId: objects.objectId,
      functionDeclaration: "function () { return this.length; }",
      returnByValue: true,
    });
    await session.send("Runtime.releaseObject", { objectId: objects.objectId });
    return counted.result.value;
  };
  assert.equal(await alive(), 1);
  await page.evaluate(() => {
    const { parentElement: choice } = trees;
    for (let copies = 0; copies < 50; copies += 1) {
      const copy = choice.cloneNode(true);
      for (const _ of "12") {
        document.forms[0].append(copy);
        copy.remove();
      }
    }
  });
  assert.equal(await alive(), 1);
  await session.detach();
});
