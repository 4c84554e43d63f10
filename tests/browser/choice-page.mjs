/** Opens pages with `<impact-choice>` of the packed package, under a policy that allows no inline style. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packed } from "../package/packed.mjs";
import { openPage } from "./chromium.mjs";

const ORIGIN = "http://choice.test";
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; form-action 'self'; img-src data:; require-trusted-types-for 'script'";
const home = join((await packed()).folder, "node_modules", "impact-pledge");
/** The script of the element. */
export const CHOICE = readFileSync(join(home, "choice.js"), "utf8");

export const TREES = 'price="0.50" currency="EUR" one="{} tree" other="{} trees"';
export const STEPPER = `<label for="trees">Trees</label>
<impact-choice ${TREES}><input id="trees" type="number" name="trees" value="0" min="0" max="5"></impact-choice>`;
export const TICK = `<impact-choice ${TREES}><label><input id="tick" type="checkbox" name="tick" value="1"> A tree</label></impact-choice>`;
/**
 * Opens a page with a form. Its global variable `heard` has the events of the form as lines `{type} {value}`.
 * @param {import("node:test").TestContext} t
 * @param {string} fields the HTML in the form
 * @param {{files?: Record<string, string>, hasScript?: boolean, lang?: string} & import("playwright-core").BrowserContextOptions} [options]
 */
export async function choicePage(
  t,
  fields,
  { files = {}, hasScript = true, lang = "en", ...options } = {},
) {
  const page = await openPage(t, { isShared: hasScript, javaScriptEnabled: hasScript, ...options });
  const scripts = { "/choice.js": CHOICE, "/page.js": PAGE, ...files };
  const posted = [];
  await page.route(`${ORIGIN}/**`, (route) => {
    const request = route.request();
    const script = scripts[new URL(request.url()).pathname];
    if (request.method() === "POST") posted.push(request.postData());
    return route.fulfill({
      contentType: script === undefined ? "text/html" : "text/javascript",
      headers: { "content-security-policy": POLICY },
      body: script ?? html(fields, lang, Object.keys(scripts)),
    });
  });
  await page.goto(ORIGIN);
  if (hasScript) await page.waitForFunction(() => globalThis.heard);
  return Object.assign(page, { posted });
}

const html = (fields, lang, scripts) => `<!doctype html>
<html lang="${lang}"><head><meta charset="utf-8"><title>A cart</title><link rel="icon" href="data:,"></head>
<body><main><h1>Cart</h1><form method="post" action="/posted">${fields}<button id="send">Send</button></form></main>
${scripts.map((path) => `<script type="module" src="${path}"></script>`).join("")}</body></html>`;

const PAGE = `globalThis.heard = [];
for (const type of ["input", "change", "submit"])
  document.addEventListener(type, ({ target }) => heard.push(type + " " + (target.value ?? "")));`;

export const minus = (page) => page.locator("[part=minus]");
export const plus = (page) => page.locator("[part=plus]");

/** Returns what a buyer sees of the first choice: the sum, and the buttons that work. */
export async function seen(page) {
  const works = ({ hidden, disabled, ariaDisabled }) =>
    !(hidden || disabled || ariaDisabled === "true");
  const signs = [];
  for (const button of [minus(page), plus(page)])
    if (await button.first().evaluate(works)) signs.push(await button.first().textContent());
  const sum = await page.locator("[part=sum]").first().textContent();
  return `${sum} ${signs.join("")}`.trim();
}

/** Waits until the first choice shows a sum. */
export const sees = async (page, text) =>
  page.waitForFunction(
    ([choice, text]) => choice.shadowRoot.querySelector("output").textContent === text,
    [await page.$("impact-choice"), text],
  );

/** Returns the events of the form since the last call. */
export const heard = (page) => page.evaluate(() => globalThis.heard.splice(0));
