import { sValidator } from "@hono/standard-validator";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { timeout } from "hono/timeout";
import { PledgeClient, createPledgeTransactionSchema } from "impact-pledge";

const app = new Hono();

const refuse = (issues, c) => c.json({ message: "The order has problems.", issues }, 422);

/** Accepts JSON of up to 64 KiB within 30 seconds. A page of another site cannot send JSON, unless CORS allows it. */
const valid = [
  timeout(30_000),
  bodyLimit({ maxSize: 65_536 }),
  sValidator("json", createPledgeTransactionSchema, ({ error }, c) => error && refuse(error, c)),
];

app.post("/orders", ...valid, async (c) => {
  const { recipient, pledges } = c.req.valid("json");
  const { amount } = pledges[0].impact;
  const issues = offerIssues(amount);
  if (issues.length > 0) return refuse(issues, c);
  // Reads PLEDGE_API_KEY and PLEDGE_BASE_URL from `env`. Without a binding PLEDGES, `fetch` is the platform's.
  const client = PledgeClient.fromEnv({ fetch: c.env.PLEDGES, retryCreates: true }, c.env);
  const created = client.createPledgeTransaction(orderOf(recipient, amount));
  // If the shopper leaves the page, the request ends. The order stays, so its pledges must still be recorded.
  c.executionCtx.waitUntil(created.catch(() => {}));
  const { id, timelineUrl } = await created;
  return c.json({ id, timelineUrl });
});

/** Returns the issues of an amount that this shop does not offer: it offers up to 100 whole trees. */
function offerIssues(amount) {
  if (Number.isInteger(amount) && amount <= 100) return [];
  return [{ path: ["pledges", 0, "impact", "amount"], message: "Choose 1 to 100 whole trees" }];
}

/** Returns the shop's own order. It takes only the number of trees and the recipient from the page. */
const orderOf = (recipient, amount) => ({
  reference: "order-1001", // your shop's number of this order
  recipient,
  pledges: [{ impact: { amount, offeringId: "tree" } }],
});

app.onError((error, c) => {
  if ("getResponse" in error) return error.getResponse(); // Hono's own, such as for a body that is not JSON
  console.error(error);
  return c.json(
    { message: "Your order could not be confirmed. Please contact us before you order again." },
    502,
  );
});

export default app;
