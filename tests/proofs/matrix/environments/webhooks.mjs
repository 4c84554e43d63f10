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

/**
 * A platform that sends webhooks.
 * @typedef {object} Sender
 * @property {string} name
 * @property {number} waitsMs how long it waits for an answer
 * @property {(number: number, changes?: object) => string} order returns the body for an order with this number
 * @property {(body: string, given?: {secret?: string, ageSeconds?: number}) => Record<string, string>} sign
 *   returns the headers that sign a body
 * @property {[reason: RegExp, body: string][]} unrecorded bodies that pledge nothing, each with a part of the answer
 * @property {[status: number, body: string, headers: Record<string, string>][]} others requests that are not those of an order
 */

/** A text that would forge a log line and clear the terminal. */
const FORGED = "#1\nFORGED\u001b[2J";
const UNREADABLE = /webhook refused as (unknown|noId)/;
const UNPAID = /^not pledged: /;
const hmac = (secret, text) => createHmac("sha256", secret).update(text);
const base64 =
  (header) =>
  (body, { secret = SECRET } = {}) => ({ [header]: hmac(secret, body).digest("base64") });

let deliveries = 0;
/** Returns the body of a Stripe event. Calls with the same number return different events of one checkout session. */
const stripeOrder = (number, changes = {}, type = "checkout.session.completed") =>
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
        customer_details: { email: "ada@example.org" },
        payment_status: "paid",
        ...changes,
      },
    },
  });
const stripeSign = (body, { secret = SECRET, ageSeconds = 0 } = {}) => {
  const time = Math.floor(Date.now() / 1000) - ageSeconds;
  return { "stripe-signature": `t=${time},v1=${hmac(secret, `${time}.${body}`).digest("hex")}` };
};

/** @type {Sender} */
const STRIPE = {
  name: "stripe",
  waitsMs: 10_000,
  order: stripeOrder,
  sign: stripeSign,
  unrecorded: [
    [UNPAID, stripeOrder(9, { payment_status: "unpaid" })],
    [UNPAID, stripeOrder(9, { payment_status: "no_payment_required" })],
    [UNPAID, stripeOrder(9, {}, "checkout.session.expired")],
    [UNPAID, stripeOrder(9, {}, "charge.refunded")],
    [UNREADABLE, stripeOrder(9, { payment_intent: null, id: `cs_${"9".repeat(300)}` })],
    [/recipient.email/, stripeOrder(9, { client_reference_id: FORGED, customer_details: {} })],
  ],
  others: [[401, stripeOrder(9), stripeSign(stripeOrder(9), { ageSeconds: 600 })]],
};

const shopifyOrder = (number, changes = {}) =>
  JSON.stringify({
    id: 5_000_000_000_000 + number,
    name: `order-${number}`,
    email: "ada@example.org",
    currency: "EUR",
    line_items: [{ id: 1, quantity: 3, title: "Coffee" }],
    test: true,
    financial_status: "paid",
    ...changes,
  });

/** @type {Sender} */
const SHOPIFY = {
  name: "shopify",
  waitsMs: 5_000,
  order: shopifyOrder,
  sign: base64("x-shopify-hmac-sha256"),
  unrecorded: [
    [UNPAID, shopifyOrder(9, { financial_status: "pending" })],
    [UNPAID, shopifyOrder(9, { cancelled_at: "2026-01-31T07:00:00-05:00" })],
    [UNPAID, JSON.stringify({ id: 1, order_id: 5_000_000_000_009, refund_line_items: [] })],
    [UNREADABLE, shopifyOrder(9, { id: "größe" })],
    [UNPAID, JSON.stringify({ id: 5_000_000_000_009 })], // a deleted order
    [/recipient.email/, shopifyOrder(9, { name: FORGED, email: null })],
  ],
  others: [],
};

const wooOrder = (number, changes = {}) =>
  JSON.stringify({
    id: number,
    number: `order-${number}`,
    status: "processing",
    currency: "EUR",
    billing: { email: "ada@example.org" },
    line_items: [{ id: 1, quantity: 3 }],
    ...changes,
  });

/** @type {Sender} */
const WOOCOMMERCE = {
  name: "woocommerce",
  waitsMs: 5_000,
  order: wooOrder,
  sign: base64("x-wc-webhook-signature"),
  unrecorded: [
    [UNPAID, wooOrder(9, { status: "pending" })],
    [UNPAID, wooOrder(9, { status: "refunded" })],
    [/recipient.email/, wooOrder(9, { number: FORGED, billing: { email: "ada@" } })],
  ],
  others: [
    [200, "webhook_id=7", {}], // the ping
    [401, "webhook_id=7&x=1", {}],
  ],
};

/**
 * A recipe that runs: `post` delivers a body and returns the status and the text of the answer, `log` returns what was logged.
 * @typedef {{post: (body: string, headers?: Record<string, string>) => Promise<[number, string]>, log: () => string}} Recipe
 * @typedef {Recipe & {send: (body: string, given?: object) => Promise<[number, string]>}} Shop `send` signs
 * @typedef {(env: Record<string, string>) => Promise<Recipe>} Start starts the recipe with these variables
 */

/** @param {Start} start @param {Sender} sender @returns {Promise<Shop>} */
async function startShop(start, { name, sign }, env) {
  const { post, log } = await start({ ...env, SYSTEM: name });
  return { post, log, send: (body, given) => post(body, sign(body, given)) };
}

/** @param {Start} start @param {Sender} sender */
async function mustAskForItsSecret(start, { name, order, sign }, env) {
  const unset = await start({ ...env, SYSTEM: name, WEBHOOK_SECRET: "" });
  const answer = await unset.post(order(1), sign(order(1)));
  assert.deepEqual(answer, [500, "set SYSTEM, SHOP, WEBHOOK_SECRET"]);
}

/** @param {Start} start @param {Sender} sender */
async function mustNotPledgeTests(start, sender, env) {
  const key = "service_sk_live_dev_unit";
  const live = await startShop(start, sender, { ...env, PLEDGE_API_KEY: key });
  assert.deepEqual(await live.send(sender.order(1)), [200, "not pledged: test"]);
}

/** @param {Shop} shop @param {Sender} sender */
async function mustRefuse({ post, send }, { order, sign, others }) {
  const status = async (answer) => (await answer)[0];
  assert.equal(await status(send(order(1), { secret: "whsec_other" })), 401);
  assert.equal(await status(post(order(1), sign(order(2)))), 401);
  assert.equal(await status(post(order(1))), 401);
  assert.equal(await status(send("x".repeat(1_048_577))), 413);
  for (const [expected, body, headers] of others)
    assert.equal(await status(post(body, headers)), expected, body);
}

/** @param {Shop} shop @param {Sender} sender @param {any} service */
async function mustRecordOnce({ send }, { order, unrecorded }, service) {
  const recorded = () => service.transactions().map(({ reference }) => reference);
  const sent = async (number, changes) => (await send(order(number, changes)))[0];

  const times = 3; // the client repeats a create twice
  service.fail({ operation: "create", status: 503, times });
  assert.equal(await sent(1), 500, "the service does not answer");
  assert.deepEqual(recorded(), []);
  for (const _ of [1, 2, 3]) assert.deepEqual(await send(order(1)), [200, "pledged"]);
  assert.deepEqual(recorded(), ["order-1"]);

  service.fail({ operation: "create", fault: "lost answer", times });
  assert.equal(await sent(2), 500, "recorded, but the answer is lost");
  assert.equal(await sent(2), 200);
  const number = { client_reference_id: "2b", name: "2b", number: "2b" }; // as each system calls it
  const [status, reason] = await send(order(2, number));
  assert.equal(status, 200, "the same order, changed since");
  assert.match(reason, /has already recorded a transaction with other content/);
  const race = await Promise.all([3, 3, 3, 3].map((each) => sent(each)));
  assert.deepEqual(race, [200, 200, 200, 200]);
  for (const [expected, body] of unrecorded) {
    const [status, reason] = await send(body);
    assert.equal(status, 200, body);
    assert.match(reason, expected);
  }
  assert.deepEqual(recorded().sort(), ["order-1", "order-2", "order-3"]);
}

/** @param {Shop} shop @param {Sender} sender @param {any} service */
async function mustAnswerInTime({ send }, { order, waitsMs }, service) {
  service.fail({ operation: "create", fault: "timeout", times: Number.POSITIVE_INFINITY });
  const start = performance.now();
  assert.equal((await send(order(4)))[0], 500, "the service never answers");
  assert.ok(performance.now() - start < waitsMs, "the sender still waits");
}

/** @param {any} transaction */
function mustBeOfTheOrder({ charge, pledges: [{ impact, recipient }, ...others] }) {
  assert.deepEqual(others, []);
  assert.deepEqual(impact, { amount: 1, offeringId: "tree" });
  assert.deepEqual([charge.amount, recipient.email], ["0.50", "ada@example.org"]);
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
  const env = {
    PLEDGE_API_KEY: "service_sk_test_dev_unit",
    PLEDGE_BASE_URL: origin,
    SHOP: "shop.example.org",
    WEBHOOK_SECRET: SECRET,
  };
  try {
    await mustAskForItsSecret(start, sender, env);
    if (sender === SHOPIFY) await mustNotPledgeTests(start, sender, env);
    const shop = await startShop(start, sender, env);
    await mustRefuse(shop, sender);
    await mustRecordOnce(shop, sender, service);
    for (const each of service.transactions()) mustBeOfTheOrder(each);
    const keys = service.requests().map(({ headers }) => headers["idempotency-key"]);
    assert.ok(keys.every((key) => key.startsWith(`${sender.name}:shop.example.org:`)));
    await mustAnswerInTime(shop, sender, service);
    await close();
    assert.equal((await shop.send(sender.order(5)))[0], 500, "the service cannot be reached");
    await until(() => shop.log().includes('"order":"order-5"'));
    const log = shop.log();
    assert.ok(!/^FORGED/m.test(log) && !log.includes("\u001b"), "a text ends no line of the log");
    assert.ok(!log.includes(SECRET) && !log.includes("service_sk"), "the log has no secret");
  } finally {
    await close();
  }
}

const webhook = (sender) => ({
  name: `recipe-orders-webhook-${sender.name}`,
  version: (workspace) => workspace.version("wrangler"),
  async run(workspace) {
    workspace.copyRecipe("orders-webhook");
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
      /** @type {Recipe["post"]} */
      const post = async (body, headers) => {
        const answer = await fetch(origin, { method: "POST", headers, body });
        return [answer.status, await answer.text()];
      };
      const { output } = workspace;
      return { post, log: () => output(200) };
    });
  },
});

export const SENDERS = [STRIPE, SHOPIFY, WOOCOMMERCE];

/** @type {import("../main.mjs").Environment[]} */
export const environments = SENDERS.map(webhook);
