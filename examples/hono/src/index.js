import { sValidator } from "@hono/standard-validator";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { timeout } from "hono/timeout";
import { PledgeClient, createPledgeTransactionSchema } from "impact-pledge";

const app = new Hono();

const refuse = (issues, c) => c.json({ message: "The order has problems.", issues }, 422);

/** An order is JSON of up to 64 KiB within 30 seconds. A page of another site cannot send JSON, unless CORS lets it. */
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
  // PLEDGE_API_KEY and PLEDGE_BASE_URL of `env`; without a binding PLEDGES, `fetch` is the platform's.
  const client = PledgeClient.fromEnv({ fetch: c.env.PLEDGES, retryCreates: true }, c.env);
  const created = client.createPledgeTransaction(orderOf(recipient, amount));
  // A shopper who leaves the page ends the request. The order stays, so its pledges are recorded all the same.
  c.executionCtx.waitUntil(created.catch(() => {}));
  const { id, timelineUrl } = await created;
  return c.json({ id, timelineUrl });
});

/** This shop offers up to 100 whole trees, whatever a page sends. */
function offerIssues(amount) {
  if (Number.isInteger(amount) && amount <= 100) return [];
  return [{ path: ["pledges", 0, "impact", "amount"], message: "Choose 1 to 100 whole trees" }];
}

/** The shop's own order. Of what a page sends, it takes the number of trees and who they are for. */
const orderOf = (recipient, amount) => ({
  reference: "order-1001", // the number that your shop has for this shopper's order
  recipient,
  pledges: [{ impact: { amount, offeringId: "tree" } }],
});

app.onError((error, c) => {
  if ("getResponse" in error) return error.getResponse(); // Hono's own, such as for a body that is not JSON
  console.error(error);
  return c.json(
    { message: "The pledge service did not record your order. Please try again." },
    502,
  );
});

export default app;
