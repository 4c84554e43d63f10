import { createServer } from "node:http";
import { IdempotencyKeyReusedError, PledgeClient, ValidationError } from "impact-pledge";
import { OrderError, read, verify } from "impact-pledge/orders";

const { STRIPE_WEBHOOK_SECRET, PLEDGE_OFFERING_ID, SHOP, PORT = "3000" } = process.env;
if (!STRIPE_WEBHOOK_SECRET || !PLEDGE_OFFERING_ID || !SHOP)
  throw new Error("set STRIPE_WEBHOOK_SECRET, PLEDGE_OFFERING_ID and SHOP");
const client = PledgeClient.fromEnv({ deadlineMs: 8_000 }); // Stripe waits longer than this
const PATH = "/webhooks/stripe";
const MAX_BYTES = 1_048_576;
const FINAL = [IdempotencyKeyReusedError, ValidationError, OrderError];

/** Returns a status: 200 if the pledge is recorded or never can be. For any other, Stripe retries for days. */
async function statusFor(request) {
  if (request.method !== "POST" || request.url !== PATH) return 404;
  const body = await bytesOf(request);
  if (body === null) return 413;
  try {
    await verify("stripe", request.headers, body, STRIPE_WEBHOOK_SECRET);
  } catch (error) {
    log({ refused: error.message });
    return 401;
  }
  let order;
  try {
    const { event, content } = read("stripe", body);
    if (event === "order") order = content;
    if (order?.payment === "paid" && treesOf(order) !== 0) await pledge(order);
  } catch (error) {
    if (!FINAL.some((type) => error instanceof type)) throw error;
    log({ order: order?.number, reason: error.message });
  }
  return 200;
}

/** Records the pledge. All events of a payment have the same idempotency key, so they record one pledge. */
const pledge = (order) =>
  client.createPledgeTransaction(
    {
      reference: order.number,
      recipient: { email: order.email, name: order.name },
      pledges: [
        {
          impact: { amount: treesOf(order), offeringId: PLEDGE_OFFERING_ID },
          detail: { nounSingular: "tree", nounPlural: "trees" },
        },
      ],
      trigger: { date: order.created, phrase: "placed an order" },
      notifications: ["Email"], // with the timeline's link: no shopper sees this answer
    },
    { idempotencyKey: `stripe:${SHOP}:${order.id}` },
  );

/** Returns the number that the shop put into the metadata when it created the session. */
const treesOf = ({ attributes = [] }) => Number(Object.fromEntries(attributes).trees ?? 0);

/** Returns the raw body, which Stripe has signed; `null` if it is too large. */
async function bytesOf(request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length <= MAX_BYTES) chunks.push(chunk);
  }
  return length > MAX_BYTES ? null : Buffer.concat(chunks);
}

/** Logs as JSON, so that a line break in an event cannot forge a log line. */
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
