/** Pages with one form on them, bound by the built package as a bundler gives it to a browser. */
import { build } from "esbuild";
import { packed } from "../package/packed.mjs";
import { openPage } from "./chromium.mjs";

const ORIGIN = "http://form.test";
const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; form-action 'self'; img-src data:; base-uri 'none'";
const ENTRY = `
  import { bindForm, fieldAttributes, readForm } from "impact-pledge/form";
  import { de } from "impact-pledge/locales/de";
  Object.assign(globalThis, { bindForm, fieldAttributes, readForm, de });
`;

let bundle,
  entry = "impact-pledge/form";

/** Has all pages use the entry without wasm, under a policy that forbids wasm. */
export const usePlain = () => (entry = "impact-pledge/form/js");
export const isPlain = () => entry.endsWith("/js");

/** A script that uses the installed package. @param {string} contents */
export async function bundled(contents = ENTRY) {
  const { outputFiles } = await build({
    stdin: {
      contents: contents.replace('"impact-pledge/form"', `"${entry}"`),
      resolveDir: (await packed()).folder,
    },
    bundle: true,
    format: "esm",
    minify: true,
    write: false,
  });
  return outputFiles[0].text;
}

/**
 * @param {import("node:test").TestContext} t
 * @param {string} fields what stands in the form
 * @param {{outside?: string, attributes?: string, policy?: string, bind?: boolean, expected?: RegExp}} [options]
 * @returns {Promise<import("playwright-core").Page>} `bound`, `submitted` and `reported` are globals of the page
 */
export async function formPage(
  t,
  fields,
  {
    outside = "",
    attributes = "",
    policy = isPlain() ? POLICY.replace(" 'wasm-unsafe-eval'", "") : POLICY,
    bind = true,
    ...options
  } = {},
) {
  bundle ??= bundled();
  const script = await bundle;
  const page = await openPage(t, options);
  await page.route(`${ORIGIN}/**`, (route) =>
    route.fulfill(answer(route.request(), { fields, outside, attributes, policy, script })),
  );
  await page.goto(ORIGIN);
  await page.waitForFunction(() => "bindForm" in globalThis);
  if (bind) await page.evaluate(() => bindIt());
  return page;
}

function answer(request, { fields, outside, attributes, policy, script }) {
  if (request.url().endsWith("/form.js"))
    return { contentType: "text/javascript", body: `${script}\n${BINDING}` };
  if (request.url().includes("/posted"))
    return {
      contentType: "text/html",
      body: `<!doctype html><title>posted</title><pre>${request.postData() ?? ""}</pre>`,
    };
  return {
    contentType: "text/html",
    headers: { "content-security-policy": policy },
    body: html({ fields, outside, attributes }),
  };
}

/** Collects what the binding hands out. */
const BINDING = `
  globalThis.submitted = [];
  globalThis.reported = [];
  globalThis.bindIt = (options = {}) => {
    globalThis.bound = bindForm(document.forms[0], {
      onSubmit: (payload) => { submitted.push(payload); },
      onIssues: (issues) => { reported.push(issues.map(({ pointer, code, field }) => [pointer, code, field?.id ?? null])); },
      ...options,
    });
  };
`;

const html = ({ fields, outside, attributes }) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>A form</title><link rel="icon" href="data:,"></head>
<body><main><h1>A form</h1>
<form method="post" action="/posted" ${attributes}>
${fields}
<button id="send">Send</button>
</form>
${outside}</main><script type="module" src="/form.js"></script></body></html>`;

/** A field with its label. */
export const field = (id, name, attributes = "") =>
  `<p><label for="${id}">${id}</label> <input id="${id}" name="${name}" ${attributes}></p>`;

/** All that a valid request needs. */
export const VALID = [
  field("reference", "reference", 'value="order-1"'),
  field("email", "recipient.email", 'type="email" value="ada@example.org"'),
  '<input type="hidden" name="pledges.0.impact.offeringId" value="tree">',
  field("amount", "pledges.0.impact.amount", 'type="number" step="any" value="3"'),
].join("\n");

/** The lines of the live region, and whether everybody sees them. */
export function live(page) {
  return page.$eval("form [role=status]", (region) => ({
    lines: [...region.children].map((line) => line.textContent),
    isVisible: [...region.children].some((line) => line.getBoundingClientRect().width > 1),
  }));
}

/**
 * Reads what a field shows: its state for a screen reader, and the text that it is described by.
 */
export function shown(page, id) {
  return page.$eval(`#${id}`, (input) => {
    const texts = (input.getAttribute("aria-describedby") ?? "")
      .split(/\s+/)
      .filter(Boolean)
      .map((id) => document.getElementById(id)?.textContent);
    return {
      invalid: input.getAttribute("aria-invalid"),
      text: texts.join(" "),
      custom: input.validity.customError,
    };
  });
}
