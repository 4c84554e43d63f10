/**
 * Tests a form with plain HTML controls, and a form of each component library. In Chromium, Firefox and
 * WebKitGTK, a shopper fills in and sends the form, and then returns to it.
 */
import assert from "node:assert/strict";
import { NO_FIREFOX } from "../lib/browser.mjs";

const MISSING = {
  firefox: NO_FIREFOX,
  webkit: "npm has no WebKitGTK",
};
const MUST_BE = "Enter an e-mail address such as ada@example.org";

/**
 * The component libraries by name. Each has its npm package, its modules, and the tags of a text field, a
 * checkbox and a button.
 */
const LIBRARIES = {
  plain: [null, [], "input", "input type=checkbox", "button"],
  material: [
    "@material/web",
    ["textfield/outlined-text-field.js", "checkbox/checkbox.js", "button/filled-button.js"],
    "md-outlined-text-field",
    "md-checkbox",
    "md-filled-button",
  ],
  webawesome: [
    "@awesome.me/webawesome",
    ["input", "checkbox", "button"].map((name) => `dist/components/${name}/${name}.js`),
    "wa-input",
    "wa-checkbox",
    'wa-button type="submit"',
  ],
  shoelace: [
    "@shoelace-style/shoelace",
    ["input", "checkbox", "button"].map((name) => `dist/components/${name}/${name}.js`),
    "sl-input",
    "sl-checkbox",
    'sl-button type="submit"',
  ],
};

const element = (tag, attributes, text = "") => {
  const [name] = tag.split(" ");
  return `<${tag} ${attributes}>${name === "input" ? "" : `${text}</${name}>`}`;
};

const html = ([, , text, box, button]) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>A form</title><script src="page.js" defer></script></head><body><form>
<input type="hidden" name="reference" value="order-1"><input type="hidden" name="pledges.0.impact.offeringId" value="tree">
<p>${element(text, 'id="email" name="recipient.email" label="E-mail" aria-label="E-mail"')}</p>
<p>${element(text, 'id="name" name="recipient.name" label="Name" aria-label="Name"')}</p>
<p>${element(box, 'id="box" name="pledges.0.impact.amount" value="1" aria-label="Plant a tree"', "Plant a tree")}</p>
<p>${element(button, 'id="send"', "Order")}</p>
</form></body></html>`;

const script = ([
  library,
  modules,
]) => `${modules.map((name) => `import "${library}/${name}";\n`).join("")}
import { bindForm } from "impact-pledge/form";
bindForm(document.forms[0], {
  optional: true,
  onSubmit(payload) {
    sessionStorage.orders = JSON.stringify([...JSON.parse(sessionStorage.orders ?? "[]"), payload]);
    location.assign("/thanks/");
    return new Promise(() => {}); // like a page that the shopper left
  },
});
globalThis.isBound = true;`;

const problems = (page) =>
  page.$$eval(".impact-pledge-problem", (all) => all.map(({ textContent }) => textContent));
const valueIn = (page, id) => page.$eval(id, ({ value }) => value);

async function type(page, id, text, delay) {
  await page.$eval(id, (field) => field.focus());
  await page.keyboard.down("Control");
  await page.keyboard.press("a");
  await page.keyboard.up("Control");
  await page.keyboard.press("Backspace");
  await page.keyboard.type(text, { delay });
  assert.equal(await valueIn(page, id), text, `typed at ${delay} ms a key`);
  await page.keyboard.press("Tab");
}

async function rendered(page) {
  await page.waitForFunction(() => "isBound" in globalThis);
  await page.evaluate(() =>
    Promise.all(
      [...document.querySelectorAll("*")].map(
        (each) => "updateComplete" in each && each.updateComplete,
      ),
    ),
  );
}

async function tick(page, wanted) {
  const isTicked = () => page.$eval("#box", ({ checked }) => checked);
  if ((await isTicked()) !== wanted) await page.click("#box");
  assert.equal(await isTicked(), wanted);
}

/** Enters Chinese characters as an input method does. The browser's protocol must support this. */
async function compose(page) {
  const session = await page.createCDPSession();
  await page.click("#name");
  for (const text of ["z", "zh", "zhong", "中"])
    await session.send("Input.imeSetComposition", {
      text,
      selectionStart: text.length,
      selectionEnd: text.length,
    });
  await session.send("Input.insertText", { text: "中文" });
  assert.equal(await valueIn(page, "#name"), "中文");
}

async function send(page) {
  await Promise.all([
    page.waitForFunction(() => location.pathname === "/thanks/"),
    page.click("#send"),
  ]);
  return page.evaluate(() => JSON.parse(sessionStorage.orders));
}

async function walk(page, url, isChromium) {
  await page.goto(url);
  await rendered(page);
  await tick(page, true);
  for (const delay of [0, 60]) {
    await type(page, "#email", "ada@@example.org", delay);
    await page.waitForFunction(() => document.querySelector(".impact-pledge-problem"));
    assert.deepEqual(await problems(page), [MUST_BE]);
    await type(page, "#email", "ada@example.org", delay);
    await page.waitForFunction(() => !document.querySelector(".impact-pledge-problem"));
  }
  if (isChromium) await compose(page);
  else await type(page, "#name", "中文", 0);
  const request = { reference: "order-1", recipient: { email: "ada@example.org", name: "中文" } };
  const pledges = [{ impact: { amount: 1, offeringId: "tree" } }];
  await tick(page, false);
  assert.deepEqual(await send(page), [null], "the box is not ticked");
  for (const times of [1, 2]) {
    await page.evaluate(() => history.back());
    await page.waitForFunction(() => location.pathname === "/");
    await rendered(page);
    await type(page, "#email", "ada@example.org", 0);
    await type(page, "#name", "中文", 0);
    await tick(page, true);
    assert.deepEqual((await send(page)).slice(1), Array(times).fill({ ...request, pledges }));
  }
}

const environment = (browser, [name, library]) => ({
  name: `${browser === "chromium" ? "" : `${browser}-`}form-${name}`,
  ...(browser !== "chromium" && { browser, mayBeMissing: MISSING[browser] }),
  async version(workspace) {
    const shown = await workspace.browserVersion();
    const [tool] = library;
    return tool ? `${workspace.version(tool)}, ${shown.split(".", 1)[0]}` : shown;
  },
  async run(workspace) {
    workspace.write("page.mjs", script(library));
    workspace.write("dist/index.html", html(library));
    workspace.write("dist/thanks/index.html", "<!doctype html><title>Thank you</title>");
    await workspace.node(
      "esbuild/bin/esbuild --bundle --minify page.mjs --format=iife --outfile=dist/page.js",
    );
    const page = await workspace.openPage();
    await walk(page, `${await workspace.serve("dist")}/`, browser === "chromium");
  },
});

/** @type {import("../main.mjs").Environment[]} */
export const environments = ["chromium", "firefox", "webkit"].flatMap((browser) =>
  Object.entries(LIBRARIES).map((library) => environment(browser, library)),
);
