import { createServer } from "node:http";
import { IdempotencyKeyReusedError, PledgeClient, ValidationError } from "impact-pledge";
import Stripe from "stripe";

const [secret, offeringId, shop] = ["STRIPE_WEBHOOK_SECRET", "PLEDGE_OFFERING_ID", "SHOP"].map(
  setting,
);
const { PORT = "3000" } = process.env;
const client = PledgeClient.fromEnv({ deadlineMs: 8_000 }); // Stripe waits longer than this

const PATH = "/webhooks/stripe";
const MAX_BYTES = 1_048_576;
const PAID = new Set(["checkout.session.completed", "checkout.session.async_payment_succeeded"]);

/** Returns a status: 200 if the pledge is recorded or never can be. For any other, Stripe retries for days. */
async function statusFor(request) {
  if (request.method !== "POST" || request.url !== PATH) return 404;
  const body = await bytesOf(request);
  if (body === null) return 413;
  const event = verified(body, request.headers["stripe-signature"]);
  if (event === null) return 400;
  const session = event.data.object;
  if (isPaid(event) && treesOf(session) !== 0) await pledgeFor(session);
  return 200;
}

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

/** Returns the event; `null` unless Stripe signed it with the secret of this endpoint in the last 5 minutes. */
function verified(body, signature) {
  try {
    return Stripe.webhooks.constructEvent(body, signature, secret);
  } catch (error) {
    log(null, `an event is refused: ${error.message}`);
    return null;
  }
}

/** Whether the session is paid. It may be completed before its payment arrives; then a second event follows. */
const isPaid = ({ type, data }) => PAID.has(type) && data.object.payment_status !== "unpaid";

/** Records the pledge. All events of a session have the same idempotency key, so they record one pledge. */
async function pledgeFor(session) {
  const idempotencyKey = `stripe:${shop}:${session.id}`;
  try {
    await client.createPledgeTransaction(payloadOf(session), { idempotencyKey });
  } catch (error) {
    const reason = finalReason(error);
    if (!reason) throw error;
    log(session, reason);
  }
}

/** Returns why a retry cannot help, or `undefined`. Stripe may disable an endpoint that keeps failing. */
function finalReason(error) {
  if (error instanceof IdempotencyKeyReusedError)
    return "it was recorded before, and has changed since: do not pledge it again";
  if (error instanceof ValidationError || error.code === "invalid_argument")
    return `it is not recorded: ${error.message}`;
}

/** Returns the number that the shop put into the metadata when it created the session. */
const treesOf = ({ metadata }) => Number(metadata?.trees ?? 0);

const payloadOf = (session) => ({
  reference: session.client_reference_id ?? session.id,
  recipient: {
    email: session.customer_details?.email,
    name: session.customer_details?.name ?? undefined,
  },
  pledges: [
    {
      impact: { amount: treesOf(session), offeringId },
      detail: { nounSingular: "tree", nounPlural: "trees" },
    },
  ],
  trigger: { date: new Date(session.created * 1000).toISOString(), phrase: "placed an order" },
  notifications: ["Email"], // with the timeline's link: no shopper sees this answer
});

/** Logs as JSON, so that a line break in an event cannot forge a log line. */
const log = (session, reason) => console.log(JSON.stringify({ session: session?.id, reason }));

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
