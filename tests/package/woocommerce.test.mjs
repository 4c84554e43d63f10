/**
 * Tests the plugin of examples/woocommerce in PHP: its settings, the choice at checkout, and what it prints. No registry has
 * WooCommerce: a stand-in calls its hooks.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test, { after, beforeEach } from "node:test";
import { fixturesIn } from "../support/fixtures.mjs";
import { PLUGIN, Shop } from "../support/wordpress.mjs";
import { packed } from "./packed.mjs";

const project = await packed();
const { read, verify } = await project.load("impact-pledge/orders");
const FILES = Object.fromEntries(fixturesIn("woocommerce").map(({ file, rows }) => [file, rows]));
const FORM = {
  url: "https://pledges.example/orders/aaaaaaaaaaaaaaaaaaaaaaaa27",
  secret: "a secret of mine",
  most: "5",
  label: "Trees",
  price: "1.50",
  thanks: "Thank you for {number}.",
};
const SETTINGS = { webhook: 1, most: 5, label: "Trees", price: "", thanks: FORM.thanks };

const shop = await Shop.open();
beforeEach(() => shop.empty());
after(() => shop.close());

/** Calls `check` with each row of a file, in an empty shop. */
function forRows(file, check) {
  for (const row of FILES[file])
    test(`${file}: ${row.name}`, async () => {
      await check(row);
    });
}

// ---- Settings --------------------------------------------------------------------------------------

async function nonce() {
  const { html } = await shop.send({ do: "screen" });
  return /name="_wpnonce" value="(\w+)"/.exec(html)[1];
}

async function save({ form = {}, ...step }) {
  const entries = Object.entries({ ...FORM, ...form }).filter(([, value]) => value !== null);
  const own = step.nonce ?? (await nonce());
  return shop.send({
    do: "screen",
    ...step,
    form: { ...Object.fromEntries(entries), _wpnonce: own },
  });
}

/** Checks the members of an object that are expected; `null` expects no object. */
function has(actual, expected, name) {
  if (expected === null) return assert.equal(actual, undefined, name);
  for (const [key, value] of Object.entries(expected)) assert.deepEqual(actual[key], value, key);
}

forRows("settings.json", async (row) => {
  if (row.connected) assert.equal((await save({})).status, 302);
  if ("webhookIs" in row) await shop.send({ do: "webhook", values: row.webhookIs });
  const { as, nonce, answer, form } = row;
  const { status, html, pings = 0, kept } = await save({ as, nonce, answer, form });
  assert.equal(status, row.status);
  if (status === 302) assert.equal(html, "", "nothing runs after a redirect");
  for (const text of row.says ?? []) assert.ok(html.includes(text), `${text}\n${html}`);
  assert.equal(pings, row.pings ?? (row.connected || status !== 302 ? 0 : 1));
  if ("webhook" in row) has(kept.webhooks[1], row.webhook, "webhook");
  if ("settings" in row) has(kept.options["impact-pledge"], row.settings, "settings");
});

test("no page shows the secret, also not the one that was refused", async () => {
  const secret = "shown-nowhere&amp;";
  const refused = await save({ form: { secret } });
  assert.equal(refused.status, 200);
  await save({});
  for (const { html } of [refused, await shop.send({ do: "screen" })])
    for (const text of [FORM.secret, "shown-nowhere"]) assert.ok(!html.includes(text));
});

test("the screen keeps what was entered if the form is refused", async () => {
  const { html } = await save({ form: { url: "http://x/", label: 'a "b" <i>', price: "x" } });
  for (const value of ["http://x/", "a &quot;b&quot;", "x", FORM.thanks])
    assert.ok(html.includes(` value="${value}"`), html);
});

test("pages warn managers once WooCommerce has disabled the webhook, and only then", async () => {
  await save({});
  const warns = async (as) =>
    (await shop.send({ do: "notices", as })).html.includes("Orders are not pledged");
  assert.equal(await warns("manager"), false);
  await shop.send({ do: "webhook", values: { failure_count: 6 } });
  assert.ok((await shop.send({ do: "screen" })).html.includes("6 in a row"));
  await shop.send({ do: "webhook", values: { status: "disabled" } });
  assert.deepEqual([await warns("manager"), await warns("editor")], [true, false]);
});

test("deactivation pauses the webhook, and removal leaves nothing", async () => {
  await save({});
  const { kept } = await shop.send({ do: "deactivate" });
  assert.equal(kept.webhooks[1].status, "paused");
  const { kept: left } = await shop.send({ do: "uninstall" });
  assert.deepEqual([left.webhooks, left.options], [[], []]);
});

test("it declares that it works with order tables and the Checkout block", async () => {
  const { compatible } = await shop.send({ do: "notices" });
  assert.deepEqual(compatible, { custom_order_tables: true, cart_checkout_blocks: true });
});

// ---- The choice ------------------------------------------------------------------------------------

const CLASSIC = { "woocommerce-process-checkout-nonce": "checked by WooCommerce" };

/** Returns the form that a step posts: the checkout's, the same while the buyer changes it, or that of another page. */
function formOf({ form, change, other }) {
  if (form) return { ...CLASSIC, ...form };
  if (change) return { post_data: String(new URLSearchParams({ ...CLASSIC, ...change })) };
  return other;
}

const choose = ({ do: what, value, ...step }) => shop.send({ do: what, value, form: formOf(step) });
const set = (settings) => shop.send({ do: "option", value: { ...SETTINGS, ...settings } });

forRows("choices.json", async ({ settings, steps }) => {
  await set(settings);
  for (const step of steps) {
    const name = JSON.stringify(step);
    const { status, fees, problems = [], html, order, kept } = await choose(step);
    assert.equal(status, step.status ?? 200, name);
    assert.equal(problems.length, step.problems ?? 0, `${name} ${problems}`);
    const paid = fees.map(({ name, amount }) => [name, Math.round(amount * 1e6) / 1e6]);
    if (step.fees) assert.deepEqual(paid, step.fees, name);
    for (const text of step.shows ?? []) assert.ok(html.includes(text), html);
    assert.equal(order !== undefined, "choice" in step, name);
    if (!order) continue;
    assert.equal(order.meta.impact_pledges ?? null, step.choice, name);
    assert.deepEqual(kept.customer, [], "the next order starts without a choice");
  }
});

test("an order that WooCommerce 11 sent has the choice, and those of the stand-in are read alike", async () => {
  const sent = fixturesIn("orders/verify")
    .flatMap(({ rows }) => rows)
    .find(({ name }) => name === "WooCommerce 11.0.1 with the plugin");
  await verify("woocommerce", sent.headers, sent.body, sent.secrets);
  const choiceIn = (body) =>
    read("woocommerce", body).content.attributes.filter(([name]) => name === "impact_pledges");
  assert.deepEqual(choiceIn(sent.body), [["impact_pledges", "1"]]);
  await set({});
  const { order } = await choose({ do: "order", form: { impact_pledges: "4" } });
  const meta = Object.entries(order.meta).map(([key, value], id) => ({ id, key, value }));
  const body = JSON.stringify({ ...JSON.parse(sent.body), meta_data: meta });
  assert.deepEqual(choiceIn(body), [["impact_pledges", "4"]]);
  assert.equal(read("woocommerce", body).content.payment, "paid");
});

// ---- After the order -------------------------------------------------------------------------------

/** Returns what the plugin prints about an order: on its page, and in both kinds of e-mail. */
async function printed(order) {
  const steps = [
    { do: "thanks", order },
    { do: "mail", order, plain: false },
    { do: "mail", order, plain: true },
  ];
  const texts = [];
  for (const step of steps) texts.push((await shop.send(step)).html);
  return texts;
}

forRows("thanks.json", async ({ settings, after, choice, status, text }) => {
  await set(settings);
  const { order } = await choose({ do: "order", form: { impact_pledges: choice } });
  await set({ ...settings, ...after });
  if (status) await shop.send({ do: "status", order: order.id, status });
  const expected =
    text === null
      ? ["", "", ""]
      : [`<p class="impact-pledge">${text}</p>`, `<p>${text}</p>`, `\n${text}\n`];
  assert.deepEqual(await printed(order.id), expected);
});

test("an order that does not exist has no text", async () => {
  assert.equal((await shop.send({ do: "thanks", order: 99 })).html, "");
});

// ---- Hostile texts ---------------------------------------------------------------------------------

/** Returns the elements and attributes of a page, without its texts and values. */
const elements = (html) =>
  (html.match(/<(?:"[^"]*"|[^">])*>/g) ?? []).map((tag) => tag.replace(/"[^"]*"/g, '""'));

/** Returns what all pages and e-mails print, with a text in each setting. */
async function pages(text) {
  await save({});
  await shop.send({ do: "webhook", values: { status: "disabled", delivery_url: text } });
  const htmls = [];
  for (const most of [1, 5]) {
    await set({ label: text, thanks: `${text}{number}`, price: "1", most });
    const { order } = await choose({ do: "order", form: { impact_pledges: "1" } });
    for (const what of ["screen", "notices", "checkout"])
      htmls.push((await shop.send({ do: what })).html);
    htmls.push(...(await printed(order.id)));
    htmls.push((await save({ form: { url: text, label: `a ${text}`, price: text } })).html);
  }
  return htmls;
}

forRows("hostile.json", async ({ text }) => {
  const benign = await pages("text");
  shop.empty();
  const hostile = await pages(text);
  assert.equal(hostile.length, 14);
  for (const [index, html] of hostile.entries())
    assert.deepEqual(elements(html), elements(benign[index]), html);
});

test("the check of hostile texts finds a new element and a new attribute", () => {
  const [plain, ...others] = ['<p title="a">a', '<p title="a"><b>', '<p title="" onclick="b">a'];
  for (const other of others) assert.notDeepEqual(elements(other), elements(plain));
});

// ---- Files -----------------------------------------------------------------------------------------

test("each file of the plugin exits if it is opened alone, and marks each text for translation", async () => {
  const files = readdirSync(PLUGIN).filter((name) => name.endsWith(".php"));
  assert.equal(files.length, 4);
  for (const name of files) {
    const code = readFileSync(join(PLUGIN, name), "utf8");
    assert.ok(code.includes("defined( 'ABSPATH' ) || exit;"), name);
    assert.equal(await shop.alone(name), "", name);
  }
});
