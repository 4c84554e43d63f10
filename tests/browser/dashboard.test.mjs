/** Tests the dashboard in Chromium on a phone's screen: each page, and its use by keyboard. */
import assert from "node:assert/strict";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { startDashboard } from "../server/dashboard-worker.mjs";
import { accessibilityNodes, axeFindings, openPage, useBrowser } from "./chromium.mjs";
import { MONTH, writeDemo } from "./demo.mjs";
import { find, reachesEveryControl, send } from "./keyboard.mjs";

useBrowser();

const OPERATOR = "operator@small-hours.example";
const PHONE = { width: 390, height: 740 };

let dashboard, origin;
before(async () => {
  const main = join("tests", "server", "dashboard-stand-ins.mjs");
  const vars = { OPERATORS: OPERATOR };
  dashboard = await startDashboard({ main, email: OPERATOR, vars, hasPictures: true });
  ({ origin } = dashboard);
  await writeDemo(dashboard);
});
after(() => dashboard?.close());

/**
 * Asserts that nothing is wrong with a page:
 * - It has this text, fits a phone's screen, and loads nothing but itself.
 * - axe finds no problem in the light and in the dark colour scheme.
 * - Each control has a name, and the Tab key reaches it.
 */
async function isSound(t, path, text, { email = OPERATOR, ...options } = {}) {
  // With JavaScript, because axe needs it.
  const page = await openPage(t, { viewport: PHONE, isShared: true, ...options });
  await page.setExtraHTTPHeaders({ "x-access": email });
  const loaded = [];
  const note = (request) => loaded.push(request.url());
  page.on("request", note);
  await page.goto(origin + path);
  page.off("request", note);
  assert.ok((await page.innerText("main")).includes(text));
  await page.emulateMedia({ colorScheme: "dark" });
  assert.deepEqual(await axeFindings(page, ["color-contrast"]), [], "dark");
  await page.emulateMedia({ colorScheme: "light" });
  assert.deepEqual(await axeFindings(page), []);
  const width = await page.evaluate(() => document.scrollingElement.scrollWidth);
  assert.ok(width <= PHONE.width, `${width} px in ${PHONE.width}`);
  assert.deepEqual(loaded, [origin + path]);
  const controls = (await accessibilityNodes(page)).filter(({ states }) => states.focusable);
  const nameless = ({ role, name }) => !name && role !== "alert"; // its text is read out at once
  assert.deepEqual(controls.filter(nameless), []);
  await reachesEveryControl(page);
}

const OF_UNIT = "/units/unit_dev/payments?mode=live";
for (const [path, text] of Object.entries({
  "/": "To do",
  "/find": "What are you looking for?",
  "/units": "Harbour Bakery",
  "/units/unit_dev": "Create a key",
  "/units/unit_dev/people": "Add a person",
  "/prices?unit=unit_dev": "no price list of its own",
  "/payments?month=tomorrow": "Enter the month in the form",
  "/teams": "team_market",
  "/teams/team_dev": "unit_dev_two",
  "/prices": "plastic-kg",
  [OF_UNIT]: "Complete up to",
  "/orders": "Older",
  "/orders?unit=unit_dev&state=unpriced": "unpriced pledges",
  "/orders?state=unpaid&rows=50": "not marked as paid",
  "/orders?least=5": "at most 31 days apart",
  [`/payments?month=${MONTH}&state=all`]: "Small Hours Coffee",
  "/payments?state=all": "Statement",
  [`/units/unit_dev/statement?month=${MONTH}`]: "Unit price",
  [`/fulfilment?month=${MONTH}`]: "plastic-kg",
  [`/fulfilment/shops?month=${MONTH}&offering=tree`]: "Download CSV",
  [`/updates?month=${MONTH}`]: "Upload a picture",
  "/mails": "Failed",
  "/audit": "as paid",
  "/notices": "Problem of the ledger",
  "/system": "Limits",
  "/person": "E-mail address",
}))
  test(`${path}: nothing is wrong`, (t) =>
    isSound(t, path, text, { expected: /status of 422|does not conform/ }));

const MANAGER = "manager@small-hours.example";
const VIEWER = "viewer@small-hours.example";
for (const [email, path, text] of [
  [MANAGER, "/", "Your shop"],
  [MANAGER, "/orders", "of your units"],
  [MANAGER, "/units/unit_dev", "Create a key"],
  [MANAGER, "/units/unit_dev/people", VIEWER],
  [MANAGER, OF_UNIT, "Complete up to"],
  [VIEWER, "/", "Your shop"],
  [VIEWER, "/notices", "Statement"],
  [VIEWER, "/units/unit_dev", "How the shop looks"],
  [VIEWER, `/units/unit_dev/statement?month=${MONTH}`, "Unit price"],
])
  test(`${path} as ${email}: nothing is wrong`, (t) => isSound(t, path, text, { email }));

test("an address without a page: nothing is wrong", (t) =>
  isSound(t, "/nothing", "No page has this address", { expected: /status of 404/ }));

/** Opens a page without JavaScript, for use by keyboard. */
async function open(t, path) {
  const page = await openPage(t, { viewport: PHONE, javaScriptEnabled: false });
  await page.goto(origin + path);
  return page;
}

test("by keyboard: a transaction is found by its reference", async (t) => {
  const page = await open(t, "/");
  await find(page, "SH-1001");
  assert.match(await page.innerText("main"), /SH-1001.*a…@e….*Charged by the price list of/s);
  await isSound(t, new URL(page.url()).pathname, "SH-1001");
});

test("by keyboard: the page of older transactions, and back", async (t) => {
  const page = await open(t, "/orders");
  const first = await page.innerText("main .table a");
  await send(page, {}, "main a[rel=next]");
  assert.notEqual(await page.innerText("main .table a"), first);
  await isSound(t, new URL(page.url()).pathname + new URL(page.url()).search, "Newer");
  await send(page, {}, "main a[rel=prev]");
  assert.equal(await page.innerText("main .table a"), first);
});

test("by keyboard: a key is created, and shown once", async (t) => {
  const page = await open(t, "/units/unit_dev");
  await send(page, { mode: "Live", label: "canary" }, "form[action='/keys'] button");
  const KEY = /service_sk_live_\w{20,}/;
  assert.match(await page.innerText("main"), KEY);
  await send(page, {}, "main > p a");
  assert.doesNotMatch(await page.content(), KEY);
});

/** An Exif segment that says that a photo is to be turned by a quarter. */
const TURNED = Buffer.from(
  "ffe100224578696600004d4d002a00000008000101120003000000010006000000000000",
  "hex",
);

/** Returns a picture of 40 × 30 pixels that the browser has encoded. */
async function encoded(page, type) {
  const url = await page.evaluate((type) => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 40, height: 30 });
    canvas.getContext("2d").fillRect(5, 5, 20, 10);
    return canvas.toDataURL(type, 0.8);
  }, type);
  const bytes = Buffer.from(url.split(",")[1], "base64");
  assert.ok(url.startsWith(`data:${type}`));
  if (type !== "image/jpeg") return bytes;
  return Buffer.concat([bytes.subarray(0, 2), TURNED, bytes.subarray(2)]);
}

for (const [type, size] of /** @type {[string, number[]][]} */ ([
  ["image/jpeg", [30, 40]],
  ["image/png", [40, 30]],
  ["image/webp", [40, 30]],
]))
  test(`${type}: a picture is chosen, sent without JavaScript, and still a picture`, async (t) => {
    const artist = await openPage(t);
    const buffer = await encoded(artist, type);
    const page = await open(t, `/updates?month=${MONTH}`);
    await page.selectOption("#offering", "tree").catch(() => page.fill("#offering", "tree"));
    await page.fill("#date", `${MONTH}-20`);
    await page.fill('[name="text-en"]', "The seedlings stand in rows.");
    await page.fill("#picture-text", "Seedlings");
    await page.setInputFiles("#picture-file", { name: "photo", mimeType: "text/html", buffer });
    await send(page, {}, "form[action='/updates'] button:not([formaction])");
    assert.match(await page.innerText("main"), /The draft was saved/);
    const { objects } = await dashboard.pictures.list();
    const [{ key }] = objects.filter((object) =>
      object.key.endsWith(`.${type === "image/jpeg" ? "jpg" : type.slice("image/".length)}`),
    );
    const stored = Buffer.from(await (await dashboard.pictures.get(key)).arrayBuffer());
    assert.ok(stored.length <= buffer.length);
    const shown = await artist.evaluate(
      async ([src, type]) => {
        const image = Object.assign(new Image(), { src: `data:${type};base64,${src}` });
        await image.decode();
        return [image.naturalWidth, image.naturalHeight];
      },
      [stored.toString("base64"), type],
    );
    assert.deepEqual(shown, size);
  });
