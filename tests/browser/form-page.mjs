/** Opens pages with one form, which the built and bundled package checks. */
import { basename } from "node:path";
import { build } from "esbuild";
import { packed } from "../package/packed.mjs";
import { openPage } from "./chromium.mjs";

const ORIGIN = "http://form.test";
const ZONE = "Asia/Kolkata";
/** A policy that forbids WebAssembly. */
export const STRICT =
  "default-src 'none'; script-src 'self'; form-action 'self'; img-src data:; base-uri 'none'";
const WITH_WASM = STRICT.replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'");
/** Matches the browser's message that a page's policy forbids WebAssembly. */
const REFUSED = /WebAssembly|wasm-unsafe-eval/;

let made;

/**
 * Returns the files that the pages load, by name. The main script collects what the form's binding passes to
 * `onSubmit`. The other files are its chunks.
 */
async function scripts() {
  const contents = `
    import { bindForm, fieldAttributes, readForm, ready } from "impact-pledge/form";
    import { de } from "impact-pledge/locales/de";
    Object.assign(globalThis, { bindForm, fieldAttributes, readForm, ready, de, submitted: [], reported: [] });
    globalThis.bindIt = (options = {}) => {
      globalThis.bound = bindForm(document.forms[0], {
        onSubmit: async (payload) => {
          submitted.push(payload);
          return globalThis.answer?.(payload);
        },
        onIssues: (issues) => reported.push(issues),
        ...options,
      });
    };`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: (await packed()).folder },
    bundle: true,
    splitting: true,
    entryNames: "form",
    chunkNames: "[name]",
    outdir: "/",
    format: "esm",
    minify: true,
    write: false,
  });
  return new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
}

/**
 * Opens a page with a form. Its global variables are `bound` (the binding), `submitted` (the payloads) and
 * `reported` (the issues). If the page defines a function `answer`, `onSubmit` calls it.
 * @param {import("node:test").TestContext} t
 * @param {string} fields the HTML in the form
 * @param {object} [options]
 * @param {string} [options.policy] the page's `Content-Security-Policy`
 * @param {(route: import("playwright-core").Route) => unknown} [options.onRules] handles the request for the rules without wasm
 * @param {string} [options.outside] the HTML after the form
 * @param {(() => object) | null} [options.binding] runs in the page and returns the options of `bindForm`; null: the form is not bound
 * @param {RegExp} [options.expected] what the console may contain
 * @returns {Promise<import("playwright-core").Page>}
 */
export async function formPage(
  t,
  fields,
  { policy = WITH_WASM, onRules, outside = "", binding = () => ({}), expected } = {},
) {
  made ??= scripts();
  const given = { html: html(fields, outside), policy, scripts: await made };
  const isExpected =
    policy === STRICT
      ? new RegExp(`${REFUSED.source}|${expected?.source ?? REFUSED.source}`)
      : expected;
  const page = await openPage(t, { isShared: true, timezoneId: ZONE, expected: isExpected });
  await page.route(`${ORIGIN}/**`, (route) => route.fulfill(answer(route.request(), given)));
  if (onRules) await page.route(`${ORIGIN}/rules.js`, onRules);
  await page.goto(ORIGIN);
  if (binding) await page.evaluate(`bindIt((${binding})())`);
  if (binding && !onRules) await page.waitForFunction(() => globalThis.bound.isActive);
  return page;
}

function answer(request, { html, policy, scripts }) {
  const script = scripts.get(basename(request.url()));
  if (script) return { contentType: "text/javascript", body: script };
  const posted = `<!doctype html><title>posted</title><pre>${request.postData()}</pre>`;
  const body = request.url().includes("/posted") ? posted : html;
  return { contentType: "text/html", headers: { "content-security-policy": policy }, body };
}

const html = (fields, outside) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>A form</title><link rel="icon" href="data:,"></head>
<body><main><h1>A form</h1>
<form id="form" method="post" action="/posted">
${fields}
<button id="send">Send</button>
</form>
${outside}</main><script type="module" src="/form.js"></script></body></html>`;

/** Returns a field with its label. */
export const field = (id, name, attributes = "") =>
  `<p><label for="${id}">${id}</label> <input id="${id}" name="${name}" ${attributes}></p>`;

/** Returns a checkbox for a notification service. */
export const box = (value) =>
  `<label><input type="checkbox" id="${value}" name="notifications" value="${value}"> ${value}</label>`;

/** The fields of a valid request. */
export const VALID = [
  field("reference", "reference", 'value="order-1"'),
  field("email", "recipient.email", 'type="email" value="ada@example.org"'),
  '<input type="hidden" name="pledges.0.impact.offeringId" value="tree">',
  field("amount", "pledges.0.impact.amount", 'type="number" step="any" value="3"'),
].join("\n");

export const submitted = (page) => page.evaluate(() => globalThis.submitted);
export const send = (page) => page.click("#send");
export const leave = (page) => page.keyboard.press("Tab");

/** Returns what the page shows to a buyer: the problems by field, the lines of the live region, and the focused element. */
export const told = (page) =>
  page.evaluate(() => {
    const all = (selector) => [...document.querySelectorAll(selector)];
    const textOf = (id) => document.getElementById(id)?.textContent;
    const described = (field) => field.getAttribute("aria-describedby").split(" ").map(textOf);
    const problems = all("[aria-invalid=true]").map((field) => [field.id, described(field)]);
    return {
      problems: Object.fromEntries(problems.map(([id, texts]) => [id, texts.join(" ")])),
      lines: all("form [role=status] > *").map((line) => line.textContent),
      focus: document.activeElement?.id,
    };
  });
export const problems = async (page) => (await told(page)).problems;
export const lines = async (page) => (await told(page)).lines;

/** Whether the live region is visible, not only read by screen readers. */
export const isLiveVisible = (page) =>
  page.$$eval("form [role=status] > *", (all) =>
    all.some((line) => line.getBoundingClientRect().width > 1),
  );

/** Returns whether a field is marked as invalid, and whether it has a custom error in the browser. */
export const state = (page, id) =>
  page.$eval(`#${id}`, (input) => ({
    invalid: input.getAttribute("aria-invalid"),
    custom: input.validity.customError,
  }));
