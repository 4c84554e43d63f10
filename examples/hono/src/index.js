import { sValidator } from "@hono/standard-validator";
import { Hono } from "hono";
import { PledgeClient, createPledgeTransactionSchema } from "impact-pledge";

const app = new Hono();

/** Answers an invalid order with its issues. */
const refuse = ({ success, error }, c) =>
  success ? undefined : c.json({ message: "The order has problems.", issues: error }, 422);

app.post("/orders", sValidator("json", createPledgeTransactionSchema, refuse), async (c) => {
  // PLEDGE_API_KEY and PLEDGE_BASE_URL of `env`; without a binding PLEDGES, `fetch` is the platform's.
  const client = PledgeClient.fromEnv({ fetch: c.env.PLEDGES, retryCreates: true }, c.env);
  const created = client.createPledgeTransaction(c.req.valid("json"));
  // A shopper who leaves the page ends the request. The order stays, so its pledges are recorded all the same.
  c.executionCtx.waitUntil(created.catch(() => {}));
  const { id, timelineUrl } = await created;
  return c.json({ id, timelineUrl });
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
