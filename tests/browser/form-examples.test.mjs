/** Runs the examples of docs/forms.md and docs/forms-server.md: a shop's page and its server, with JavaScript and without. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { packed } from "../package/packed.mjs";
import { examplesOf } from "../support/examples.mjs";
import { onLoopback } from "../support/loopback.mjs";
import { openPage, useBrowser } from "./chromium.mjs";

const project = await packed();
const { createTestService } = await project.load("impact-pledge/testing");
const docs = join(project.folder, "node_modules", "impact-pledge", "docs");
const scriptsOf = (page) => examplesOf(join(docs, page)).map(({ code }) => code);
const [form, page, texts, ...others] = scriptsOf("forms.md");
const [server, ...more] = scriptsOf("forms-server.md");
assert.deepEqual([...others, ...more], []);

useBrowser();

const shop = { origin: "", saved: [], pledge: async () => {} };
const servers = [];
let service;

before(async () => {
  const pledges = await onLoopback(createServer((...all) => service.handler(...all)));
  const html = (body) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>A shop</title>
    <link rel="icon" href="data:,"><main>${body}</main></html>`;
  globalThis.given = {
    saveOrder: (data, payload) => shop.saved.push({ fields: Object.fromEntries(data), payload }),
  };
  const file = join(project.folder, "forms-md.mjs");
  const { outputFiles } = await build({
    stdin: {
      contents: `const { saveOrder } = globalThis.given;\n${server}`,
      resolveDir: project.folder,
    },
    bundle: true,
    format: "esm",
    platform: "node",
    external: ["impact-pledge", "impact-pledge/*"],
    nodePaths: [join(import.meta.dirname, "..", "..", "node_modules")], // of the template
    write: false,
  });
  writeFileSync(file, outputFiles[0].text);
  const { order, pledge } = await import(pathToFileURL(file).href);
  const { PledgeClient } = await project.load("impact-pledge");
  const client = new PledgeClient({ apiKey: "service_sk_test_dev_unit", baseUrl: pledges.origin });
  shop.pledge = (order) => pledge(order, client);
  const script = (name, code) => ({ [`GET ${name}`]: [code, "text/javascript"] });
  const pages = {
    "GET /": [html(`${form}<script type="module" src="/page.js"></script>`), "text/html"],
    "GET /texts": [html(`${form}<script type="module" src="/texts.js"></script>`), "text/html"],
    "GET /thanks": [html("Thank you"), "text/html"],
    "GET /favicon.ico": [" ", "image/x-icon"],
    ...script("/page.js", await bundled(page)),
    ...script(
      "/texts.js",
      await bundled(`import { bindForm } from "impact-pledge/form";\n${texts}`),
    ),
  };
  const own = await onLoopback(
    createServer(async (request, response) => {
      const { method, url, headers } = request;
      const [body, type] = pages[`${method} ${url}`] ?? [];
      if (body) return response.writeHead(200, { "content-type": type }).end(body);
      assert.equal(`${method} ${url}`, "POST /order");
      const posted = Buffer.concat(await request.toArray());
      const answer = await order(new Request(shop.origin + url, { method, headers, body: posted }));
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.end(await answer.text());
    }),
  );
  shop.origin = own.origin;
  servers.push(own, pledges);
});
after(() => Promise.all(servers.map(({ close }) => close())));

async function bundled(contents) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: project.folder },
    bundle: true,
    format: "esm",
    write: false,
  });
  return outputFiles[0].text;
}

/** Opens the shop, which has no pledges yet. */
async function openShop(t, { path = "/", ...options } = {}) {
  service = createTestService();
  shop.saved = [];
  const page = await openPage(t, options);
  await page.goto(shop.origin + path);
  return page;
}

/** Each row has the values that a shopper fills in, and the amounts of the resulting pledges. */
const ORDERS = [
  [{ amount: "2", coupon: "SPRING" }, [2]],
  [{ amount: "0", coupon: "SPRING" }, []],
  [{ amount: "", coupon: "" }, []],
];

for (const javaScriptEnabled of [true, false]) {
  const ways = javaScriptEnabled ? "with JavaScript" : "without JavaScript";

  test(`an order is saved with the shop's own fields, and pledged if it has a pledge, ${ways}`, async (t) => {
    const page = await openShop(t, { javaScriptEnabled });
    for (const [{ amount, coupon }, amounts] of ORDERS) {
      service.reset();
      await page.goto(shop.origin);
      assert.equal(await page.$eval("form", (form) => form.noValidate), javaScriptEnabled);
      await page.getByLabel("Trees").fill(amount);
      await page.getByLabel("E-mail").fill("ada@example.org");
      await page.getByLabel("Coupon").fill(coupon);
      await page.click("button");
      await page.waitForURL(/\/thanks$/);
      const [{ fields, payload }, ...others] = shop.saved.splice(0);
      assert.deepEqual(others, []);
      assert.deepEqual(fields, {
        reference: "order-1001",
        "pledges.0.impact.offeringId": "tree",
        "pledges.0.impact.amount": amount,
        "recipient.email": "ada@example.org",
        coupon,
      });
      assert.deepEqual(service.requests(), [], "the order is taken without the service");
      for (let i = 0; payload && i < 2; i += 1)
        assert.match(await shop.pledge({ number: "order-1001", payload }), /\/timeline\/ptran_/);
      const pledged = service.transactions().flatMap(({ pledges }) => pledges);
      assert.deepEqual(
        pledged.map(({ impact }) => impact),
        amounts.map((amount) => ({ amount, offeringId: "tree" })),
      );
    }
  });

  test(`an invalid order is neither saved nor pledged, ${ways}`, async (t) => {
    const page = await openShop(t, { javaScriptEnabled, expected: /status of 422/ });
    await page.getByLabel("Trees").fill("1");
    await page.getByLabel("E-mail").fill("ada..lovelace@example.org"); // valid for HTML
    await page.click("button");
    await page.getByText("Enter an e-mail address").first().waitFor();
    assert.deepEqual([shop.saved, service.transactions()], [[], []]);
  });
}

test("issues that only the server finds are shown at their fields", async (t) => {
  const page = await openShop(t, { expected: /status of 422/ });
  await page.route("**/order", (route) =>
    route.continue({ postData: route.request().postData().replace("ada@", "ada..@") }),
  );
  await page.getByLabel("Trees").fill("1");
  await page.getByLabel("E-mail").fill("ada@example.org");
  await page.click("button");
  await page.getByText("Enter an e-mail address").first().waitFor();
  assert.equal(await page.getByLabel("E-mail").getAttribute("aria-invalid"), "true");
  assert.deepEqual(shop.saved, []);
});

test("texts of a locale pack, and the shop's own", async (t) => {
  const page = await openShop(t, { path: "/texts" });
  await page.click("button");
  const texts = await page.$$eval("[data-problem], .impact-pledge-problem", (all) =>
    all.map(({ textContent }) => textContent),
  );
  assert.deepEqual(texts, ["Wählen Sie mindestens 1 Eintrag", "Wohin dürfen wir schreiben?"]);
});

/**
 * Orders that the shop must refuse. Each row has the wrong form fields, and the path and message of the
 * expected issue.
 */
const NOT_SOLD = [
  [{ amount: "101" }, "pledges.0.impact.amount", "We plant up to 100 trees per order"],
  [{ amount: "1.5" }, "pledges.0.impact.amount", "Enter a whole number of trees"],
  [{ offeringId: "whale" }, "pledges.0.impact.offeringId", "We only plant trees"],
];

test("an offer that the shop does not make is neither saved nor pledged, with a reason", async (t) => {
  await openShop(t);
  for (const [wrong, name, message] of NOT_SOLD) {
    const { amount, offeringId } = { amount: "1", offeringId: "tree", ...wrong };
    const body = new URLSearchParams({
      reference: '"><script>x',
      "recipient.email": "ada@example.org",
      "pledges.0.impact.amount": amount,
      "pledges.0.impact.offeringId": offeringId,
    });
    const post = (headers) => fetch(`${shop.origin}/order`, { method: "POST", body, headers });
    const told = await post({ accept: "application/json" });
    const { issues } = await told.json();
    assert.deepEqual([told.status, issues.length], [422, 1]);
    assert.deepEqual([issues[0].path.join("."), issues[0].message], [name, message]);
    const shown = await post({});
    const page = await shown.text();
    assert.ok(shown.status === 422 && page.includes(`>${message}</`), page);
    assert.ok(!page.includes("<script>"), "values are escaped");
  }
  assert.deepEqual([shop.saved, service.transactions()], [[], []]);
});

const ORDER = {
  reference: "order-1001",
  "recipient.email": "ada@example.org",
  "pledges.0.impact.amount": "1",
  "pledges.0.impact.offeringId": "tree",
};
/**
 * Requests that do not come from a page of the shop. Each row has a description, the fields, the headers, and
 * the expected status.
 */
const NOT_OURS = [
  ["another site's page", ORDER, { "sec-fetch-site": "cross-site" }, 403],
  ["another site's page, of an old browser", ORDER, { origin: "https://evil.example" }, 403],
  ["a page without an origin", ORDER, { origin: "null" }, 403],
  ["more than a form", { ...ORDER, coupon: "x".repeat(70_000) }, {}, 413],
  ["what is no form", ORDER, { "content-type": "text/plain" }, 400],
];

test("requests that no page of the shop posts are neither saved nor pledged", async (t) => {
  await openShop(t);
  for (const [what, fields, headers, expected] of NOT_OURS) {
    const body = new URLSearchParams(fields);
    const { status } = await fetch(`${shop.origin}/order`, { method: "POST", headers, body });
    assert.equal(status, expected, what);
  }
  assert.deepEqual([shop.saved, service.transactions()], [[], []]);
  const texts = {
    notifications: "Email",
    "recipient.name": "Ada",
    "pledges.0.detail.name": "Gold",
  };
  const body = new URLSearchParams({ ...ORDER, ...texts });
  const { redirected } = await fetch(`${shop.origin}/order`, { method: "POST", body });
  assert.ok(redirected);
  await shop.pledge({ number: "order-1001", payload: shop.saved[0].payload });
  const [{ notifications, pledges }] = service.transactions();
  const [{ name, nounPlural }] = pledges[0].details;
  assert.deepEqual([notifications, name], [[], null], "only what was chosen");
  assert.equal(nounPlural, "trees", "the shop's own word for the timeline");
});

test("too many trees: the page shows the browser's own limit, the server returns an issue at the field", async (t) => {
  const page = await openShop(t, { expected: /status of 422/ });
  const problem = page.locator("[data-problem='pledges.0.impact.amount']");
  await page.getByLabel("Trees").fill("101");
  await page.getByLabel("E-mail").fill("ada@example.org");
  await page.click("button");
  assert.equal(await problem.textContent(), "At most 100");
  await page.getByLabel("Trees").evaluate((input) => input.removeAttribute("max"));
  await page.getByLabel("Trees").fill("102");
  await page.click("button");
  await page.getByText("We plant up to 100").first().waitFor();
  assert.equal(await problem.textContent(), "We plant up to 100 trees per order");
  assert.deepEqual(shop.saved, []);
});

test("Node reads a posted form as a stream", async (t) => {
  const [, code] = readFileSync(join(docs, "forms-server.md"), "utf8").match(
    /`await (new Request\(url, \{.*?\}\)\.formData\(\))`/s,
  );
  const read = new Function("url", "method", "headers", "request", `return ${code};`);
  const { origin, close } = await onLoopback(
    createServer(async (request, response) => {
      const { method, headers } = request;
      const data = await read(`http://${headers.host}`, method, headers, request);
      response.end(data.get("reference"));
    }),
  );
  t.after(close);
  const body = new FormData();
  body.append("reference", "größe");
  const answer = await fetch(origin, { method: "POST", body });
  assert.equal(await answer.text(), "größe");
});
