/** Tests the packed package in pages of Chromium. Their console must stay empty: it would show violations of a policy. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { accessibilityNodes, openPage, useBrowser } from "../browser/chromium.mjs";
import { examplesOf } from "../support/examples.mjs";
import { rowsScript } from "../support/rows.mjs";
import { REQUEST } from "./mock-server.mjs";
import { packed } from "./packed.mjs";

const project = await packed();
const { createTestService } = await project.load("impact-pledge/testing");
const home = join(project.folder, "node_modules", "impact-pledge");
const examplesIn = (page, language) =>
  examplesOf(join(home, page)).filter((example) => example.language === language);

const ORIGIN = "http://shop.test";
const KEY = "service_sk_test_dev_unit";
const STRICT = "default-src 'none'; connect-src *; img-src data:; script-src 'self'",
  WITH_WASM = `${STRICT} 'wasm-unsafe-eval'`;
const REFUSED = /wasm-unsafe-eval|WebAssembly/;

useBrowser();

/**
 * Opens a page with this content security policy. The page has a body, and can load the package's files and
 * further scripts by their paths.
 */
async function pageWith(t, policy, { expected, body = "", ...scripts } = {}) {
  const page = await openPage(t, { expected });
  await page.route(`${ORIGIN}/**`, (route) => {
    const { pathname } = new URL(route.request().url());
    const script = scripts[pathname] ?? (pathname === "/" ? undefined : fileOf(pathname));
    return route.fulfill({
      contentType: script === undefined ? "text/html" : "text/javascript",
      headers: { "content-security-policy": policy },
      body:
        script ??
        `<!doctype html><meta charset="utf-8"><title>x</title><link rel="icon" href="data:,">${body}`,
    });
  });
  await page.goto(ORIGIN);
  return page;
}

const fileOf = (pathname) => readFileSync(join(home, pathname), "utf8");

useRows("with wasm", WITH_WASM, "");
useRows(
  "with a policy that forbids wasm, in a single file that has the rules without it",
  STRICT,
  "/js",
);

function useRows(name, policy, ending) {
  test(`every row of the rules and of forms, ${name}`, async (t) => {
    const script = await rowsScript(
      project.folder,
      {
        validate: `impact-pledge/validate${ending}`,
        form: "impact-pledge/form",
        report: "globalThis.report = ",
      },
      {},
    );
    const expected = policy === STRICT ? REFUSED : undefined;
    const page = await pageWith(t, policy, { "/rows.js": script, expected });
    await page.addScriptTag({ url: "/rows.js" });
    const report = await page.waitForFunction(() => globalThis.report);
    const { wrong, count } = JSON.parse(await report.jsonValue());
    assert.deepEqual(wrong, []);
    assert.ok(count.bytes > 900 && count.values > 1_800 && count.forms > 50, JSON.stringify(count));
  });
}

test("a getter that validates another value, in a page", async (t) => {
  const page = await pageWith(t, WITH_WASM);
  const codes = await page.evaluate(async (request) => {
    const { validate, validateBytes } = await import("/validate.js");
    const recipient = {
      email: "not-an-email",
      get name() {
        validate({ recipient: { email: "ada@example.org" } });
        validateBytes(new Uint8Array(100_000));
        return "Ada";
      },
    };
    return validate({ ...request, recipient }).map(({ code }) => code);
  }, REQUEST);
  assert.deepEqual(codes, ["invalid_email"]);
});

test("a policy that forbids wasm is reported with its remedy, even before anything needs the wasm", async (t) => {
  const page = await pageWith(t, STRICT, { expected: REFUSED });
  const messages = await page.evaluate(async (request) => {
    const { validate, ready } = await import("/validate.js");
    const messageOf = (call) => call().then(JSON.stringify, ({ message }) => message);
    return [await messageOf(async () => validate(request)), await messageOf(() => ready())];
  }, REQUEST);
  for (const message of messages)
    assert.match(
      message,
      /WebAssembly; allow 'wasm-unsafe-eval' in script-src, or import impact-pledge\/validate\/js/,
    );
});

/**
 * Makes a function from the example in docs/testing.md. The function adds handlers to Mock Service Worker,
 * and a route to a page of Playwright.
 */
const AsyncFunction = (async () => {}).constructor;
const [{ code: example }, ...others] = examplesIn("docs/testing.md", "ts");
assert.deepEqual(others, []);
const route = new AsyncFunction("page", "service", "http", example);

test("a page of Chromium, with a policy that allows wasm and no eval, calls the service in the test", async (t) => {
  const page = await pageWith(t, WITH_WASM, { expected: /Failed to load resource/ });
  const service = createTestService({ allowedOrigins: [ORIGIN] });
  const handlers = {};
  const http = { all: (pattern, handler) => Object.assign(handlers, { [pattern]: handler }) };
  await route(page, service, http);
  const mocked = handlers[`${service.baseUrl}/*`];
  assert.equal((await mocked({ request: new Request(`${service.baseUrl}/healthz`) })).status, 200);
  const shop = async ([apiKey, baseUrl, request, limits = {}]) => {
    const { PledgeClient } = await import("/index.js");
    const options = { retryCreates: true, maxRetries: 1, ...limits };
    const client = new PledgeClient({ apiKey, baseUrl, ...options });
    const outcome = (call) =>
      call.then(
        ({ id, reference }) => id ?? reference,
        ({ name }) => name,
      );
    const id = await outcome(client.createPledgeTransaction(request));
    return [id, await outcome(client.getPledgeTransaction(id))];
  };
  const given = [KEY, service.baseUrl, REQUEST];
  service.fail({ operation: "create", fault: "lost answer" });
  const [id, reference] = await page.evaluate(shop, given);
  assert.deepEqual([id, reference], [service.transactions()[0].id, "order-1"]);
  assert.equal(service.transactions().length, 1);
  service.fail({ fault: "timeout", times: 4 });
  assert.deepEqual(await page.evaluate(shop, [...given, { timeoutMs: 300 }]), [
    "TimeoutError",
    "TimeoutError",
  ]);
  service.restore();
  service.fail({ operation: "get", status: 503, times: 2 });
  assert.equal((await page.evaluate(shop, given))[1], "ApiError");
  assert.equal((await page.evaluate(shop, [KEY, service.baseUrl, {}]))[0], "ValidationError");
  const code = await page.evaluate(async (baseUrl) => {
    const { PledgeClient } = await import("/index.js");
    try {
      return new PledgeClient({ apiKey: "service_sk_live_x", baseUrl });
    } catch (error) {
      return error.code;
    }
  }, service.baseUrl);
  assert.equal(code, "live_key_in_browser");
  await page.goto(service.transactions()[0].timelineUrl);
  assert.match(await page.textContent("body"), /Ada/);
});

test("the test service runs in a page itself", async (t) => {
  const page = await pageWith(t, WITH_WASM);
  const result = await page.evaluate(
    async ([apiKey, request]) => {
      const { PledgeClient } = await import("/index.js");
      const { createTestService } = await import("/testing.js");
      const service = createTestService({ seed: 1 });
      const { baseUrl, fetch } = service;
      const client = new PledgeClient({ apiKey, baseUrl, fetch, retryCreates: true });
      service.fail({ fault: "lost answer" });
      const { id } = await client.createPledgeTransaction(request);
      const { reference } = await client.getPledgeTransaction(id);
      return [reference, service.transactions().length, service.requests().length];
    },
    [KEY, REQUEST],
  );
  assert.deepEqual(result, ["order-1", 1, 3]);
});

const FORM = `<form><input name="reference" value="order-1"><input name="coupon" value="SPRING"><input name="recipient.email" value="ada@example.org">
<input name="pledges.0.impact.amount" value="1"><input name="pledges.0.impact.offeringId" value="tree"><button>Send</button></form>`;

test("the README's example for a page sends the whole form", async (t) => {
  const inPage = examplesIn("README.md", "js").filter(({ code }) =>
    code.includes('"impact-pledge/form"'),
  );
  assert.equal(inPage.length, 1);
  const code = inPage[0].code.replace('"impact-pledge/form"', '"/form.js"');
  const page = await pageWith(t, WITH_WASM, {
    body: `${FORM}<script type="module" src="/example.mjs"></script>`,
    "/example.mjs": `const send = (data) => { window.sent = Object.fromEntries(data); };\n${code}\nwindow.bound = true;\n`,
  });
  await page.waitForFunction(() => window.bound);
  await page.click("button");
  await page.waitForFunction(() => window.sent);
  assert.deepEqual(await page.evaluate(() => window.sent), {
    reference: "order-1",
    coupon: "SPRING",
    "recipient.email": "ada@example.org",
    "pledges.0.impact.amount": "1",
    "pledges.0.impact.offeringId": "tree",
  });
});

/**
 * The attributes that give a badge the Polish plural forms of its text. In `BADGES`, each row has a badge's
 * attributes, its expected text, and its expected link.
 */
const POLISH = 'one="{} drzewo" few="{} drzewa" many="{} drzew" other="{} drzewa"';
const BADGES = [
  [`amount="22" ${POLISH}`, "22 drzewa", null],
  [`amount="12345,5" ${POLISH}`, "own text", null],
  [`amount="1e400" ${POLISH}`, "own text", null],
  [`amount="" ${POLISH}`, "own text", null],
  ['amount="2" one="tree"', "own text", null],
  ['amount="2" other="trees" lang="no such language"', "own text", null],
  ['amount="12345.5" other="Bäume" lang="de_DE"', "12.345,5 Bäume", null],
  ['amount="1" one="tree" other="trees" lang="en"', "1 tree", null],
  ['amount="12345.5" other="<b>kilo</b>" lang="de"', "12.345,5 <b>kilo</b>", null],
  [`amount="5" ${POLISH} href="/impact?a=1#b"`, "5 drzew", `${ORIGIN}/impact?a=1#b`],
  [`amount="5" ${POLISH} href="https://a.example/"`, "5 drzew", "https://a.example/"],
  [`amount="x" ${POLISH} href="//a.example"`, "own text", "http://a.example/"],
  [`amount="5" ${POLISH} href=" java\nscript:alert(1)"`, "5 drzew", null],
  [`amount="5" ${POLISH} href="data:text/html,x"`, "5 drzew", null],
  [`amount="5" ${POLISH} href="https://["`, "5 drzew", null],
  [`amount="5" ${POLISH} href=""`, "5 drzew", null],
];

const elementExamples = (name) =>
  ["README.md", "docs/npm.md"].flatMap((page) =>
    examplesIn(page, "html").flatMap(({ code }) => (code.includes(`<${name} `) ? [code] : [])),
  );

test("the badge, under a policy that allows neither inline styles nor markup from text", async (t) => {
  const policy = `${STRICT}; style-src 'self'; require-trusted-types-for 'script'`;
  const ours = BADGES.map(([attributes]) => `<impact-badge ${attributes}>own text</impact-badge>`);
  const [code, ...others] = elementExamples("impact-badge");
  assert.deepEqual(others, []);
  const page = await pageWith(t, policy, {
    body: `<main lang="pl">${ours.join("\n")}<impact-badge amount="0" other="x"></impact-badge>${code}</main>`,
  });
  await page.waitForFunction(() => customElements.get("impact-badge"));
  const shown = () =>
    page.$$eval("impact-badge", (all) =>
      all.map((badge) => {
        const link = badge.shadowRoot.querySelector("[part=badge]");
        const isOwn = link.querySelector("slot") !== null;
        return [
          isOwn ? badge.textContent : link.textContent,
          link.getAttribute("href") && link.href,
        ];
      }),
    );
  const example = ["3 trees with this order", `${ORIGIN}/impact`];
  assert.deepEqual(await shown(), [...BADGES.map(([, ...rest]) => rest), ["", null], example]);
  assert.equal(await page.locator("impact-badge:empty [part=badge]").isVisible(), false);
  const links = (await accessibilityNodes(page)).filter(({ role }) => role === "link");
  assert.deepEqual(
    links.map(({ name }) => name),
    ["5 drzew", "5 drzew", "own text", example[0]],
  );

  const first = page.locator("impact-badge").first();
  const colours = (colorScheme) =>
    page
      .emulateMedia({ colorScheme })
      .then(() => first.locator("[part=badge]").evaluate((link) => getComputedStyle(link).color));
  assert.equal(await colours("dark"), await colours("light"), "a page of light colours alone");
  await page.evaluate(() =>
    document.documentElement.style.setProperty("color-scheme", "light dark"),
  );
  assert.notEqual(await colours("dark"), await colours("light"));
  await first.evaluate((badge) => badge.style.setProperty("--impact-color", "rgb(1, 2, 3)"));
  assert.equal(await colours("light"), "rgb(1, 2, 3)");

  const changed = (changes) =>
    first.evaluate((badge, changes) => {
      for (const [name, value] of Object.entries(changes)) badge.setAttribute(name, value);
    }, changes);
  await changed({ amount: "1", href: "/one", rel: "nofollow" });
  assert.deepEqual((await shown())[0], ["1 drzewo", `${ORIGIN}/one`]);
  assert.equal(await first.locator("a").getAttribute("rel"), "nofollow");
  const set = (changes) =>
    first.evaluate((badge, changes) => Object.assign(badge, changes), changes);
  await set({ amount: 5, href: "/five" });
  assert.deepEqual((await shown())[0], ["5 drzew", `${ORIGIN}/five`], "by properties");
  assert.equal(await first.evaluate(({ amount }) => amount), "5");
  await set({ amount: "2", many: null, few: "{} małe drzewa", href: undefined });
  assert.deepEqual((await shown())[0], ["2 małe drzewa", null]);
  const upgraded = await page.evaluate(() => {
    const frame = document.createElement("iframe"); // where the element is not defined
    document.body.append(frame);
    const badge = frame.contentDocument.createElement("impact-badge");
    Object.assign(badge, { amount: 3, other: "{} trees" });
    document.body.append(badge);
    const text = badge.shadowRoot.querySelector("[part=text]").textContent;
    badge.remove();
    frame.remove();
    return text;
  });
  assert.equal(upgraded, "3 trees", "by properties that were set before the element was defined");
  const inShadow = await page.evaluate(() => {
    const [outer, inner] = ["div", "div"].map((tag) => document.createElement(tag));
    outer.lang = "de";
    document.body.append(outer);
    outer.attachShadow({ mode: "open" }).append(inner);
    const badge = document.createElement("impact-badge");
    for (const [name, value] of [
      ["amount", "12345.5"],
      ["other", "Bäume"],
    ])
      badge.setAttribute(name, value);
    inner.attachShadow({ mode: "open" }).append(badge);
    const text = badge.shadowRoot.querySelector("[part=text]").textContent;
    outer.remove();
    return text;
  });
  assert.equal(inShadow, "12.345,5 Bäume", "in the language of its host");
  await changed({ amount: "none", href: "javascript:alert(1)" });
  assert.deepEqual((await shown())[0], ["own text", null]);
});

test("a badge shows the public total of a shop, and its own text or nothing without one", async (t) => {
  const totals = [
    { offeringId: "tree", quantity: 1200 },
    { offeringId: "reef", quantity: 90 },
  ];
  const answers = {
    "/impact/north": JSON.stringify({ since: "2026-03", until: "2026-11-29", totals }),
    "/impact/none": '{"error":"Not found"}',
    "/impact/empty": '{"totals":[]}',
    "/impact/odd": '{"totals":{"find":1}}',
    "/impact/broken": "<",
  };
  const rows = [
    ['src="/impact/north" one="{} tree" other="{} trees"', "1,200 trees"],
    ['src="/impact/north" offering="reef" amount="3" other="{} m²"', "90 m²"],
    ['src="/impact/north" offering="kelp" amount="3" other="{} kelp"', "own"],
    ...["none", "empty", "odd", "broken"].map((name) => [`src="/impact/${name}" other="x"`, "own"]),
    ['src="" amount="3" other="trees"', "3 trees"],
  ];
  const badges = rows.map(([attributes]) => `<impact-badge ${attributes}>own</impact-badge>`);
  const page = await pageWith(t, `${STRICT}; style-src 'self'`, {
    body: `<main lang="en">${badges.join("")}<impact-badge id="bare" src="/impact/none" other="x"></impact-badge></main>`,
    ...answers,
  });
  const asked = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await page.addScriptTag({ url: "/badge.js", type: "module" });
  await page.waitForLoadState("networkidle");
  const shown = await page.$$eval("impact-badge:not(#bare)", (all) =>
    all.map((badge) => {
      const text = badge.shadowRoot.querySelector("[part=text]");
      return text.querySelector("slot") ? badge.textContent : text.textContent;
    }),
  );
  assert.deepEqual(
    shown,
    rows.map(([, text]) => text),
  );
  assert.equal(await page.locator("#bare [part=badge]").isVisible(), false);
  assert.equal(asked.filter((path) => path === "/impact/north").length, 3, "once for each badge");
  const late = await page.evaluate(async () => {
    const badge = document.querySelector("impact-badge");
    const shown = () => badge.shadowRoot.querySelector("[part=text]").textContent;
    const { promise, resolve } = Promise.withResolvers();
    globalThis.fetch = () => promise;
    badge.setAttribute("src", "/impact/late");
    badge.setAttribute("src", "");
    badge.setAttribute("amount", "2");
    resolve(Response.json({ totals: [{ offeringId: "tree", quantity: 7 }] }));
    await new Promise((done) => setTimeout(done));
    return shown();
  });
  assert.equal(late, "2 trees", "an answer to an earlier address does not count");
});

test("the examples of the choice: the form has the number that the buyer chose", async (t) => {
  const examples = elementExamples("impact-choice");
  assert.equal(examples.length, 3);
  for (const code of examples) {
    const src = /"\{\{ 'choice.js' \| asset_url \}\}"/; // Shopify renders these as the server of a shop
    const rendered = code.replace(src, "/choice.js").replace(/\{\{ cart\.attributes.*?\}\}/, "0");
    const script = rendered.includes("<script")
      ? ""
      : '<script type="module" src="/choice.js"></script>';
    const page = await pageWith(
      t,
      `${STRICT}; style-src 'self'; require-trusted-types-for 'script'`,
      {
        body: `<form id="cart"></form><form id="other">${rendered}</form>${script}`,
      },
    );
    await page.waitForFunction(() => customElements.get("impact-choice"));
    for (const _ of "12") await page.click("[part=plus]");
    const sum = await page.textContent("[part=sum]");
    assert.equal(sum, code.includes("price=") ? "2 trees · €1.00" : "2 trees");
    const fields = await page.evaluate(() =>
      ["#cart", "#other"].flatMap((id) => [...new FormData(document.querySelector(id))]),
    );
    assert.deepEqual(fields, [
      [code.includes("attributes[trees]") ? "attributes[trees]" : "trees", "2"],
    ]);
  }
});
