/** Tests the playground in Chromium, as a part of the site: a static page with the service in it. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { brotliCompressSync } from "node:zlib";
import { bundlePlayground } from "../../scripts/lib/playground.mjs";
import { completionsAt } from "../../www/playground/schema.js";
import { SAMPLE, SAMPLE_KEY } from "../../www/playground/sample.js";
import { SAMPLES } from "../../www/playground/samples.js";
import { fragmentOf, sharedIn } from "../../www/playground/share.js";
import { packed } from "../package/packed.mjs";
import { onLoopback } from "../support/loopback.mjs";
import { serveFolder } from "../support/static.mjs";
import { until } from "../support/until.mjs";
import { buildSite } from "../../www/site/build.js";
import { axeFindings, openPage, tools, useBrowser } from "./chromium.mjs";
import { tabTo } from "./keyboard.mjs";

/** Bytes of all scripts and styles that the page loads, compressed with brotli. */
const MOST_BYTES = 425_000;

useBrowser();

const folder = join(tools.root, "build", `playground-of-${process.pid}`);
const siteFolder = mkdtempSync(join(tmpdir(), "site-"));
let site;
let address = "";
before(async () => {
  await bundlePlayground(tools.root, folder);
  await buildSite(tools.root, siteFolder, folder);
  site = await serveFolder(siteFolder);
  address = `${site.origin}/playground/`;
});
after(() => site?.close());
after(() => {
  for (const made of [folder, siteFolder]) rmSync(made, { recursive: true });
});

/** Opens the page, and waits for its first answer. With a fragment, the page sends nothing by itself. */
async function open(t, { fragment = "", ...options } = {}) {
  const page = await openPage(t, options);
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(`${address}${fragment}`);
  if (fragment === "") await answered(page, "Status 200");
  return { page, requests };
}

const answered = (page, text) => page.locator("[data-summary] b", { hasText: text }).waitFor();
const textOf = (page) =>
  page.locator(".cm-line").evaluateAll((lines) => lines.map((line) => line.textContent).join("\n"));
const frameOf = (page, selector) => page.frameLocator(`${selector} iframe`);

/** Replaces the text of the editor, as a paste does. */
async function write(page, text) {
  await page.locator(".cm-content").focus();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(text);
}

const request = (changes = {}) => ({ ...JSON.parse(SAMPLE), ...changes });
const json = (changes) => JSON.stringify(request(changes), null, 2);

/** Sends a request, and waits until the page shows another answer. */
async function send(page, { text, key, fault, expected = "Status 200" } = {}) {
  if (text !== undefined) await write(page, text);
  if (key !== undefined) await page.fill("[data-key]", key);
  if (fault !== undefined) await page.selectOption("[data-fault]", fault);
  await page.locator("[data-summary]").evaluate((place) => place.replaceChildren());
  await page.click("[data-create]");
  await answered(page, expected);
}

const summaryOf = (page) => page.innerText("[data-summary]");

// ---- What a visitor sees ---------------------------------------------------------------------------

test("the page sends the sample, and shows answer, timeline and e-mails", async (t) => {
  const { page, requests } = await open(t, { viewport: { width: 1280, height: 2400 } });
  assert.match(await summaryOf(page), /1 transaction is recorded/);
  assert.match(await page.innerText("[data-answer]"), /"currencyCode": "USD"/);
  const timeline = frameOf(page, "[data-timeline-frame]");
  await timeline.getByText("Mangroves").first().waitFor();
  assert.equal(await timeline.locator("html").getAttribute("lang"), "en");
  await frameOf(page, '[data-mails] [lang="de"]').locator("html[lang=de]").waitFor();
  const subjects = await page.locator("[data-mails] .head:nth-of-type(3)").allInnerTexts();
  assert.equal(subjects.length, 2);
  assert.equal(new Set(subjects).size, 2);
  assert.ok(
    requests.every((url) => url.startsWith(site.origin)),
    `${requests}`,
  );
  await page.selectOption("[data-timeline-language]", "ja");
  await timeline.locator("html[lang=ja]").waitFor();
});

test("frames look as the service's pages do, and run and load nothing", async (t) => {
  const { page } = await open(t, { viewport: { width: 1280, height: 2400 } });
  const button = frameOf(page, '[data-mails] [lang="en"]').locator(".button");
  await button.waitFor();
  await frameOf(page, '[data-mails] [lang="de"]').locator(".button").waitFor();
  // From the page's own document, because a frame runs no scripts, not even those of a test.
  const [family, colour] = await page.evaluate(() => {
    const styleIn = (frame, selector) => {
      const { contentDocument, contentWindow } = document.querySelector(`${frame} iframe`);
      return contentWindow.getComputedStyle(contentDocument.querySelector(selector));
    };
    return [
      styleIn("[data-timeline-frame]", "h1").fontFamily,
      styleIn('[data-mails] [lang="en"]', ".button").backgroundColor,
    ];
  });
  assert.match(family, /serif/);
  assert.notEqual(colour, "rgba(0, 0, 0, 0)", "the style attributes are in force");
  const frames = await page.locator("iframe").evaluateAll((all) =>
    all.map(({ sandbox, offsetHeight, contentDocument }) => ({
      sandbox: String(sandbox),
      isWhole: offsetHeight === contentDocument.documentElement.offsetHeight + 2,
    })),
  );
  assert.equal(frames.length, 3);
  for (const { sandbox, isWhole } of frames)
    assert.deepEqual([sandbox, isWhole], ["allow-same-origin", true]);
  await button.locator("a").click();
  await page.locator("#timeline-title:focus").waitFor();
  assert.equal(page.frames().filter((frame) => !/^about:/.test(frame.url())).length, 1);
});

test("13 languages side by side, and each is rendered only when it comes into view", async (t) => {
  const { page } = await open(t, { viewport: { width: 1280, height: 700 } });
  await page.getByRole("button", { name: "All 13" }).click();
  const cards = page.locator("[data-mails] article");
  assert.equal(await cards.count(), 13);
  assert.ok((await page.locator("[data-mails] iframe").count()) < 13, "not all at once");
  for (const card of await cards.all()) {
    await card.scrollIntoViewIfNeeded();
    const language = await card.getAttribute("lang");
    await card.frameLocator("iframe").locator(`html[lang="${language}"]`).waitFor();
  }
  const subjects = await page.locator("[data-mails] .head:nth-of-type(3)").allInnerTexts();
  assert.equal(new Set(subjects).size, 12, "both kinds of Portuguese have the same subject");
  await page.locator("[data-languages] input[value=sv]").uncheck();
  assert.equal(await page.locator("[data-mails] iframe").count(), 12, "the others stay");
});

test("messages, no e-mail, and a request without notifications", async (t) => {
  const { page } = await open(t);
  await send(page, { text: json({ notifications: ["MessagingServiceA"] }), key: "" });
  await page.getByText("MessagingServiceA to ada@example.org").waitFor();
  await page.getByText("The service sent no e-mail.").waitFor();
  assert.equal(await page.locator("[data-mails] iframe").count(), 0);
  await send(page, { text: json({ notifications: [] }) });
  await page.locator("[data-messages]").waitFor({ state: "hidden" });
});

// ---- The editor ------------------------------------------------------------------------------------

test("issues appear as one types, at their place", async (t) => {
  const { page } = await open(t);
  await write(page, json({ recipient: { email: "ada@" } }));
  const place = page.getByRole("button", { name: "/recipient/email" });
  await place.waitFor();
  assert.equal(await page.locator(".cm-lintRange-error").innerText(), '"ada@"');
  await place.click();
  const selected = await page.evaluate(() => {
    const { shadowRoot } = document.querySelector("[data-editor]");
    return String(shadowRoot.getSelection?.() ?? getSelection());
  });
  assert.equal(selected, '"ada@"');
  await write(page, '{"reference": 1, "pledges": [{}],');
  await page
    .getByText(/^\d issues?$/)
    .first()
    .waitFor();
  await page.getByRole("button", { name: "whole request" }).waitFor();
  assert.equal(await page.innerText("[data-code]"), "Mend the issues first.");
  await send(page, { expected: "Status 400" });
  await page.locator("[data-timeline]").waitFor({ state: "hidden" });
  await write(page, SAMPLE);
  await page.getByText("Valid: no issues").first().waitFor();
});

test("the schema completes members and values", async (t) => {
  const { page } = await open(t);
  const labels = page.locator(".cm-tooltip-autocomplete li .cm-completionLabel"); // in a shadow root
  const offered = (...names) =>
    until(async () => (await labels.allTextContents()).toSorted().join() === names.join());
  /** Types the beginning of the only name that is offered, and takes it. CodeMirror ignores Enter in the first 75 ms. */
  const complete = async (text, name) => {
    await page.keyboard.type(text);
    await offered(name);
    await page.waitForTimeout(100);
    await page.keyboard.press("Enter");
  };
  const members = ["notifications", "pledges", "recipient", "reference", "trigger"];
  await write(page, "{");
  await page.keyboard.press("Control+Space");
  await offered(...members);
  await page.keyboard.type('"');
  await offered(...members);
  await complete("reci", "recipient");
  await complete('"ema', "email");
  await page.keyboard.type("ada@example.org");
  assert.equal(
    (await textOf(page)).replaceAll(/\s/g, ""),
    '{"recipient":{"email":"ada@example.org"}}',
  );
});

const SCHEMA = {
  required: ["a"],
  properties: {
    a: { type: "string", description: "A." },
    b: { type: "object", properties: { c: { type: "array", items: { enum: ["x", "y"] } } } },
  },
};
/** Texts with a `|` for the cursor, and the texts that the completions insert. */
const COMPLETED = [
  ["{|}", ['"a": ""', '"b": {}']],
  ['{"a": "", |}', ['"b": {}']],
  ['{"|"}', ['"a": ""', '"b": {}']],
  ['{"|": 1}', ['"a"', '"b"']],
  ['{| "b": {}}', ['"a": "",']],
  ['{"b": {|}}', ['"c": []']],
  ['{"b": {"c": [|]}}', ['"x"', '"y"']],
  ['{"b": {"c": ["|"]}}', ['"x"', '"y"']],
  ['{"b": {"c": ["x", |]}}', ['"x"', '"y"']],
  ['{"a": |}', null],
  ['{"unknown": {|}}', []],
  ['{"__proto__": {|}}', []],
  ["|", null],
];

for (const [marked, expected] of COMPLETED)
  test(`completions of ${marked}`, () => {
    const position = marked.indexOf("|");
    const found = completionsAt(SCHEMA, marked.replace("|", ""), position);
    assert.deepEqual(found?.completions.map(({ text }) => text) ?? null, expected);
  });

// ---- Faults and repeats ----------------------------------------------------------------------------

test("a lost answer and a repeat: one transaction", async (t) => {
  const { page } = await open(t);
  await send(page, { key: "order-2", fault: "answer", expected: "No answer" });
  assert.match(await summaryOf(page), /2 transactions are recorded.*Create again with the same/s);
  await page.locator("[data-timeline]").waitFor({ state: "hidden" });
  assert.equal(await page.inputValue("[data-fault]"), "none", "a fault is for one request");
  await send(page);
  assert.match(await summaryOf(page), /2 transactions are recorded.*An idempotent replay/s);
  assert.match(await page.innerText("[data-answer]"), /idempotent-replayed: true/);
  await send(page, { text: json({ reference: "other" }), expected: "Status 422" });
  await send(page, { key: "" });
  assert.match(await summaryOf(page), /3 transactions/);
  await page.click("text=Requests so far");
  const log = await page.locator("[data-log] li").allInnerTexts();
  assert.deepEqual(
    log.map((line) => line.replace(/ptran_\w+/, "ID")),
    ["200", "200", "no answer", "200", "200", "422", "200", "200"].map((status, index) =>
      [1, 4, 7].includes(index)
        ? `GET /v2/pledge-transaction/ID ${status}`
        : `POST /v2/pledge-transaction ${status}`,
    ),
  );
});

test("KV is late: the first read and the first timeline do not find the record", async (t) => {
  const { page } = await open(t);
  await send(page, { key: "", fault: "late" });
  assert.match(await summaryOf(page), /does not find the record yet/);
  await page.getByText("answered 404").waitFor();
  const timeline = frameOf(page, "[data-timeline-frame]");
  await timeline.locator("h1").waitFor();
  assert.equal(await timeline.getByText("Mangroves").count(), 0);
  await page.getByRole("button", { name: "Reload" }).click();
  await timeline.getByText("Mangroves").first().waitFor();
});

test("a write that fails, a service that is down, and an unusable key", async (t) => {
  const { page } = await open(t);
  await send(page, { key: "", fault: "write", expected: "Status 503" });
  assert.match(await summaryOf(page), /1 transaction is.*Without an idempotency key/s);
  await send(page, { key: "order-3", fault: "down", expected: "Status 503" });
  await send(page);
  assert.match(await summaryOf(page), /2 transactions/);
  await page.fill("[data-key]", 'a"b');
  await page.click("[data-create]");
  assert.equal(await page.locator("[data-key]:invalid").count(), 1);
  assert.match(await summaryOf(page), /2 transactions/);
  await page.click("[data-reset]");
  assert.match(await summaryOf(page), /no transactions/);
  assert.equal(await page.inputValue("[data-key]"), SAMPLE_KEY);
});

// ---- Code ------------------------------------------------------------------------------------------

const HOSTILE = {
  reference: `o'rder "1" \\ $(id) \`id\` \${x} %s !! \u2028 \n\t 🌳 ''' """`,
  recipient: { email: "ada@example.org", firstName: "O'Neill \u0007 ß 中文" },
  pledges: [
    { impact: { amount: 1e-7, offeringId: "tree" } },
    { impact: { amount: 1e21, offeringId: "x" } },
  ],
};
const RUNNERS = {
  curl: ["sh", "call.sh"],
  JavaScript: [process.execPath, "call.mjs"],
  Python: ["python3", "call.py"],
};

for (const [name, [command, file]] of Object.entries(RUNNERS))
  test(`the code for ${name} sends the request`, async (t) => {
    const project = await packed();
    const { createTestService } = await project.load("impact-pledge/testing");
    const service = createTestService();
    const { origin, close } = await onLoopback(createServer(service.handler));
    t.after(close);
    const path = mkdtempSync(join(project.folder, "sample-"));
    t.after(() => rmSync(path, { recursive: true }));
    const keys = ["order-1's $(id)", ""];
    for (const idempotencyKey of keys) {
      const apiKey = "service_sk_test_dev_unit";
      const code = SAMPLES[name]({ origin, apiKey, request: HOSTILE, idempotencyKey });
      writeFileSync(join(path, file), code);
      const { status, stderr } = await ended(command, [file], path);
      assert.equal(status, 0, stderr);
    }
    const sent = service.requests();
    assert.deepEqual(
      sent.map(({ body }) => body),
      [HOSTILE, HOSTILE],
    );
    assert.deepEqual(
      sent.map(({ headers }) => headers["idempotency-key"] ?? ""),
      keys,
    );
  });

/** Runs a program in a folder, while this process serves its requests. */
async function ended(command, args, cwd) {
  const program = spawn(command, args, { cwd });
  let stderr = "";
  program.stderr.on("data", (text) => {
    stderr += text;
  });
  const status = await new Promise((resolve, reject) =>
    program.on("close", resolve).on("error", reject),
  );
  return { status, stderr };
}

test("the page shows the code of the current request, and copies it", async (t) => {
  const { page } = await open(t, { permissions: ["clipboard-read", "clipboard-write"] });
  await write(page, json(HOSTILE));
  await page.getByText("Valid: no issues").first().waitFor();
  await page.fill("[data-key]", "k'1");
  const call = {
    origin: "http://127.0.0.1:8787",
    apiKey: "service_sk_test_dev_unit",
    request: request(HOSTILE),
    idempotencyKey: "k'1",
  };
  for (const [name, sample] of Object.entries(SAMPLES)) {
    await page.getByRole("tab", { name }).click();
    assert.equal(await page.locator("[data-code]").textContent(), sample(call));
  }
  await page.click("[data-copy]");
  await page.getByText("The code was copied.").waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), SAMPLES.Python(call));
});

// ---- Links -----------------------------------------------------------------------------------------

test("a link has the request, its key and its fault", async (t) => {
  const { page } = await open(t, { permissions: ["clipboard-read", "clipboard-write"] });
  const text = json({ reference: "Ä 中 🌳" });
  await write(page, text);
  await page.fill("[data-key]", "order-9");
  await page.selectOption("[data-fault]", "late");
  await page.click("[data-share]");
  await page.getByText("The link was copied.").waitFor();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(link, page.url());
  const other = await openPage(t);
  await other.goto(link);
  await other.getByText("Valid: no issues").first().waitFor();
  assert.equal(await textOf(other), text);
  assert.equal(await other.inputValue("[data-key]"), "order-9");
  assert.equal(await other.inputValue("[data-fault]"), "late");
  assert.equal(await summaryOf(other), "", "nothing is sent by itself");
  await other.click("[data-create]");
  await answered(other, "Status 200");
  await write(page, json({ reference: "x".repeat(20_000) }));
  await page.click("[data-share]");
  await page.getByText("too long for a link").waitFor();
});

const base64 = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
const BAD = {
  "no base64": "#r=%3Cscript%3E",
  "another name": `#x=${base64(["{}", "", "none"])}`,
  "no JSON": `#r=${Buffer.from("alert(1)").toString("base64url")}`,
  "no list": `#r=${base64({ text: "{}" })}`,
  "too few parts": `#r=${base64(["{}"])}`,
  "a part that is no text": `#r=${base64(["{}", 1, "none"])}`,
  "an unknown fault": `#r=${base64(["{}", "", "constructor"])}`,
  "no UTF-8": `#r=${Buffer.from([0x5b, 0xff]).toString("base64url")}`,
  "16,001 characters": `#r=${"A".repeat(15_998)}`,
  HTML: "#<img src=x onerror=alert(1)>",
};

for (const [name, fragment] of Object.entries(BAD))
  test(`a damaged link: ${name}`, async (t) => {
    const { page } = await open(t, { fragment });
    await page.getByText("This link is damaged or too long").waitFor();
    assert.equal(`${await textOf(page)}\n`.trim(), SAMPLE.trim());
  });

test("the longest link, and every cut of one, is read without an exception", () => {
  const shared = { text: "x".repeat(11_900), key: "k", fault: "none" };
  const fragment = fragmentOf(shared) ?? "";
  assert.ok(fragment.length > 15_000 && fragment.length <= 16_000, `${fragment.length}`);
  assert.deepEqual(sharedIn(fragment, ["none"]), { shared });
  assert.equal(fragmentOf({ ...shared, text: "x".repeat(12_500) }), null);
  const short = fragmentOf({ text: "{é}", key: "", fault: "none" }) ?? "";
  for (let length = 2; length < short.length; length += 1)
    assert.ok("problem" in (sharedIn(short.slice(0, length), ["none"]) ?? {}));
});

test("a hostile request stays text everywhere", async (t) => {
  const text = json({
    recipient: {
      email: "ada@example.org",
      firstName: '<img src=x onerror="top.hit=1"><style>*{}</style>',
    },
    trigger: { phrase: '<script>top.hit=1</script>" style="background:red' },
    notifications: ["Email", "MessagingServiceA"],
  });
  const fragment = fragmentOf({ text, key: "<b>", fault: "none" });
  const { page } = await open(t, { fragment, viewport: { width: 1280, height: 3000 } });
  await page.getByText("Valid: no issues").first().waitFor();
  await page.click("[data-create]");
  await answered(page, "Status 200");
  await frameOf(page, "[data-timeline-frame]")
    .getByText("<script>top.hit=1</script>")
    .first()
    .waitFor();
  await frameOf(page, '[data-mails] [lang="en"]').locator("body").waitFor();
  const found = await page.evaluate(() => [
    "hit" in globalThis,
    document.querySelectorAll("main img, main script").length,
    ...[...document.querySelectorAll("iframe")].map(
      ({ contentDocument }) => contentDocument?.querySelectorAll("img, script, style").length,
    ),
  ]);
  assert.deepEqual(found, [false, 0, 0, 0, 0]);
});

// ---- The page --------------------------------------------------------------------------------------

test("it works offline once it is loaded", async (t) => {
  const { page, requests } = await open(t, { viewport: { width: 1280, height: 2400 } });
  const before = requests.length;
  await page.context().setOffline(true);
  await send(page, { text: json({ reference: "offline" }), key: "" });
  await page.getByRole("button", { name: "All 13" }).click();
  await page.locator('[data-mails] [lang="zh"]').scrollIntoViewIfNeeded();
  await frameOf(page, '[data-mails] [lang="zh"]').locator("html[lang=zh]").waitFor();
  await page.selectOption("[data-timeline-language]", "fr");
  await frameOf(page, "[data-timeline-frame]").locator("html[lang=fr]").waitFor();
  assert.deepEqual(
    requests.slice(before).filter((url) => !/^(about|data):/.test(url)),
    [],
  );
});

test("axe finds nothing, and nothing is wider than the screen", async (t) => {
  for (const colorScheme of /** @type {const} */ (["light", "dark"]))
    for (const width of [390, 1280]) {
      const { page } = await open(t, { colorScheme, viewport: { width, height: 900 } });
      await write(page, json({ recipient: { email: "ada@" }, unknown: 1 }));
      await page.getByText("2 issues").first().waitFor();
      assert.deepEqual(await axeFindings(page), [], `${colorScheme}, ${width} px`);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(overflow <= 0, `${overflow} px at ${width}`);
    }
});

test("forced colours: what is chosen and what has the focus is marked", async (t) => {
  const { page } = await open(t, { forcedColors: "active" });
  const borders = await page.evaluate(() =>
    ["[data-create]", "[data-key]", '[role="tab"][aria-selected="true"]'].map(
      (selector) =>
        getComputedStyle(document.querySelector(selector) ?? document.body).borderBottomStyle,
    ),
  );
  assert.deepEqual(borders, ["solid", "solid", "solid"]);
  await page.locator(".cm-content").focus();
  const outline = await page
    .locator(".cm-editor")
    .evaluate((editor) => getComputedStyle(editor).outlineStyle);
  assert.equal(outline, "solid");
  assert.deepEqual(await axeFindings(page), []);
});

test("by keyboard: Tab leaves the editor, and everything can be reached", async (t) => {
  const { page } = await open(t);
  await page.locator(".cm-content").focus();
  await page.keyboard.press("Tab");
  assert.equal(await page.locator("[data-key]:focus").count(), 1);
  for (const selector of ["[data-fault]", "[data-create]", "[data-share]", '[role="tab"]'])
    await tabTo(page, selector);
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.locator('[role="tab"]:focus').innerText(), "JavaScript");
  assert.match(await page.innerText("[data-code]"), /^import \{ PledgeClient/);
  await tabTo(page, "[data-timeline-language]");
  await page.locator(".cm-content").focus();
  await page.locator("[data-summary]").evaluate((place) => place.replaceChildren());
  await page.keyboard.press("Control+Enter");
  await answered(page, "Status 200");
});

test("a link leads to the documents", async (t) => {
  const { page } = await open(t);
  await page.getByRole("link", { name: "Documentation" }).click();
  await page.waitForURL(`${site.origin}/`);
  await page.getByRole("link", { name: "Try the service in this browser" }).waitFor();
});

test("without JavaScript, the page says how to run the service", async (t) => {
  const page = await openPage(t, { javaScriptEnabled: false });
  await page.goto(address);
  await page.locator("noscript pre", { hasText: "npx impact-pledge serve" }).waitFor();
  assert.equal(await page.locator("main").isVisible(), false);
});

test("where WebAssembly is refused, the page says so", async (t) => {
  const page = await openPage(t, { expected: /Content Security Policy|WebAssembly|CompileError/ });
  const html = readFileSync(join(folder, "index.html"), "utf8");
  const body = html.replace(" 'wasm-unsafe-eval'", "");
  assert.notEqual(body, html);
  await page.route(address, (route) => route.fulfill({ body, contentType: "text/html" }));
  await page.goto(address);
  await page.getByText("The playground could not start.").waitFor();
});

test("the policy is strict", () => {
  const html = readFileSync(join(folder, "index.html"), "utf8");
  const [, policy = ""] = html.match(/Content-Security-Policy" content="([^"]+)"/) ?? [];
  assert.match(
    policy,
    /^default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; /,
  );
  assert.doesNotMatch(policy, /unsafe-inline|unsafe-eval'(?<!wasm-unsafe-eval')|https?:|\*/);
  assert.doesNotMatch(html, /<style|style=|<script>|\son\w+=/);
});

test(`the page weighs at most ${MOST_BYTES} bytes`, (t) => {
  const sizes = readdirSync(folder)
    .filter((name) => /\.(js|css|html)$/.test(name))
    .map((name) => [name, brotliCompressSync(readFileSync(join(folder, name))).length]);
  const bytes = sizes.reduce((sum, [, size]) => sum + Number(size), 0);
  t.diagnostic(`${bytes} bytes: ${sizes.map(([name, size]) => `${name} ${size}`).join(", ")}`);
  assert.ok(bytes <= MOST_BYTES, `${bytes} bytes`);
  assert.ok(bytes > MOST_BYTES - 15_000, `${bytes} bytes: lower the budget`);
});
