/**
 * Walks ten tasks of a working day in the dashboard, and counts clicks and fields. docs/decisions/clicks.md has the
 * numbers. People use a keyboard, a phone's screen and forced colours, without JavaScript, and print the last page.
 */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { openPage, tools, useBrowser } from "./chromium.mjs";
import { MONTH, startDemoDashboard } from "./demo.mjs";
import { fillIn, find, tabTo } from "./keyboard.mjs";
import { SHOPS, fill } from "./tasks-world.mjs";

useBrowser();

const of = (role) => `${role}@small-hours.example`;
const [OPERATOR, SUPPORT, ACCOUNTS, MANAGER] = ["operator", "support", "accounts", "manager"].map(
  of,
);
const [PHONE, SHEET] = [
  { width: 390, height: 740 },
  { width: 794, height: 1123 },
];
const TABLE = readFileSync(join(tools.root, "docs", "decisions", "clicks.md"), "utf8");

let dashboard;
before(async () => {
  dashboard = await startDemoDashboard({ OPERATORS: OPERATOR, SUPPORT, ACCOUNTS });
  await fill(dashboard);
});
after(() => dashboard?.close());

const [LINK, BUTTON] = ["a", "button"].map((tag) => (words) => `main ${tag}:has-text("${words}")`);
const to = (path) => `main a[href^="${path}"]`;
const line = (words) => (inside) => `main .tasks > li:has-text("${words}") ${inside}`;
const [year, month, day] = new Date().toISOString().slice(0, 10).split("-");
const TYPED = `${month}${day}${year}`; // as the browser's field takes a day
const half = { amount: "1", reason: "Half was returned" };

/** Returns a value for each field whose name begins with a text. */
const each = (start, value) => async (page) => {
  const names = await page
    .locator(`main [name^="${start}"]`)
    .evaluateAll((fields) => fields.map((field) => field.getAttribute("name")));
  assert.equal(names.length, SHOPS.length + 2, "the table says fifteen shops");
  return Object.fromEntries(names.map((name, at) => [name, `${value}-${at}`]));
};

/**
 * The tasks, by their names in the table. A step is one click: `search`: in the head of the page; `fill`: the fields that are
 * filled in before it; `open`: a part of the page that it unfolds; `as`: the person who takes it, from their own start page.
 */
const TASKS = {
  "Find order 1053 and credit half of it": {
    steps: [
      { as: ACCOUNTS, search: "#1053" },
      { fill: half, click: BUTTON("Credit …") },
      { click: BUTTON("Credit this transaction") },
    ],
    says: "was credited",
  },
  "Print the statements of a month, of 15 shops": {
    steps: [
      { as: ACCOUNTS, click: to(`/payments?mode=live&month=${MONTH}`) },
      { click: LINK("Print the statements") },
      { click: LINK("Next 10") },
    ],
    says: "Statement",
  },
  "Mark a month of 15 shops as paid": {
    steps: [
      { as: ACCOUNTS, click: to(`/payments?mode=live&month=${MONTH}`) },
      { click: LINK("Mark several as paid") },
      {
        fill: async (page) => ({ ...(await each("invoice.", "2026")(page)), "paid-at": TYPED }),
        click: BUTTON("Mark the chosen months as paid"),
      },
    ],
    says: "15 months marked as paid",
  },
  "Erase a person in three shops": {
    steps: [
      { as: OPERATOR, click: LINK("Erase a person") },
      { fill: { email: "rosa@example.org" }, click: BUTTON("Find transactions") },
      { fill: { typed: "all units" }, click: BUTTON("Erase permanently") },
    ],
    says: "Receipt",
  },
  "Resend three e-mails that failed for the same cause": {
    steps: [
      { as: SUPPORT, click: LINK("failed notification") },
      { click: `main tr:has-text("E_INTERNAL") ${'button:text-is("Resend")'}` },
      { click: BUTTON("Resend") },
    ],
    says: "Queued\n3",
  },
  "End a to-do that needs no work": {
    steps: [
      { as: OPERATOR, open: line("without a live transaction")("summary") },
      {
        fill: { reason: "Opens next year" },
        click: line("without a live transaction")('button:text-is("Accept")'),
      },
      { click: BUTTON("Accept") },
    ],
    says: "Accepted tasks of the kind",
  },
  "Tell the buyers of an offering what was done": {
    steps: [
      { as: OPERATOR, click: line("No update is published about")('a:has-text("plastic-kg")') },
      {
        fill: { stage: "Done", date: TYPED, "text-en": "It was collected." },
        click: BUTTON("Save draft"),
      },
      { click: 'main tr:has-text("plastic-kg") a:text-is("Done")' },
      { click: BUTTON("Publish") },
      { click: BUTTON("Publish") },
    ],
    says: "Published",
  },
  "Hand an order over to accounts, who end it": {
    steps: [
      { as: SUPPORT, search: "order 1054" },
      { open: "main #history summary" },
      {
        fill: { text: "Please credit this order", "hand-over": "Accounts" },
        click: BUTTON("Write the note"),
      },
      { as: ACCOUNTS, click: LINK("Please credit this order") },
      { click: BUTTON("Done") },
    ],
    says: "Hand-over to accounts ended",
  },
  "Take back half of a refunded order, as its shop": {
    steps: [
      { as: MANAGER, search: "1055" },
      { fill: half, click: BUTTON("Request credit") },
      { as: ACCOUNTS, click: line("requested credits")("a") },
      { click: BUTTON("Confirm …") },
      { click: BUTTON("Credit this transaction") },
    ],
    says: "was credited",
  },
  "Download the orders of any days, as a shop": {
    steps: [
      { as: MANAGER, click: 'nav a:text-is("Transactions")' },
      { open: "main .filters summary" },
      { fill: { from: TYPED, to: TYPED }, click: BUTTON("Show") },
      { click: LINK("Download CSV"), downloads: "1055" },
    ],
    says: "1055",
  },
};

/** A person at a keyboard. Counts what they do. */
class Walk {
  clicks = 0;
  fields = 0;
  #t;
  /** @type {import("playwright-core").Page} */
  page;

  constructor(t) {
    this.#t = t;
  }

  async take({ as, search, fill = {}, open, click, downloads }) {
    if (as) await this.#signIn(as);
    await this.#look();
    this.clicks += 1;
    if (search) {
      this.fields += 1;
      return find(this.page, search);
    }
    const fields = typeof fill === "function" ? await fill(this.page) : fill;
    this.fields += Object.keys(fields).length;
    await fillIn(this.page, fields);
    await tabTo(this.page, open ?? click);
    if (open) return this.page.keyboard.press("Enter");
    const leads = downloads
      ? this.page.waitForEvent("download").then(async (file) => readFileSync(await file.path()))
      : this.page.waitForNavigation();
    const [came] = await Promise.all([leads, this.page.keyboard.press("Enter")]);
    if (downloads) assert.ok(String(came).includes(downloads), String(came));
  }

  async #signIn(email) {
    this.page = await openPage(this.#t, {
      viewport: PHONE,
      javaScriptEnabled: false,
      forcedColors: "active",
      extraHTTPHeaders: { "x-access": email },
    });
    await this.page.goto(dashboard.origin);
  }

  /** Asserts that the page fits the screen. With the variable `PICTURES`, takes pictures of it into that folder. */
  async #look() {
    const width = await this.page.evaluate(() => document.scrollingElement?.scrollWidth ?? 0);
    assert.ok(width <= PHONE.width, `${width} px on ${this.page.url()}`);
    await this.#picture("screen");
  }

  async #picture(medium) {
    const folder = process.env.PICTURES;
    if (!folder) return;
    mkdirSync(folder, { recursive: true });
    const name = `${this.#t.name.replace(/\W+/g, "-")}-${this.clicks}-${medium}.png`;
    await this.page.screenshot({ path: join(folder, name), fullPage: true });
  }

  /** Asserts that the last page has a text, and that its print has no menu and no buttons. */
  async ends(says) {
    await this.#look();
    const text = await this.page.innerText("main");
    assert.ok(text.includes(says), `${says} in ${text}`);
    await this.page.setViewportSize(SHEET);
    await this.page.emulateMedia({ media: "print" });
    const [width, shown] = await this.page.evaluate(() => [
      document.scrollingElement?.scrollWidth ?? 0,
      [...document.querySelectorAll("nav, search, button")].filter((it) => it.checkVisibility())
        .length,
    ]);
    assert.deepEqual([width <= SHEET.width, shown], [true, 0], `${width} px`);
    await this.#picture("print");
  }
}

for (const [name, { steps, says }] of Object.entries(TASKS))
  test(name, async (t) => {
    const walk = new Walk(t);
    for (const step of steps) await walk.take(step);
    await walk.ends(says);
    const row = TABLE.split("\n").find((row) => row.startsWith(`| ${name} |`));
    const now = `| ${walk.clicks}, ${walk.fields} |`;
    assert.ok(row?.endsWith(now), `docs/decisions/clicks.md has ${row}, and the walk ${now}`);
  });
