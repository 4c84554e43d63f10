import { sValidator } from "@hono/standard-validator";
import { Hono } from "hono";
import { PledgeClient, createPledgeTransactionSchema } from "impact-pledge";

const app = new Hono();

/** What is wrong with an order, in the service's own words. */
const refuse = ({ success, error }, c) => (success ? undefined : c.json({ message: "The order has problems.", issues: error }, 422));

app.post("/orders", sValidator("json", createPledgeTransactionSchema, refuse), async (c) => {
  const { PLEDGE_API_KEY: apiKey, PLEDGE_SERVICE_URL: baseUrl } = c.env;
  const client = new PledgeClient({ apiKey, baseUrl, safeRepeats: true });
  const { id, timelineUrl } = await client.createPledgeTransaction(c.req.valid("json"));
  return c.json({ id, timelineUrl });
});

app.onError((error, c) => {
  if ("getResponse" in error) return error.getResponse(); // Hono's own, such as for a body that is not JSON
  console.error(error);
  return c.json({ message: "The pledge service did not record your order. Please try again." }, 502);
});

export default app;
