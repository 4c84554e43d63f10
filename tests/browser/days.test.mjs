/**
 * Plays the working days of support, accounts, an operator and a shop's manager in the dashboard. They use a
 * phone's screen and a keyboard, without JavaScript. Each test continues where the previous test stopped.
 */
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { until } from "../support/until.mjs";
import { openPage, useBrowser } from "./chromium.mjs";
import { MONTH, startDemoDashboard } from "./demo.mjs";
import { find, send } from "./keyboard.mjs";

useBrowser();

const OPERATOR = "operator@small-hours.example";
const SUPPORT = "support@small-hours.example";
const ACCOUNTS = "accounts@small-hours.example";
const MANAGER = "mara@corner-books.example";
const PHONE = { width: 390, height: 740 };
const SHOP = "corner_books";

let dashboard;
before(async () => {
  dashboard = await startDemoDashboard({ OPERATORS: OPERATOR, SUPPORT, ACCOUNTS });
});
after(() => dashboard?.close());

/** Opens a page of the dashboard, signed in as this person. */
async function open(t, email, path, options) {
  const page = await openPage(t, {
    viewport: PHONE,
    javaScriptEnabled: false,
    extraHTTPHeaders: { "x-access": email },
    ...options,
  });
  await page.goto(dashboard.origin + path);
  return page;
}

/** Asserts that the main part of a page has these texts, and that the page fits the screen. */
async function shows(page, ...texts) {
  const text = await page.innerText("main");
  for (const expected of texts)
    if (expected instanceof RegExp) assert.match(text, expected);
    else assert.ok(text.includes(expected), `${expected} in ${text}`);
  const width = await page.evaluate(() => document.scrollingElement.scrollWidth);
  assert.ok(width <= PHONE.width, `${width} px on ${page.url()}`);
}

const button = (words) => `main button:has-text("${words}")`;
const link = (words) => `main a:has-text("${words}")`;

/** Creates a transaction as a shop's server does, and returns its ID. */
async function order(key, reference, amount, headers = {}) {
  const service = await dashboard.harness.getWorker("impact-pledge");
  const json = {
    reference,
    recipient: { email: "nina@example.org", firstName: "Nina" },
    pledges: [{ impact: { offeringId: "tree", amount } }],
    trigger: { phrase: "Order placed" },
  };
  const answer = await service.fetch("https://service.example/v2/pledge-transaction", {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(json),
  });
  assert.equal(answer.status, 200, await answer.clone().text());
  const { id } = await answer.json();
  await until(async () => (await rows(id)).length === 1);
  return id;
}

const rows = async (id) => {
  const of = dashboard.db.prepare("SELECT id FROM transactions WHERE id = ?");
  return (await of.bind(id).all()).results;
};

/** Moves transactions into the ended month, in Workers KV and in the ledger. */
async function moveToMonth(...ids) {
  const createdAt = `${MONTH}-15T12:00:00.000Z`;
  for (const id of ids) {
    const name = `transaction:${id}`;
    const { value, metadata } = await dashboard.kv.getWithMetadata(name);
    const { summary } = metadata;
    await dashboard.kv.put(name, JSON.stringify({ ...JSON.parse(value), createdAt }), {
      metadata: { ...metadata, summary: { ...summary, createdAt } },
    });
    await dashboard.db.prepare("DELETE FROM transactions WHERE id = ?").bind(id).run();
  }
  await dashboard.db.prepare("UPDATE reconciliation SET completed = NULL, ended = NULL").run();
  await dashboard.scheduled();
  for (const id of ids) assert.equal((await rows(id)).length, 1, id);
}

/** Creates a live key with the form on a unit's page, and returns the key. */
async function makeKey(page, unit) {
  await page.goto(`${dashboard.origin}/units/${unit}`);
  await send(page, { mode: "Live", label: "web shop" }, button("Create key"));
  return shownKey(page);
}

/** Returns the new API key from the only page that ever shows it. */
async function shownKey(page) {
  await shows(page, "this is the only time that it is shown");
  const [key] = (await page.innerText("main")).match(/service_sk_live_\w{20,}/);
  return key;
}

const days = {};

test("a shop: from nothing to its first live order, by its own manager", async (t) => {
  const operator = await open(t, OPERATOR, "/units");
  await send(operator, { unit: SHOP }, button("Create unit"));
  await shows(operator, `Registered: ${SHOP}.`);
  await send(operator, {}, link("People who may sign in"));
  await send(operator, { address: MANAGER, role: "Manager" }, button("Add person"));
  await shows(operator, "is a manager of the unit");
  await send(operator, {}, "main .lead a");
  await send(operator, {}, link("Price list"));
  await send(operator, { currency: "EUR", "price-tree": "0.45" }, button("Preview changes"));
  await shows(operator, "EUR", "0.45");
  await send(operator, {}, button("Save prices"));
  await shows(operator, "Saved: prices for live keys");

  const manager = await open(t, MANAGER, "/");
  await shows(manager, "Steps to your first live transaction", "Give your shop a name");
  await send(manager, {}, link("its page"));
  await send(manager, { name: "Corner Books", language: "German" }, button("Save profile"));
  await shows(manager, "The profile is saved");
  days.key = await makeKey(manager, SHOP);
  await manager.reload(); // sends the form again
  await shows(manager, "was shown only once");
  assert.ok(!(await manager.content()).includes(days.key));
  days.first = await order(days.key, "CB-1", 3);
  await manager.goto(dashboard.origin);
  await shows(manager, "CB-1", "1.35 EUR for 1 live transaction");
  assert.ok(!(await manager.innerText("main")).includes("Until your first"));
});

test("a leaked key: pasted into the search, replaced in two clicks", async (t) => {
  const page = await open(t, MANAGER, "/");
  await find(page, `seen in a log: ${days.key}`);
  assert.ok(!page.url().includes("service_sk_"));
  await send(page, {}, button("Replace"));
  await send(page, {}, button("Create the new key"));
  assert.notEqual(await shownKey(page), days.key);
  await shows(page, "expires at");
});

test("support: an order, its e-mail, its key, its twin, its price", async (t) => {
  for (const amount of [2, 2]) await order("service_sk_live_dev_unit", "SH-7777", amount);
  const page = await open(t, SUPPORT, "/");
  await find(page, " #sh-1055");
  const found = page.url(); // the page of the only order with this number
  await shows(page, "SH-1055", /Unit\s+unit_dev/, /Charge\s+\d+\.\d\d USD/, /of the unit unit_dev/);
  await shows(page, /State\s+Sent/);
  await page.goto(`${dashboard.origin}/orders`);
  await page.goBack();
  assert.equal(page.url(), found, "Back does not ask to send the search again");
  await send(page, {}, button("Send again"));
  await send(page, {}, button("Send it again"));
  await shows(page, "The notification is queued");
  await page.goto(found);
  await find(page, "SH-7777");
  await send(page, {}, link("SH-7777"));
  await shows(
    page,
    "Same reference",
    "Check whether one of these transactions is a duplicate",
    /1\.00 USD/,
  );
});

test("an operator: a person is erased", async (t) => {
  const page = await open(t, OPERATOR, "/");
  await send(page, {}, link("Erase a person"));
  const person = { unit: "unit_dev", email: "Gus@example.org" };
  await send(page, person, button("Find transactions"));
  await shows(page, "Transactions by unit", "unit_dev (");
  await send(page, { typed: "unit_dev" }, button("Erase permanently"));
  await shows(page, "All records were checked", "Receipt");
  assert.ok(!(await page.content()).includes("Gus@example.org"));
});

const HUGE = "500,000,000,000,000,000,000";
const rowOf = (shop) => `main tr:has(a[href^="/units/${shop}/payments"])`;

test("accounts: an order of 1e21 trees is credited", async (t) => {
  const of = { "x-service-unit-id": "unit_dev_two" };
  const huge = await order("service_sk_live_dev_team", "HB-HUGE", 1e21, of);
  const other = await makeKey(await open(t, OPERATOR, "/"), "unit_market");
  const third = await order(other, "MK-1", 10);
  await moveToMonth(huge, third, days.first);

  const page = await open(t, ACCOUNTS, `/payments?month=${MONTH}`);
  await shows(page, /500,000,000,000,000,000,0\d\d\.\d\d USD/);
  await send(page, {}, `${rowOf("unit_dev_two")} a:has-text("Statement")`);
  await send(page, {}, 'main a:text-is("Transactions")');
  await send(page, {}, link("HB-HUGE"));
  await send(page, { reason: "A mistake of the shop" }, button("Credit"));
  await shows(page, "This cannot be undone", HUGE);
  await send(page, {}, button("Credit this transaction"));
  await shows(page, "was credited");
});

test("a charge of sixty digits is shown whole, on a phone too", async (t) => {
  const vast = await order("service_sk_test_dev_unit", "HB-VAST", 1e60);
  const page = await open(t, OPERATOR, `/transactions/${vast}`);
  const charge = `500${",000".repeat(19)}.00 USD`;
  await shows(page, charge);
  await page.setViewportSize({ width: 1280, height: 800 });
  const [card, text] = await Promise.all(
    ["main section:has(dl)", "main dd .number"].map((it) => page.locator(it).first().boundingBox()),
  );
  assert.ok(text.x + text.width <= card.x + card.width, "it stays in its section");
});

const SHOPS = { unit_dev_two: "USD", unit_market: "USD", [SHOP]: "EUR" };

test("accounts: the month of three shops in two currencies is settled", async (t) => {
  const page = await open(t, ACCOUNTS, "/");
  const [year, month, day] = new Date().toISOString().slice(0, 10).split("-");
  for (const [shop, currency] of Object.entries(SHOPS)) {
    await page.goto(`${dashboard.origin}/payments?month=${MONTH}`);
    const due = await page.innerText(`${rowOf(shop)} td[data-label="Due"]`);
    assert.match(due, new RegExp(`^\\d{1,3}\\.\\d\\d ${currency}$`));
    await send(page, {}, `${rowOf(shop)} a:has-text("Mark as paid")`);
    const unpriced = await page.innerText('main td[data-label="Unpriced pledges"]');
    const fields = { "paid-at": `${month}${day}${year}`, invoice: `2026-${shop}` };
    if (unpriced) fields["accept-unpriced"] = unpriced;
    await send(page, fields, button("Mark as paid"));
    await shows(page, "Nothing was changed yet", due);
    await send(page, {}, button("Mark as paid"));
    await shows(page, "is marked as paid", due);
    await page.goto(`${dashboard.origin}/units/${shop}/statement?month=${MONTH}`);
    await shows(page, `invoice 2026-${shop}: ${due}`);
    assert.ok(!(await page.innerText("main")).includes("changed since"));
  }
});

test("accounts: how many trees the month needs, over all shops", async (t) => {
  const page = await open(t, ACCOUNTS, `/fulfilment?month=${MONTH}`);
  const trees = 'main section:first-of-type tr:has(th :text-is("tree")) td';
  const cell = (label) => page.innerText(`${trees}[data-label="${label}"]`);
  const pledged = await treesOfMonth();
  assert.equal(await cell("To be done"), `${pledged}`);
  assert.equal(await cell("Credited"), "1e21");
  await shows(page, "To be done");
});

/**
 * Returns the sum of trees in the live records of the month. Leaves out the order of 1e21 trees, which was
 * credited.
 */
async function treesOfMonth() {
  const { keys } = await dashboard.kv.list({ prefix: "transaction:" });
  let sum = 0;
  for (const { name, metadata } of keys) {
    if (metadata.mode !== "live") continue;
    const { createdAt, pledges } = await dashboard.kv.get(name, "json");
    if (!createdAt.startsWith(MONTH)) continue;
    for (const { impact } of pledges)
      if (impact.offeringId === "tree" && impact.amount < 1e21) sum += impact.amount;
  }
  return sum;
}
