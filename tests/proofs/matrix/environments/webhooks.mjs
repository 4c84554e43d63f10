/**
 * Tests the recipes for receiving webhooks against the test service of `impact-pledge/testing`. No pledge may
 * be lost or recorded twice.
 */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { onLoopback } from "../../../support/loopback.mjs";
import { until } from "../../../support/until.mjs";
import { SERVE, mustPin } from "./recipes.mjs";

const SECRET = "whsec_matrix";
/** A text that would forge a log line and clear the terminal. */
const FORGED = "#1\nFORGED\u001b[2J";
const hmac = (secret, text) => createHmac("sha256", secret).update(text);

/**
 * A platform that sends webhooks.
 * @typedef {object} Sender
 * @property {string} name
 * @property {string} setting
 * @property {number} waitsMs how long it waits for an answer
 * @property {(number: number, trees?: number, changes?: object) => string} order returns the body for an
 *   order with this number and this many trees
 * @property {(body: string, given?: {secret?: string, ageSeconds?: number}) => Record<string, string>} sign
 *   returns the headers that sign a body
 * @property {[status: number, body: string, given?: {ageSeconds?: number}][]} unrecorded bodies that pledge
 *   nothing, each with the expected status
 */

let deliveries = 0;
/**
 * Returns the body of a Stripe event about an order. Calls with the same order number return different events
 * of one checkout session.
 * @returns {string} JSON
 */
const stripeOrder = (number, trees = 3, changes = {}, type = "checkout.session.completed") =>
  JSON.stringify({
    id: `evt_${++deliveries}`,
    object: "event",
    type,
    data: {
      object: {
        id: `cs_${number}`,
        payment_intent: `pi_${number}`,
        object: "checkout.session",
        currency: "eur",
        client_reference_id: `order-${number}`,
        created: 1_769_860_800,
        customer_details: { email: "ada@example.org", name: "Ada" },
        metadata: { trees: String(trees) },
        payment_status: "paid",
        ...changes,
      },
    },
  });

/** @type {Sender} */
const STRIPE = {
  name: "stripe",
  setting: "STRIPE_WEBHOOK_SECRET",
  waitsMs: 10_000,
  order: stripeOrder,
  sign(body, { secret = SECRET, ageSeconds = 0 } = {}) {
    const time = Math.floor(Date.now() / 1000) - ageSeconds;
    return { "stripe-signature": `t=${time},v1=${hmac(secret, `${time}.${body}`).digest("hex")}` };
  },
  unrecorded: [
    [200, stripeOrder(9, 3, { payment_status: "unpaid" })],
    [200, stripeOrder(9, 3, { payment_status: "no_payment_required" })],
    [200, stripeOrder(9, 3, { metadata: {} })],
    [200, stripeOrder(9, 0)],
    [200, stripeOrder(9, 3, {}, "checkout.session.expired")],
    [200, stripeOrder(9, 3, {}, "charge.refunded")],
    [200, stripeOrder(9, 3, { currency: null, mode: "setup" })],
    [401, stripeOrder(9), { ageSeconds: 600 }],
    [200, stripeOrder(9, 3, { metadata: { trees: "many" } })], // refused by the rules, however often it comes
    [200, stripeOrder(9, 3, { payment_intent: null, id: `cs_${"9".repeat(300)}` })], // no ID, however often it comes
    [200, stripeOrder(9, 3, { client_reference_id: FORGED, customer_details: { email: "ada@" } })],
  ],
};

const shopifyOrder = (number, trees = 3, changes = {}) =>
  JSON.stringify({
    id: 5_000_000_000_000 + number,
    name: `order-${number}`,
    email: "ada@example.org",
    currency: "EUR",
    customer: { first_name: "Ada" },
    line_items: [
      { id: 1, quantity: trees, sku: null, title: "Coffee" },
      { id: 2, quantity: 0, sku: "tea", title: "Tea" },
      { id: 3, quantity: 2, current_quantity: 0, sku: "mug", title: "A mug, removed since" },
      { id: 4, quantity: 1, gift_card: true, sku: null, title: "A gift card" },
    ],
    refunds: [
      { id: 1, refund_line_items: [{ line_item_id: 3, quantity: 1 }], transactions: [] },
      { id: 2, refund_line_items: [{ line_item_id: 3, quantity: 1 }], transactions: [] },
    ],
    processed_at: "2026-01-31T07:00:00-05:00",
    test: true,
    financial_status: "paid",
    cancelled_at: null,
    ...changes,
  });

/** @type {Sender} */
const SHOPIFY = {
  name: "shopify",
  setting: "SHOPIFY_WEBHOOK_SECRET",
  waitsMs: 5_000,
  order: shopifyOrder,
  sign: (body, { secret = SECRET } = {}) => ({
    "x-shopify-hmac-sha256": hmac(secret, body).digest("base64"),
    "x-shopify-topic": "orders/paid", // this header is not signed
  }),
  unrecorded: [
    [200, shopifyOrder(9, 3, { email: null })],
    [200, shopifyOrder(9, 0)],
    [200, shopifyOrder(9, 3, { email: "ada@" })], // refused by the rules, however often it comes
    [200, shopifyOrder(9, 3, { id: "größe" })], // no idempotency key, however often it comes
    [200, shopifyOrder(9, 3, { financial_status: "pending" })],
    [200, shopifyOrder(9, 3, { cancelled_at: "2026-01-31T07:00:00-05:00" })],
    [200, JSON.stringify({ id: 5_000_000_000_009 })], // the body of another topic
    [200, JSON.stringify({ id: 1, order_id: 5_000_000_000_009, refund_line_items: [] })],
    [200, shopifyOrder(9, 3, { name: FORGED, email: "ada@" })],
  ],
};

/**
 * A recipe that runs: `post` delivers a body and returns the status, `log` returns what was logged.
 * @typedef {{post: (body: string, headers?: Record<string, string>) => Promise<number>, log: () => string}} Recipe
 * @typedef {Recipe & {send: (body: string, given?: object) => Promise<number>}} Shop `send` signs
 * @typedef {(env: Record<string, string>) => Promise<Recipe>} Start starts the recipe with these variables
 */

/** @param {Start} start @param {Sender} sender @returns {Promise<Shop>} */
async function startShop(start, { setting, order, sign }, service) {
  const env = {
    PLEDGE_API_KEY: "service_sk_test_dev_unit",
    PLEDGE_BASE_URL: service,
    PLEDGE_OFFERING_ID: "tree",
    SHOP: "shop.example.org",
    [setting]: SECRET,
  };
  const unset = await start({ ...env, [setting]: "" });
  assert.equal(await unset.post(order(1), sign(order(1))), 500);
  await until(() => unset.log().includes(`set ${setting}`));
  const { post, log } = await start(env);
  return { post, log, send: (body, given) => post(body, sign(body, given)) };
}

/** @param {Shop} shop @param {Sender} sender */
async function mustRefuse({ post, send }, { order, sign }) {
  assert.equal(await send(order(1), { secret: "whsec_other" }), 401);
  assert.equal(await post(order(1), sign(order(2))), 401);
  assert.equal(await post(order(1)), 401);
  assert.equal(await send("x".repeat(5_000_000)), 413);
}

/** @param {Shop} shop @param {Sender} sender @param {any} service */
async function mustRecordOnce({ send }, { order, unrecorded }, service) {
  const recorded = () => service.transactions().map(({ reference }) => reference);

  const times = 3; // the client repeats a create twice
  service.fail({ operation: "create", status: 503, times });
  assert.equal(await send(order(1)), 500, "the service does not answer");
  assert.deepEqual(recorded(), []);
  for (const _ of [1, 2, 3]) assert.equal(await send(order(1)), 200);
  assert.deepEqual(recorded(), ["order-1"]);

  service.fail({ operation: "create", fault: "lost answer", times });
  assert.equal(await send(order(2)), 500, "recorded, but the answer is lost");
  assert.equal(await send(order(2)), 200);
  assert.equal(await send(order(2, 7)), 200, "the same order, changed since");
  const race = await Promise.all([3, 3, 3, 3].map((number) => send(order(number))));
  assert.deepEqual(race, [200, 200, 200, 200]);
  for (const [status, body, given] of unrecorded)
    assert.equal(await send(body, given), status, body);
  assert.deepEqual(recorded().sort(), ["order-1", "order-2", "order-3"]);
}

/** @param {Shop} shop @param {Sender} sender @param {any} service */
async function mustAnswerInTime({ send }, { order, waitsMs }, service) {
  service.fail({ operation: "create", fault: "timeout", times: Number.POSITIVE_INFINITY });
  const start = performance.now();
  assert.equal(await send(order(4)), 500, "the service never answers");
  assert.ok(performance.now() - start < waitsMs, "the sender still waits");
}

/** @param {any} transaction */
function mustBeOfTheOrder({ charge, pledges: [{ impact, recipient }, ...others], notifications }) {
  assert.deepEqual(others, []);
  assert.deepEqual(impact, { amount: 3, offeringId: "tree" });
  assert.deepEqual([charge.amount, recipient.email], ["1.50", "ada@example.org"]);
  assert.deepEqual(notifications, [{ type: "Email", status: "Pending" }]);
}

/**
 * Delivers webhooks to a recipe, while the test service fails, loses an answer, or is down.
 * @param {Sender} sender
 * @param {{createTestService: any}} testing `impact-pledge/testing`
 * @param {Start} start
 */
export async function mustReceive(sender, { createTestService }, start) {
  const service = createTestService();
  const { origin, close } = await onLoopback(createServer(service.handler));
  try {
    const shop = await startShop(start, sender, origin);
    await mustRefuse(shop, sender);
    await mustRecordOnce(shop, sender, service);
    for (const each of service.transactions()) mustBeOfTheOrder(each);
    const keys = service.requests().map(({ headers }) => headers["idempotency-key"]);
    assert.ok(keys.every((key) => key.startsWith(`${sender.name}:shop.example.org:`)));
    await mustAnswerInTime(shop, sender, service);
    await close();
    assert.equal(await shop.send(sender.order(5)), 500, "the service cannot be reached");
    await until(() => shop.log().includes('"order":"order-5"'));
    const log = shop.log();
    assert.match(log, /has already recorded a transaction with other content/);
    assert.ok(!/^FORGED/m.test(log) && !log.includes("\u001b"), "a text ends no line of the log");
    assert.ok(!log.includes(SECRET) && !log.includes("service_sk"), "the log has no secret");
  } finally {
    await close();
  }
}

const webhook = (sender) => ({
  name: `recipe-${sender.name}-webhook`,
  version: (workspace) => workspace.version("wrangler"),
  async run(workspace) {
    workspace.copyRecipe(`${sender.name}-webhook`);
    mustPin(workspace);
    await workspace.node("npm run build --silent");
    const installed = join(workspace.folder, "..", "node_modules", "impact-pledge");
    const testing = await import(pathToFileURL(join(installed, "testing.js")).href);
    await mustReceive(sender, testing, async (env) => {
      const lines = Object.entries(env).map(([name, value]) => `${name}=${value}\n`);
      workspace.write(".dev.vars", lines.join(""));
      const origin = await workspace.start(
        `${SERVE} -- --ip 127.0.0.1 --port PORT --inspector-port 0 --show-interactive-dev-session=false`,
      );
      const post = async (body, headers) =>
        (await fetch(origin, { method: "POST", headers, body })).status;
      const { output } = workspace;
      return { post, log: () => output(200) };
    });
  },
});

export const SENDERS = [STRIPE, SHOPIFY];

/** @type {import("../main.mjs").Environment[]} */
export const environments = SENDERS.map(webhook);
