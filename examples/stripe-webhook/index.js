import { IdempotencyKeyReusedError, PledgeClient, ValidationError } from "impact-pledge";
import { OrderError, read, verify } from "impact-pledge/orders";

const UNSIGNED = ["missing", "wrong", "stale"];
const FINAL = [IdempotencyKeyReusedError, ValidationError, OrderError]; // a retry cannot help
const answer = (status) => new Response(null, { status });

export default {
  /** Answers 200 if the order is pledged or never can be. After a 500, Stripe retries. */
  async fetch(request, env) {
    if (Number(request.headers.get("content-length")) > 1_048_576) return answer(413);
    let order;
    try {
      for (const name of ["STRIPE_WEBHOOK_SECRET", "PLEDGE_OFFERING_ID", "SHOP"])
        if (!env[name]) throw new Error(`set ${name}`);
      const body = await request.text();
      await verify("stripe", request.headers, body, env.STRIPE_WEBHOOK_SECRET);
      order = read("stripe", body).content; // without `payment` if it is not an order
      if (order.payment === "paid") await pledge(order, env);
      return answer(200);
    } catch (error) {
      console.log(JSON.stringify({ order: order?.number, reason: error.message }));
      if (UNSIGNED.includes(error.code)) return answer(401);
      return answer(FINAL.some((type) => error instanceof type) ? 200 : 500);
    }
  },
};

/** Pledges the trees that the shop put into the metadata when it created the session. */
async function pledge({ id, number, email, name, created, attributes = [] }, env) {
  const amount = Number(Object.fromEntries(attributes).trees ?? 0);
  if (amount === 0) return;
  const detail = { nounSingular: "tree", nounPlural: "trees" };
  const payload = {
    reference: number,
    recipient: { email, name },
    pledges: [{ impact: { amount, offeringId: env.PLEDGE_OFFERING_ID }, detail }],
    trigger: { date: created, phrase: "placed an order" },
    notifications: ["Email"], // with the timeline's link: no shopper sees this answer
  };
  const client = PledgeClient.fromEnv({ deadlineMs: 8_000 }, env); // Stripe waits longer than this
  await client.createPledgeTransaction(payload, { idempotencyKey: `stripe:${env.SHOP}:${id}` });
}
