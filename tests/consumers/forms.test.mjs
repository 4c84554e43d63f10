/**
 * The schema in form libraries of React, in Chromium: each problem stands at its field, in our
 * words.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { build } from "esbuild";
import { openPage, useBrowser } from "../browser/chromium.mjs";
import { packed } from "../package/packed.mjs";

const project = await packed();
const root = join(import.meta.dirname, "..", "..");
const ORIGIN = "http://consumer.test";
const HTML =
  '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A form</title><link rel="icon" href="data:,"></head><body><main id="root"></main><script type="module" src="/form.js"></script></body></html>';
const EMAIL = "must be an e-mail address";
const ADDRESS = "Geben Sie eine E-Mail-Adresse wie ada@example.org ein";
const NUMBER = "Geben Sie eine Zahl ein";
const AMOUNT = "must be greater than 0";

useBrowser();

for (const library of ["react-hook-form", "tanstack-form"]) {
  test(`${library}: problems come and go at their fields, and what is valid is sent`, async (t) => {
    const page = await formPage(t, library);
    await page.fill("#email", "ada@");
    await page.fill("#amount", "0");
    await page.click("#send");
    assert.match(await problem(page, "email"), new RegExp(`^${EMAIL}`));
    assert.equal(await problem(page, "amount"), AMOUNT);
    assert.equal(await sent(page), undefined);
    await page.fill("#email", "ada@example.org");
    await page.waitForFunction(() => document.querySelector("#email-problem").textContent === "");
    assert.equal(await problem(page, "amount"), AMOUNT);
    await page.fill("#amount", "2.5");
    await page.click("#send");
    await page.waitForFunction(() => window.sent !== undefined);
    assert.deepEqual(await sent(page), {
      reference: "order-1",
      recipient: { email: "ada@example.org" },
      pledges: [{ impact: { amount: 2.5, offeringId: "tree" } }],
    });
  });
}

test("react-hook-form-resolver: an error's type is the code, its message that of a locale pack", async (t) => {
  const page = await formPage(t, "react-hook-form-resolver");
  const errors = () => page.evaluate(() => window.errors());
  await page.fill("#email", "ada@");
  await page.fill("#amount", "");
  await page.click("#send");
  await page.waitForFunction(() => window.errors().recipient);
  assert.deepEqual(await errors(), {
    recipient: {
      email: { type: "invalid_email", message: ADDRESS, types: { invalid_email: ADDRESS } },
    },
    pledges: [
      {
        impact: { amount: { type: "not_finite", message: NUMBER, types: { not_finite: NUMBER } } },
      },
    ],
  });
  assert.equal(await page.evaluate(() => document.activeElement.id), "email");
  assert.equal(await sent(page), undefined);
  await page.fill("#email", "ada@example.org");
  await page.fill("#amount", "2");
  await page.click("#send");
  await page.waitForFunction(() => window.sent !== undefined);
  assert.deepEqual(await sent(page), {
    reference: "order-1",
    recipient: { email: "ada@example.org" },
    pledges: [{ impact: { amount: 2, offeringId: "tree" } }],
  });
});

test("react-hook-form-resolver: the browser can show the message of a field whose name has one step", async (t) => {
  const page = await formPage(t, "react-hook-form-resolver", "?native");
  const message = () => page.$eval("#reference", (field) => field.validationMessage);
  await page.fill("#email", "ada@example.org");
  await page.fill("#reference", "");
  await page.click("#send");
  await page.waitForFunction(() => window.errors().reference);
  assert.equal(await message(), "Bitte füllen Sie dieses Feld aus");
  await page.fill("#reference", "order-1");
  await page.click("#send");
  await page.waitForFunction(() => window.sent !== undefined);
  assert.equal(await message(), "");
});

test("react-hook-form-resolver: names that it sets nowhere are errors of the whole form", async () => {
  const { pledgeResolver } = await import(
    `data:text/javascript,${encodeURIComponent(await bundledText(`export * from "impact-pledge/react-hook-form"`))}`
  );
  for (const name of ["__proto__", "constructor", "prototype"]) {
    const values = Object.defineProperty(
      {
        reference: "r",
        recipient: { email: "a@b.c" },
        pledges: [{ impact: { amount: 1, offeringId: "tree" } }],
      },
      name,
      { value: 1, enumerable: true },
    );
    const { errors } = pledgeResolver()(values, undefined, {
      fields: {},
      names: [],
      criteriaMode: "all",
    });
    assert.deepEqual(Object.keys(errors), ["root"]);
    assert.equal(errors.root.type, "unknown_member");
  }
  assert.equal({}.types, undefined);
});

async function formPage(t, library, search = "") {
  const script = await bundled(`./${library}.jsx`);
  const page = await openPage(t);
  await page.route(`${ORIGIN}/**`, (route) =>
    route.fulfill(
      route.request().url().endsWith(".js")
        ? { contentType: "text/javascript", body: script }
        : { contentType: "text/html", body: HTML },
    ),
  );
  await page.goto(ORIGIN + search);
  await page.waitForSelector("#email");
  return page;
}

const bundled = (entry) => bundle({ entryPoints: [join(import.meta.dirname, entry)] });
const bundledText = (contents) => bundle({ stdin: { contents, resolveDir: project.folder } });

/** With the installed package, and React as a shop's page has it. */
async function bundle(source) {
  const nodePaths = [root, project.folder].map((folder) => join(folder, "node_modules"));
  const define = { "process.env.NODE_ENV": '"production"' };
  const { outputFiles } = await build({
    ...source,
    bundle: true,
    minify: true,
    format: "esm",
    jsx: "automatic",
    nodePaths,
    define,
    write: false,
    logLevel: "error",
  });
  return outputFiles[0].text;
}

async function problem(page, field) {
  await page.waitForFunction(
    (id) => document.getElementById(id).textContent !== "",
    `${field}-problem`,
  );
  return page.textContent(`#${field}-problem`);
}

const sent = (page) => page.evaluate(() => window.sent);
