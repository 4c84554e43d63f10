import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import { IdempotencyKeyReusedError, PledgeClient, ValidationError } from "impact-pledge";

const [secret, offeringId, shop] = ["SHOPIFY_WEBHOOK_SECRET", "PLEDGE_OFFERING_ID", "SHOP"].map(
  setting,
);
const { PLEDGE_API_KEY, PORT = "3000" } = process.env;
const client = PledgeClient.fromEnv({ deadlineMs: 4_000 }); // Shopify waits for 5 seconds

const PATH = "/webhooks/shopify";
const MAX_BYTES = 4_194_304;

/** Returns a status: 200 if the pledge is recorded or never can be. For any other, Shopify retries for 4 hours. */
async function statusFor(request) {
  if (request.method !== "POST" || request.url !== PATH) return 404;
  const body = await bytesOf(request);
  if (body === null) return 413;
  if (!isSigned(body, request.headers["x-shopify-hmac-sha256"])) return 401;
  const order = JSON.parse(body);
  const reason = whyNot(order);
  if (reason) log(order, reason);
  else await pledgeFor(order);
  return 200;
}

/** Returns the raw body, which Shopify has signed; `null` if it is too large. */
async function bytesOf(request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length <= MAX_BYTES) chunks.push(chunk);
  }
  return length > MAX_BYTES ? null : Buffer.concat(chunks);
}

/** Whether Shopify signed the body. The signature has no time, so an old order is accepted: it is recorded only once. */
function isSigned(body, signature = "") {
  const expected = createHmac("sha256", secret).update(body).digest();
  const given = Buffer.from(signature, "base64");
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Returns why an order has no pledge, or `undefined`. Reads only the signed body: the topic header is not signed. */
function whyNot({ email, line_items, test, financial_status, cancelled_at }) {
  if (financial_status !== "paid" || cancelled_at) return "it is not an order that is paid";
  if (!email) return "there is no address to send a timeline to";
  if (!line_items.some(isBought)) return "nothing was bought";
  if (test && PLEDGE_API_KEY.startsWith("service_sk_live")) return "a test order, but a live key";
}

/**
 * Records the pledge. All events of an order have the same idempotency key, so they record one pledge. Order IDs are unique
 * only within a shop.
 */
async function pledgeFor(order) {
  const idempotencyKey = `shopify:${shop}:${order.id}`;
  try {
    await client.createPledgeTransaction(payloadOf(order), { idempotencyKey });
  } catch (error) {
    const reason = finalReason(error);
    if (!reason) throw error;
    log(order, reason);
  }
}

/**
 * Returns why a retry cannot help, or `undefined`. Shopify removes a subscription that keeps failing, and then no order
 * arrives.
 */
function finalReason(error) {
  if (error instanceof IdempotencyKeyReusedError)
    return "it was recorded before, and has changed since: do not pledge it again";
  if (error instanceof ValidationError || error.code === "invalid_argument")
    return `it is not recorded: ${error.message}`;
}

/** Returns how many of an article the order has now: an edit of the order changes `current_quantity` only. */
const quantityOf = ({ current_quantity, quantity }) => current_quantity ?? quantity;

/** Whether an article gets trees. A gift card is money: the order that it pays for gets them. */
const isBought = (item) => quantityOf(item) > 0 && !item.gift_card;

/** Returns a payload with a tree for each article. */
const payloadOf = ({ name, email, customer, line_items, processed_at }) => ({
  reference: name,
  recipient: { email, firstName: customer?.first_name ?? undefined },
  pledges: line_items.filter(isBought).map((item) => ({
    impact: { amount: quantityOf(item), offeringId },
    detail: {
      name: item.title,
      nounSingular: "tree",
      nounPlural: "trees",
      externalId: item.sku ?? undefined,
    },
  })),
  trigger: { date: processed_at ?? undefined, phrase: "placed an order" },
  notifications: ["Email"], // with the timeline's link: no shopper sees this answer
});

/** Logs as JSON, so that a line break in an order cannot forge a log line. */
const log = ({ name }, reason) => console.log(JSON.stringify({ order: name, reason }));

function setting(name) {
  const value = process.env[name];
  if (!value) throw new Error(`set ${name}`);
  return value;
}

const times = { requestTimeout: 10_000, connectionsCheckingInterval: 1_000 };

const server = createServer(times, async (request, response) => {
  const status = await statusFor(request).catch((error) => {
    console.error(error);
    return 500;
  });
  response.writeHead(status).end();
});

server.listen(Number(PORT), "127.0.0.1", () => console.log(`http://127.0.0.1:${PORT}${PATH}`));
