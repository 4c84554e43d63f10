/** The demo shop in Chromium, from the first keystroke to the timeline. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { promisify } from "node:util";
import { packed } from "../package/packed.mjs";
import { axeFindings, openPage, useBrowser } from "./chromium.mjs";
import { arrived, fillIn, send, shop, useShop } from "./shop.mjs";

useBrowser();
useShop();

const execute = promisify(execFile);
const KEY = {
  timeout: 60_000,
  env: { ...process.env, PLEDGE_API_KEY: "service_sk_test_dev_unit" },
};
const project = await packed();
const { readForm } = await project.load("impact-pledge/form");

const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
const problem = (page, name) => page.textContent(`[data-problem="${name}"]`);

async function checkout(t, options) {
  const page = await openPage(t, options);
  await page.goto(shop.origin);
  return page;
}

test("from a mistyped e-mail address to the timeline", async (t) => {
  const page = await checkout(t);
  const reference = await page.textContent(".reference");
  assert.match(reference, /^SH-[2-9A-Z]{6}$/);
  await page.click("[aria-label='One tree more']");
  await page.click("[aria-label='One tree more']");
  await page.fill("#plastic", "1.5");
  assert.equal(await page.textContent("[data-impact]"), "$2.88");
  assert.equal(await page.textContent("[data-what]"), "2 trees and 1.5 kilos of plastic");
  assert.equal(await page.textContent("[data-total]"), "$33.38");
  await page.focus("#email");
  await page.keyboard.type("ada@");
  assert.equal(await problem(page, "recipient.email"), "");
  await page.keyboard.press("Tab");
  assert.equal(
    await problem(page, "recipient.email"),
    "Not a whole e-mail address yet. One looks like ada@example.org.",
  );
  await page.fill("#first-name", "Ada");
  await send(page);
  assert.equal(await page.evaluate(() => document.activeElement.id), "email");
  await page.keyboard.press("End");
  await page.keyboard.type("example.org");
  assert.equal(await problem(page, "recipient.email"), "");
  await send(page);
  await page.waitForSelector("#sent:not([hidden])");
  assert.equal(await page.textContent("#sent h1"), "Thank you, Ada");
  assert.deepEqual(
    await page.$$eval("#sent .leaves li", (all) => all.map(({ textContent }) => textContent)),
    ["2 trees", "1.5 kilos of plastic"],
  );
  await arrived(page);
  assert.equal(await page.textContent("h1"), "Pledged for Ada");
  const text = await page.textContent("main");
  for (const part of [
    "2 trees",
    "1.5 kilos of plastic",
    "Shade trees",
    "placed an order at Small Hours Coffee",
  ])
    assert.ok(text.includes(part), part);
  assert.ok((await page.textContent("footer")).includes(reference));
  assert.equal(
    await page.$$eval("main img", (all) =>
      all.every(({ complete, naturalWidth }) => complete && naturalWidth > 0),
    ),
    true,
  );
});

test("the keyboard alone is enough", async (t) => {
  const page = await checkout(t);
  const { keyboard } = page;
  const focused = () =>
    page.evaluate(
      () =>
        document.activeElement.id ||
        document.activeElement.getAttribute("aria-label") ||
        document.activeElement.textContent.trim(),
    );
  const tabTo = async (wanted) => {
    for (let steps = 0; (await focused()) !== wanted; steps += 1) {
      assert.ok(steps < 30, `Tab never comes to ${wanted}`);
      await keyboard.press("Tab");
      assert.notEqual(
        await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle),
        "none",
        `${await focused()} must show that it has the focus`,
      );
    }
  };
  await tabTo("Skip to the checkout");
  await keyboard.press("Enter");
  await tabTo("One tree more");
  await keyboard.press("Enter");
  await keyboard.press("Space");
  await tabTo("email");
  await keyboard.press("Enter");
  assert.equal(await focused(), "email", "a form with a problem leads to it");
  assert.equal(await problem(page, "recipient.email"), "We need an address to send your page to.");
  await keyboard.type("ada@example.org");
  await tabTo("Place order");
  await keyboard.press("Enter");
  await page.waitForSelector("#sent:not([hidden])");
  assert.equal(await focused(), "sent");
  await keyboard.press("Tab");
  assert.equal(await focused(), "See what becomes of it");
  await keyboard.press("Enter");
  await arrived(page);
  assert.match(await page.textContent("main"), /2 trees|2 trees/);
});

for (const [name, options] of Object.entries({
  "a desktop": {},
  "a phone": PHONE,
  "a desktop in the dark": { colorScheme: "dark" },
  "a phone in the dark": { ...PHONE, colorScheme: "dark" },
})) {
  test(`every state on ${name} passes axe and fits`, async (t) => {
    const page = await checkout(t, { ...options, expected: /status of 502/ });
    const looks = async (state) => {
      assert.deepEqual(await axeFindings(page), [], state);
      const [content, window] = await page.evaluate(() => [
        document.documentElement.scrollWidth,
        innerWidth,
      ]);
      assert.ok(content <= window, `${state}: ${content} px in ${window}`);
    };
    await looks("empty");
    await send(page);
    await looks("with problems");
    await fillIn(page, { name: "Ada", trees: "123456789012345" });
    await looks("filled in");
    await page.route(
      "**/shop/order",
      (route) =>
        route.fulfill({
          status: 502,
          json: { message: "The pledge service answered with an error (503)." },
        }),
      { times: 1 },
    );
    await send(page);
    await page.waitForSelector("#failure h3");
    await looks("failed");
    await page.fill("#trees", "3");
    await send(page);
    await page.waitForSelector("#sent:not([hidden])");
    await looks("sent");
    await arrived(page);
    await looks("timeline");
    await page.goto(`${shop.origin}/developer`);
    await looks("for developers");
    await page.evaluate(() => sessionStorage.clear());
    await page.reload();
    await looks("for developers, empty");
  });
}

test("the dark is dark", async (t) => {
  const lightness = async (colorScheme) => {
    const page = await checkout(t, { colorScheme });
    return page.evaluate(
      () =>
        getComputedStyle(document.body)
          .backgroundColor.match(/\d+/g)
          .map(Number)
          .reduce((a, b) => a + b) / 3,
    );
  };
  assert.ok((await lightness("light")) > 230);
  assert.ok((await lightness("dark")) < 40);
});

test("the pages' policy allows no inline code and nothing of others, and nothing breaks it", async (t) => {
  const page = await checkout(t);
  await page.addInitScript(() =>
    addEventListener("securitypolicyviolation", ({ violatedDirective }) =>
      console.error(`policy: ${violatedDirective}`),
    ),
  );
  for (const path of ["/", "/developer"]) {
    const response = await page.goto(shop.origin + path);
    const policy = response.headers()["content-security-policy"];
    assert.match(policy, /^default-src 'none';/);
    assert.match(policy, /script-src 'self' 'wasm-unsafe-eval';/);
    assert.doesNotMatch(policy.replace("'wasm-unsafe-eval'", ""), /unsafe|\*|https?:|data:/);
    for (const directive of ["base-uri 'none'", "frame-ancestors 'none'", "form-action 'self'"])
      assert.ok(policy.includes(directive), directive);
    assert.equal(response.headers()["x-content-type-options"], "nosniff");
  }
  await page.goto(shop.origin);
  await fillIn(page);
  await send(page);
  await arrived(page);
});

test("the page for developers shows what happened", async (t) => {
  const page = await checkout(t);
  await fillIn(page, { email: "ada@" });
  await page.fill("#email", "ada@example.org");
  await send(page);
  await arrived(page);
  await page.goto(`${shop.origin}/developer`);
  const text = (selector) => page.textContent(selector);
  assert.match(await text("[data-log]"), /recipient\.email.*invalid_email[\s\S]*nothing is wrong/);
  const payload = JSON.parse(await text("[data-payload]"));
  assert.deepEqual(payload.pledges, [{ impact: { amount: 3, offeringId: "tree" } }]);
  const request = await text("[data-request]");
  assert.match(request, /^POST http.*\/v2\/pledge-transaction\n/);
  assert.match(request, /idempotency-key: /);
  assert.match(request, /"nounPlural": "trees"/);
  const response = await text("[data-response]");
  assert.match(response, /^200\n/);
  assert.match(response, /"id": "ptran_/);
  assert.match(await text("[data-timing]"), /\d+(\.\d+)? ms/);
});

test("a key never reaches the page", async (t) => {
  const page = await openPage(t, { expected: /status of 4/ });
  const received = [];
  const context = page.context();
  context.on("response", (response) => {
    const { url, method, headers, postData } = {
      url: response.url(),
      method: response.request().method(),
      headers: response.request().headers(),
      postData: response.request().postData(),
    };
    const body = response.body().catch(() => Buffer.alloc(0)); // a redirect has none
    received.push(
      body.then((bytes) =>
        [
          method,
          url,
          JSON.stringify(headers),
          postData,
          JSON.stringify(response.headers()),
          bytes.toString("latin1"),
        ].join("\n"),
      ),
    );
  });
  await page.goto(shop.origin);
  await fillIn(page);
  await send(page);
  await arrived(page);
  await page.goto(`${shop.origin}/developer`);
  const storage = await page.evaluate(() =>
    JSON.stringify([
      { ...sessionStorage },
      { ...localStorage },
      document.cookie,
      document.documentElement.outerHTML,
    ]),
  );
  const texts = [...(await Promise.all(received)), storage];
  assert.ok(
    texts.length > 8 && texts.some((text) => text.includes("/shop/order")),
    "the order must be among what is searched",
  );
  assert.ok(shop.keys.length >= 5);
  for (const text of texts)
    for (const part of [...shop.keys, "service_sk_"])
      assert.ok(!text.includes(part), `${part} in ${text.slice(0, 300)}`);
});

test("without JavaScript the form is posted, and the server shows its problems", async (t) => {
  const page = await checkout(t, { javaScriptEnabled: false, expected: /status of 422/ });
  assert.equal(
    await page.isVisible("[data-step]"),
    false,
    "buttons that would do nothing are not there",
  );
  await fillIn(page, { email: "a..b@example.org", trees: "3" });
  const reference = await page.textContent(".reference");
  await send(page);
  assert.equal(
    await problem(page, "recipient.email"),
    "Not a whole e-mail address yet. One looks like ada@example.org.",
  );
  assert.equal(await page.getAttribute("#email", "aria-invalid"), "true");
  assert.equal(
    await page
      .locator("#email")
      .evaluate(
        (input) => document.getElementById(input.getAttribute("aria-describedby")).textContent,
      )
      .catch(() => "no script"),
    "Not a whole e-mail address yet. One looks like ada@example.org.",
  );
  assert.equal(
    await page.locator(":focus").getAttribute("id"),
    "email",
    "the first problem comes into view",
  );
  assert.equal(await page.inputValue("#email"), "a..b@example.org");
  assert.equal(await page.inputValue("#first-name"), "Ada");
  assert.equal(await page.textContent(".reference"), reference, "it is the same order");
  await fillIn(page);
  await send(page);
  await arrived(page);
  assert.equal(await page.textContent("h1"), "Pledged for Ada");
  assert.ok((await page.textContent("footer")).includes(reference));
});

for (const javaScriptEnabled of [true, false]) {
  test(`a coffee without a tree, ${javaScriptEnabled ? "with" : "without"} JavaScript`, async (t) => {
    const page = await checkout(t, { javaScriptEnabled });
    for (const trees of ["", "0"]) {
      await page.goto(shop.origin);
      await fillIn(page, { trees });
      await send(page);
      await page.waitForSelector("#sent:not([hidden])");
      assert.equal(await page.textContent("#sent h1"), "Thank you, Ada");
      assert.equal(await page.innerText("#sent .lead"), "Your order is placed");
      assert.equal(await page.isVisible("[data-timeline]"), false, "there is no timeline");
      assert.equal(await page.isVisible("#checkout"), false);
    }
  });
}

test("code to copy works as it is", async (t) => {
  const page = await checkout(t);
  const codes = () =>
    page.$$eval("[data-code]", (all) =>
      Object.fromEntries(all.map((code) => [code.dataset.code, code.textContent])),
    );
  const mustWork = async ({ form, server, curl }, expected) => {
    const posted = await page.evaluate((html) => {
      const { body } = new DOMParser().parseFromString(html, "text/html");
      return [...new FormData(body.querySelector("form"))];
    }, form);
    assert.deepEqual(readForm(posted).payload, expected);
    const answer = await run(t, server, posted);
    assert.equal(answer.status, 303);
    assert.match(answer.location, /\/timeline\/ptran_/);
    const { stdout } = await execute("sh", ["-c", `${curl} -sS --max-time 30`], KEY);
    assert.match(stdout, /"id":"ptran_/);
  };
  await page.goto(`${shop.origin}/developer`);
  await mustWork(await codes(), {
    reference: "order-1001",
    recipient: { email: "ada@example.org", firstName: "Ada" },
    pledges: [{ impact: { amount: 3, offeringId: "tree" } }],
  });
  await page.goto(shop.origin);
  await fillIn(page, { name: `Ada "O'Hara" <b>&amp;` });
  await send(page);
  await arrived(page);
  await page.goto(`${shop.origin}/developer`);
  await mustWork(await codes(), JSON.parse(await page.textContent("[data-payload]")));
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.click("[data-copy=curl]");
  await page.waitForFunction(
    () => document.querySelector("[data-copy-status]").textContent === "Copied.",
  );
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), (await codes()).curl);
});

/** Runs the code of a shop's server, which takes a posted form. */
async function run(t, code, fields) {
  const file = join(project.folder, `order-${crypto.randomUUID()}.mjs`);
  writeFileSync(
    file,
    `${code}\nconst form = new URLSearchParams(${JSON.stringify(fields)});\nconst { status, headers } = await order(new Request("http://shop.test/order", { method: "POST", body: form }));\nconsole.log(JSON.stringify({ status, location: headers.get("location") }));\n`,
  );
  t.after(() => rmSync(file));
  return JSON.parse((await execute(process.execPath, [file], KEY)).stdout);
}

test("no answer that holds a shopper's order is stored by anybody", async () => {
  const post = (body) =>
    fetch(`${shop.origin}/shop/order`, {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams(body),
    });
  const valid = {
    reference: "r",
    "recipient.email": "ada@example.org",
    "pledges.0.impact.amount": "1",
    "pledges.0.impact.offeringId": "tree",
  };
  const answers = {
    problems: [await post({ ...valid, "recipient.email": "ada@" }), 422],
    "an offer that the shop does not have": [
      await post({ ...valid, "pledges.0.impact.offeringId": "moon" }),
      422,
    ],
    placed: [await post(valid), 303],
  };
  for (const [what, [{ status, headers }, expected]] of Object.entries(answers))
    assert.deepEqual([status, headers.get("cache-control")], [expected, "no-store"], what);
});

test("orders that no page of the shop's sends are refused", async () => {
  const post = (init) =>
    fetch(`${shop.origin}/shop/order`, { method: "POST", redirect: "manual", ...init });
  const json = (body, headers = {}) =>
    post({
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const order = {
    reference: "r",
    recipient: { email: "ada@example.org" },
    pledges: [{ impact: { amount: 1, offeringId: "tree" } }],
  };
  assert.equal((await json(order, { origin: "https://elsewhere.example" })).status, 403);
  assert.equal((await json({ ...order, recipient: { email: "x" } })).status, 422);
  assert.equal((await json(order, { "idempotency-key": "a".repeat(3_000) })).status, 400);
  assert.deepEqual(
    (await (await json({})).json()).issues.map(({ pointer }) => pointer),
    ["/reference", "/recipient", "/pledges"],
  );
  assert.equal(
    (await json({ ...order, pledges: [{ impact: { amount: 1, offeringId: "moon" } }] })).status,
    422,
  );
  assert.equal(
    (await post({ headers: { "content-type": "application/json" }, body: "{" })).status,
    422,
  );
  assert.equal(
    (await post({ headers: { "content-type": "application/json" }, body: " ".repeat(70_000) }))
      .status,
    413,
  );
  const endless = new Blob([JSON.stringify(order)]).stream();
  assert.equal(
    (await post({ headers: { "content-type": "application/json" }, body: endless, duplex: "half" }))
      .status,
    411,
  );
  assert.equal(
    (await post({ headers: { "content-type": "text/plain" }, body: "reference=r" })).status,
    415,
  );
  assert.equal((await fetch(`${shop.origin}/shop/order`)).status, 405);
  const { timelineUrl } = await (
    await json({
      ...order,
      pledges: [{ impact: { amount: 1, offeringId: "tree" }, detail: { name: "Free gold" } }],
    })
  ).json();
  const page = await (await fetch(timelineUrl)).text();
  assert.ok(
    page.includes("Shade trees") && !page.includes("Free gold"),
    "the shop's own words, not the page's",
  );
});

test("the service beside the shop is the service", async () => {
  const missing = await fetch(`${shop.origin}/no/such/path`);
  assert.equal(missing.status, 404);
  assert.equal(missing.headers.get("content-type"), "application/json");
  assert.equal(
    (await fetch(`${shop.origin}/v2/pledge-transaction`, { method: "POST" })).status,
    401,
  );
});
