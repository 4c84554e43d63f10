/**
 * Tests the demo shop in Chromium: its use by keyboard, each state of its pages, the page for developers,
 * and the requests that its server refuses.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { promisify } from "node:util";
import { packed } from "../package/packed.mjs";
import { axeFindings, openPage, useBrowser } from "./chromium.mjs";
import { arrived, atTimeline, fillIn, send, shop, useShop } from "./shop.mjs";

useBrowser();
useShop();

const execute = promisify(execFile);
const KEY = {
  env: { ...process.env, PLEDGE_API_KEY: "service_sk_test_dev_unit" },
};
const project = await packed();
const { readForm } = await project.load("impact-pledge/form");

async function checkout(t, options) {
  const page = await openPage(t, options);
  await page.goto(shop.origin);
  return page;
}

test("the keyboard is enough, from the first step to the timeline", async (t) => {
  const page = await checkout(t);
  const { keyboard } = page;
  const text = (selector) => page.textContent(selector);
  const reference = await text(".reference");
  assert.match(reference, /^SH-[2-9A-Z]{6}$/);
  const focused = () =>
    page.evaluate(() => {
      const { id, ariaLabel, textContent } = document.activeElement;
      return id || ariaLabel || textContent.trim();
    });
  const tabTo = async (wanted) => {
    for (let steps = 0; (await focused()) !== wanted; steps += 1) {
      assert.ok(steps < 30, `Tab never comes to ${wanted}`);
      await keyboard.press("Tab");
      const outline = await page.evaluate(
        () => getComputedStyle(document.activeElement).outlineStyle,
      );
      assert.notEqual(outline, "none", `${await focused()} must show that it has the focus`);
    }
  };
  await tabTo("Skip to the checkout");
  await keyboard.press("Enter");
  await tabTo("One tree more");
  await keyboard.press("Enter");
  await keyboard.press("Space");
  await tabTo("plastic");
  await keyboard.type("1.5");
  const badges = (place) => page.locator(`${place} [part=text]`).allTextContents();
  assert.deepEqual(await badges("[data-what]"), ["2 trees", "1.5 kilos of plastic"]);
  assert.deepEqual([await text("[data-impact]"), await text("[data-total]")], ["$2.88", "$33.38"]);
  await tabTo("email");
  await keyboard.press("Enter");
  assert.equal(await focused(), "email", "a form with a problem leads to it");
  const problem = await text('[data-problem="recipient.email"]');
  assert.equal(problem, "Please enter your e-mail address, so that we can send you your page.");
  await keyboard.type("ada@example.org");
  await tabTo("first-name");
  await keyboard.type("Ada");
  await tabTo("Place order");
  await keyboard.press("Enter");
  await page.waitForSelector("#sent:not([hidden])");
  assert.equal(await focused(), "sent");
  assert.equal(await text("#sent h1"), "Thank you, Ada");
  assert.deepEqual(await badges("#sent .leaves"), ["2 trees", "1.5 kilos of plastic"]);
  await keyboard.press("Tab");
  assert.equal(await focused(), "See your page");
  await keyboard.press("Enter");
  await atTimeline(page);
  assert.equal(await text("h1"), "Small Hours Coffee made 2 pledges for Ada");
  const main = await text("main");
  for (const part of [/2.trees/, /1\.5.kilos of plastic/, /Shade trees/, /at Small Hours Coffee/])
    assert.match(main, part);
  assert.ok((await text("footer")).includes(reference));
  const images = await page.$$eval("main img", (all) =>
    all.map(({ naturalWidth }) => naturalWidth),
  );
  assert.ok(images.length > 0 && images.every((width) => width > 0), "the images are there");
});

test("every state passes axe, in light and dark mode, and fits a desktop and a phone", async (t) => {
  const page = await checkout(t, { expected: /status of 502/ });
  const LOOKS = [
    { colorScheme: "light", width: 1280, least: 230, most: 255 },
    { colorScheme: "dark", width: 360, least: 0, most: 40 },
  ];
  const looks = async (state) => {
    for (const { colorScheme, width, least, most } of LOOKS) {
      await page.setViewportSize({ width, height: 740 });
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await axeFindings(page), [], `${state}, ${colorScheme}`);
      const [content, paper] = await page.evaluate(() => [
        document.documentElement.scrollWidth,
        getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number),
      ]);
      assert.ok(content <= width, `${state}: ${content} px in ${width}`);
      for (const part of paper) assert.ok(part >= least && part <= most, `${state}: ${paper}`);
    }
  };
  await looks("empty");
  await send(page);
  await looks("with problems");
  await fillIn(page, { trees: "123456789012345" });
  await looks("filled in");
  await page.route(
    "**/shop/order",
    (route) => route.fulfill({ status: 502, json: { message: "It answered with an error." } }),
    { times: 1 },
  );
  await send(page);
  await page.waitForSelector("#failure h3");
  await looks("failed");
  await page.fill("#trees", "3");
  await page.check("#mail");
  await send(page);
  await page.waitForSelector("#sent:not([hidden])");
  await looks("sent");
  await arrived(page);
  await looks("timeline");
  await page.goto(`${shop.origin}/developer`);
  await page.waitForSelector(".mail iframe");
  await page.click(".mail details summary");
  await looks("for developers");
  await page.evaluate(() => sessionStorage.clear());
  await page.reload();
  await looks("for developers, empty");
  await page.goto(`${shop.origin}/night-shift`);
  await page.waitForSelector("impact-badge a[href]");
  await looks("product");
  await page.getByRole("link", { name: "Add 1 tree at the checkout" }).click();
  await page.waitForURL(`${shop.origin}/#impact`);
});

test("the page for developers shows the requests without keys, and code that works unchanged", async (t) => {
  const page = await checkout(t);
  const received = [];
  page.context().on("response", (response) => {
    const request = response.request();
    const heads = [request.url(), request.headers(), request.postData(), response.headers()];
    const body = response.body().catch(() => ""); // a redirect has none
    received.push(body.then((bytes) => JSON.stringify([heads, String(bytes)])));
  });
  const text = (selector) => page.textContent(selector);
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
    const { stdout } = await execute("sh", ["-c", `${curl} -sS`], KEY);
    assert.match(stdout, /"id":"ptran_/);
  };
  await page.goto(`${shop.origin}/developer`);
  await mustWork(await codes(), {
    reference: "order-1001",
    recipient: { email: "ada@example.org", firstName: "Ada" },
    pledges: [{ impact: { amount: 3, offeringId: "tree" } }],
  });
  await page.goto(shop.origin);
  await fillIn(page, { email: "ada@", name: `Ada "O'Hara" <b>&amp;` });
  await page.fill("#email", "ada@example.org");
  await page.check("#mail");
  await send(page);
  await arrived(page);
  await page.goto(`${shop.origin}/developer`);
  assert.match(await text("[data-log]"), /recipient\.email.*invalid_email[\s\S]*no errors/);
  const payload = JSON.parse(await text("[data-payload]"));
  assert.deepEqual(payload.pledges, [{ impact: { amount: 3, offeringId: "tree" } }]);
  assert.deepEqual(payload.notifications, ["Email"]);
  const request = await text("[data-request]");
  for (const part of [/^POST http.*\/v2\/pledge-transaction\n/, /idempotency-key: /, /"trees"/])
    assert.match(request, part);
  assert.match(await text("[data-response]"), /^200\n[\s\S]*"id": "ptran_/);
  assert.match(await text("[data-timing]"), /\d+(\.\d+)? ms/);
  await mustWork(await codes(), payload);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.click("[data-copy=curl]");
  await page.waitForSelector("[data-copy-status]:text-is('Copied.')");
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), (await codes()).curl);
  const storage = await page.evaluate(() =>
    JSON.stringify([
      { ...sessionStorage },
      { ...localStorage },
      document.cookie,
      document.body.outerHTML,
    ]),
  );
  const texts = [...(await Promise.all(received)), storage];
  assert.ok(texts.length > 8 && texts.some((text) => text.includes("/shop/order")));
  assert.ok(shop.keys.length >= 5);
  for (const part of [...shop.keys, "service_sk_"])
    assert.deepEqual(
      texts.filter((text) => text.includes(part)),
      [],
    );
});

test("after the box is ticked, the page for developers shows the e-mail, and its link leads to the timeline", async (t) => {
  const page = await checkout(t);
  const hint = await page.textContent("#mail-hint");
  assert.match(hint, /^Sent by 127\.0\.0\.1:\d+, if that service has notifications turned on/);
  await fillIn(page, { name: "Ada <b>" });
  await page.check("#mail");
  await send(page);
  await arrived(page);
  const timelineUrl = page.url();
  await page.goto(`${shop.origin}/developer`);
  const mail = page.locator(".mail").filter({ hasText: timelineUrl });
  await mail.scrollIntoViewIfNeeded();
  const head = await mail.locator("dl").innerText();
  assert.equal(
    head.replace(/\s+/g, " "),
    "From Small Hours Coffee <pledges@small-hours.example> To tester@small-hours.example Reply to hello@small-hours.example",
  );
  const frame = mail.frameLocator("iframe");
  await frame.getByText("Hello Ada <b>,").waitFor();
  await page.waitForFunction(() => {
    const shown = document.querySelector(".mail iframe");
    return shown.clientHeight === shown.contentDocument.body.clientHeight;
  }); // the whole e-mail is seen
  const opened = page.context().waitForEvent("page");
  await frame.getByRole("link").click();
  const timeline = await opened;
  await timeline.waitForURL(timelineUrl);
  assert.match(await timeline.textContent("h1"), /^Small Hours Coffee .* for Ada <b>$/);
  await timeline.close();

  const { id, createdAt } = JSON.parse(
    (await page.textContent("[data-response]")).split("\n\n")[1],
  );
  const again = await postMessage({ id, createdAt, round: 2, service: "Email" });
  assert.equal(again.status, 202);
  const comeBack = (url) => {
    dispatchEvent(new Event("focus"));
    const mails = [...document.querySelectorAll(".mail")];
    return mails.filter(({ textContent }) => textContent.includes(url)).length === 2;
  };
  await page.waitForFunction(comeBack, timelineUrl, { polling: 200 });
});

test("after two messengers are chosen, the page for developers shows what their adapters got", async (t) => {
  const page = await checkout(t);
  await fillIn(page, { name: "Ada <b>" });
  for (const way of ["#messenger-a", "#messenger-b"]) await page.check(way);
  await send(page);
  await arrived(page);
  const timelineUrl = page.url();
  await page.goto(`${shop.origin}/developer`);
  for (const service of ["MessagingServiceA", "MessagingServiceB"]) {
    const message = page
      .locator(".mail")
      .filter({ hasText: timelineUrl })
      .filter({ hasText: service });
    await message.waitFor();
    await message.evaluate((/** @type {HTMLDetailsElement} */ details) => {
      details.open = true; // only the newest message is
    });
    const text = (await message.innerText()).replace(/\s+/g, " ");
    for (const part of [
      "Small Hours Coffee has pledged 3 trees for you",
      "To ada@example.org Language en Mode test",
      "Hello Ada <b>,",
    ])
      assert.ok(text.includes(part), `${part}: ${text}`);
  }
  await page.waitForSelector("[data-mail-status]:has-text('The last notifications')");
  const { id, createdAt } = JSON.parse(
    (await page.textContent("[data-response]")).split("\n\n")[1],
  );
  const again = { id, createdAt, round: 2, service: "MessagingServiceB" };
  assert.equal((await postMessage(again)).status, 202);
  assert.equal((await postMessage({ ...again, service: undefined })).status, 400);
  const code = await page.locator("pre:has-text('bindForm')").innerText();
  const labels = [...code.matchAll(/type="checkbox".*> (.*)<\/label>/g)].map(([, label]) => label);
  assert.deepEqual(labels, ["Notify me in messenger A", "Notify me in messenger B"]);
});

test("the stand-in of an adapter accepts only signed messages", async () => {
  const post = async (init) =>
    (await fetch(`${shop.origin}/developer/messenger`, { method: "POST", ...init })).status;
  const id = { "webhook-id": "a", "webhook-timestamp": `${Math.floor(Date.now() / 1_000)}` };
  assert.equal(await post({ body: "{}" }), 401);
  assert.equal(await post({ body: "{}", headers: { ...id, "webhook-signature": "v1,x" } }), 401);
  assert.equal(await post({ body: " ".repeat(70_000) }), 413);
  assert.equal(await post({ method: "GET" }), 405);
});

const postMessage = (json, type = "application/json") =>
  fetch(`${shop.origin}/developer/notifications`, {
    method: "POST",
    headers: { "content-type": type },
    body: JSON.stringify(json),
  });

test("an invalid message is not put into the queue", async () => {
  const message = {
    id: `ptran_${"a".repeat(46)}`,
    createdAt: "2026-01-31T12:00:00Z",
    round: 2,
    service: "Email",
  };
  const wrong = [
    null,
    [],
    {},
    { id: "../x" },
    { createdAt: "today" },
    { round: 0 },
    { round: "2" },
  ];
  for (const part of wrong) {
    const { status } = await postMessage(
      part && Object.keys(part).length > 0 ? { ...message, ...part } : part,
    );
    assert.equal(status, 400, JSON.stringify(part));
  }
  assert.equal((await postMessage(message, "text/plain")).status, 415);
  assert.equal((await fetch(`${shop.origin}/developer/notifications`)).status, 405);
  assert.equal((await fetch(`${shop.origin}/developer/mails/none`)).status, 404);
});

/** Runs a shop's server code on a posted form. Returns the status and the redirect of its response. */
async function run(t, code, fields) {
  const file = join(project.folder, `order-${crypto.randomUUID()}.mjs`);
  writeFileSync(
    file,
    `${code}
const form = new URLSearchParams(${JSON.stringify(fields)});
const { status, headers } = await order(new Request("http://shop.test/order", { method: "POST", body: form }));
console.log(JSON.stringify({ status, location: headers.get("location") }));`,
  );
  t.after(() => rmSync(file));
  return JSON.parse((await execute(process.execPath, [file], KEY)).stdout);
}

for (const [javaScriptEnabled, trees] of [
  [true, ""],
  [false, "0"],
]) {
  test(`a coffee without a tree, ${javaScriptEnabled ? "with" : "without"} JavaScript`, async (t) => {
    const page = await checkout(t, { javaScriptEnabled });
    assert.equal(await page.isVisible("[data-step]"), javaScriptEnabled, "no button does nothing");
    await fillIn(page, { trees });
    await send(page);
    await page.waitForSelector("#sent:not([hidden])");
    assert.equal(await page.textContent("#sent h1"), "Thank you, Ada");
    assert.match(await page.innerText("#sent .lead"), /^Order SH-\w{6} is placed\.$/);
    assert.equal(await page.isVisible("[data-timeline]"), false, "there is no timeline");
    assert.equal(await page.isVisible("[data-notified]"), false);
    assert.equal(await page.isVisible("#checkout"), false);
  });

  test(`the thank-you page, ${javaScriptEnabled ? "with" : "without"} JavaScript`, async (t) => {
    const page = await checkout(t, { javaScriptEnabled, expected: /status of 422/ });
    const reference = await page.textContent(".reference");
    await fillIn(page, { name: "Ada <b>", trees: "1" });
    await page.fill("#plastic", "1.5");
    for (const way of ["#mail", "#messenger-b"]) await page.check(way);
    await page.fill("#email", "ada..lovelace@example.org");
    await send(page);
    await page.waitForSelector("[aria-invalid=true]");
    assert.equal(await page.isChecked("#mail"), true, "after a problem, too");
    assert.equal(await page.isChecked("#messenger-a"), false);
    assert.equal(await page.isChecked("#messenger-b"), true);
    await page.fill("#email", "ada@example.org");
    await send(page);
    await page.waitForSelector("#sent:not([hidden])");
    assert.equal(await page.textContent("#sent h1"), "Thank you, Ada <b>");
    const leaves = page.locator(`#sent ${javaScriptEnabled ? "[part=text]" : ".leaves span"}`);
    assert.deepEqual(await leaves.allTextContents(), ["1 tree", "1.5 kilos of plastic"]);
    const text = (await page.innerText("#sent")).replace(/\s+/g, " ");
    for (const part of [
      `Order ${javaScriptEnabled ? reference : "SH-"}`,
      "is placed. You added:",
      "the link comes by e-mail and in messenger B.",
      "your page shows it",
    ])
      assert.ok(text.includes(part), `${part}: ${text}`);
    const { notifications } = JSON.parse(shop.requests.at(-1).body);
    assert.deepEqual(notifications, ["Email", "MessagingServiceB"]);
    const before = shop.requests.length;
    if (!javaScriptEnabled) await page.reload();
    assert.equal(new Set(shop.requests.slice(before - 1).map(({ key }) => key)).size, 1);
    await arrived(page);
    assert.match(await page.textContent("h1"), /for Ada <b>$/);
  });
}

test("the pages' policy allows no inline code and nothing from other origins", async () => {
  for (const path of ["/", "/night-shift", "/developer"]) {
    const { headers } = await fetch(shop.origin + path);
    const policy = headers.get("content-security-policy");
    assert.match(policy, /^default-src 'none';.* script-src 'self' 'wasm-unsafe-eval';/);
    assert.doesNotMatch(policy.replace("'wasm-unsafe-eval'", ""), /unsafe|\*|https?:|data:/);
    for (const directive of ["base-uri 'none'", "frame-ancestors 'none'", "form-action 'self'"])
      assert.ok(policy.includes(directive), directive);
    assert.equal(headers.get("x-content-type-options"), "nosniff");
  }
});

const POSTED = {
  reference: "r",
  "recipient.email": "ada@example.org",
  "pledges.0.impact.amount": "1",
  "pledges.0.impact.offeringId": "tree",
};
const MOON = { "pledges.0.impact.offeringId": "moon" };
const posted = (changes, headers = {}) => ({
  headers,
  body: new URLSearchParams({ ...POSTED, ...changes }),
});
const JSON_WANTED = { accept: "application/json" };
const byScript = (changes, headers) => posted(changes, { ...JSON_WANTED, ...headers });
const endless = () => ({
  headers: { "content-type": "application/x-www-form-urlencoded" },
  body: new Blob([`${new URLSearchParams(POSTED)}`]).stream(),
  duplex: "half",
});

/** Requests to the shop's server, each with the expected status. */
const REQUESTS = [
  ["a form", posted({}), 200],
  ["a form with problems", posted({ "recipient.email": "ada@" }), 422],
  ["a form with an offer of nobody's", posted(MOON), 422],
  ["a script's order", byScript({}), 200],
  ["a script's order without a pledge", byScript({ "pledges.0.impact.amount": "" }), 200],
  ["an order of another site's page", byScript({}, { origin: "https://elsewhere.example" }), 403],
  ["a script's order with problems", byScript({ "recipient.email": "x" }), 422],
  ["a script's order with an offer of nobody's", byScript(MOON), 422],
  ["a key that no page makes", byScript({ attempt: "a".repeat(3_000) }), 400],
  ["JSON", { headers: { "content-type": "application/json" }, body: "{}" }, 415],
  ["too much", byScript({ note: " ".repeat(70_000) }), 413],
  ["a body of no length", endless(), 411],
  ["a text", { headers: { "content-type": "text/plain" }, body: "reference=r" }, 415],
  ["nothing posted", { method: "GET" }, 405],
];

test("the shop's server refuses requests that no page of it sends, and its answers are not cached", async () => {
  const post = (init) =>
    fetch(`${shop.origin}/shop/order`, { method: "POST", redirect: "manual", ...init });
  for (const [what, init, expected] of REQUESTS) {
    const { status, headers } = await post(init);
    assert.deepEqual([status, headers.get("cache-control")], [expected, "no-store"], what);
  }
  const wrong = byScript({ "recipient.email": "x", reference: "" });
  const { issues } = await (await post(wrong)).json();
  const pointers = issues.map(({ pointer }) => pointer);
  assert.deepEqual(pointers, ["/reference", "/recipient/email"]);
  const gold = byScript({ "pledges.0.detail.name": "Free gold" });
  const { timelineUrl } = await (await post(gold)).json();
  const page = await (await fetch(timelineUrl)).text();
  assert.ok(page.includes("Shade trees") && !page.includes("Free gold"), "the shop's own words");
});

test("the shop's origin also serves the service's API", async () => {
  const missing = await fetch(`${shop.origin}/no/such/path`);
  assert.equal(missing.status, 404);
  assert.equal(missing.headers.get("content-type"), "application/json");
});
