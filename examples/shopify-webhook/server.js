import { createServer } from "node:http";
import { IdempotencyKeyReusedError, PledgeClient, ValidationError } from "impact-pledge";
import { OrderError, read, verify } from "impact-pledge/orders";

const { SHOPIFY_WEBHOOK_SECRET, PLEDGE_OFFERING_ID, SHOP, PORT = "3000" } = process.env;
if (!SHOPIFY_WEBHOOK_SECRET || !PLEDGE_OFFERING_ID || !SHOP)
  throw new Error("set SHOPIFY_WEBHOOK_SECRET, PLEDGE_OFFERING_ID and SHOP");
const client = PledgeClient.fromEnv({ deadlineMs: 4_000 }); // Shopify waits for 5 seconds
const isLive = process.env.PLEDGE_API_KEY.startsWith("service_sk_live");
const PATH = "/webhooks/shopify";
const MAX_BYTES = 4_194_304;
const FINAL = [IdempotencyKeyReusedError, ValidationError, OrderError];

/** Returns a status: 200 if the pledge is recorded or never can be. For any other, Shopify retries for 4 hours. */
async function statusFor(request) {
  if (request.method !== "POST" || request.url !== PATH) return 404;
  const body = await bytesOf(request);
  if (body === null) return 413;
  try {
    await verify("shopify", request.headers, body, SHOPIFY_WEBHOOK_SECRET);
  } catch (error) {
    log({ refused: error.message });
    return 401;
  }
  let order;
  try {
    const { event, content } = read("shopify", body);
    if (event === "order") order = content;
    if (order?.payment === "paid" && !(order.isTest && isLive)) await pledge(order);
    else if (order) log({ order: order.number, payment: order.payment, isTest: order.isTest });
  } catch (error) {
    if (!FINAL.some((type) => error instanceof type)) throw error;
    log({ order: order?.number, reason: error.message });
  }
  return 200;
}

/** Records a tree for each article. All events of an order have the same idempotency key, so they record one pledge. */
const pledge = (order) =>
  client.createPledgeTransaction(
    {
      reference: order.number,
      recipient: { email: order.email, firstName: order.firstName },
      pledges: bought(order).map(({ title, sku, amount }) => ({
        impact: { amount, offeringId: PLEDGE_OFFERING_ID },
        detail: { name: title, nounSingular: "tree", nounPlural: "trees", externalId: sku },
      })),
      trigger: { date: order.created, phrase: "placed an order" },
      notifications: ["Email"], // with the timeline's link: no shopper sees this answer
    },
    { idempotencyKey: `shopify:${SHOP}:${order.id}` },
  );

/** Returns the articles without gift cards, each with the amount that was not removed from the order or refunded. */
function bought({ lines = [], refunds = [] }) {
  const back = refunds.flatMap((refund) => refund.lines ?? []);
  const backOf = (id) => back.reduce((sum, [line, part]) => sum + (line === id ? +part : 0), 0);
  return lines
    .map((line) => ({ ...line, amount: Number(line.quantity) - backOf(line.id) }))
    .filter(({ kind, amount }) => kind === "goods" && amount > 0);
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

/** Logs as JSON, so that a line break in an order cannot forge a log line. */
const log = (line) => console.log(JSON.stringify(line));

const times = { requestTimeout: 10_000, connectionsCheckingInterval: 1_000 };
const server = createServer(times, async (request, response) => {
  const status = await statusFor(request).catch((error) => {
    console.error(error);
    return 500;
  });
  response.writeHead(status).end();
});
server.listen(Number(PORT), "127.0.0.1", () => console.log(`http://127.0.0.1:${PORT}${PATH}`));
