import { IdempotencyKeyReusedError, PledgeClient, ValidationError } from "impact-pledge";
import { OrderError, read, verify } from "impact-pledge/orders";

const UNSIGNED = ["missing", "wrong"];
const FINAL = [IdempotencyKeyReusedError, ValidationError, OrderError]; // a retry cannot help
const answer = (status) => new Response(null, { status });

export default {
  /** Answers 200 if the order is pledged or never can be. After a 500, Shopify retries. */
  async fetch(request, env) {
    if (Number(request.headers.get("content-length")) > 4_194_304) return answer(413);
    let order;
    try {
      for (const name of ["SHOPIFY_WEBHOOK_SECRET", "PLEDGE_API_KEY", "PLEDGE_OFFERING_ID", "SHOP"])
        if (!env[name]) throw new Error(`set ${name}`);
      const body = await request.text();
      await verify("shopify", request.headers, body, env.SHOPIFY_WEBHOOK_SECRET);
      order = read("shopify", body).content; // without `payment` if it is not an order
      const isTest = order.isTest && env.PLEDGE_API_KEY.startsWith("service_sk_live");
      if (order.payment === "paid" && !isTest) await pledge(order, env);
      return answer(200);
    } catch (error) {
      console.log(JSON.stringify({ order: order?.number, reason: error.message }));
      if (UNSIGNED.includes(error.code)) return answer(401);
      return answer(FINAL.some((type) => error instanceof type) ? 200 : 500);
    }
  },
};

/** Pledges a tree for each article, except gift cards and removed or refunded articles. */
async function pledge({ id, number, email, firstName, created, lines = [], refunds = [] }, env) {
  const left = new Map(lines.map((line) => [line.id, Number(line.quantity)]));
  for (const [line, quantity] of refunds.flatMap((refund) => refund.lines ?? []))
    left.set(line, left.get(line) - quantity);
  const bought = lines.filter((line) => line.kind === "goods" && left.get(line.id) > 0);
  const payload = {
    reference: number,
    recipient: { email, firstName },
    pledges: bought.map(({ id, title, sku }) => ({
      impact: { amount: left.get(id), offeringId: env.PLEDGE_OFFERING_ID },
      detail: { name: title, nounSingular: "tree", nounPlural: "trees", externalId: sku },
    })),
    trigger: { date: created, phrase: "placed an order" },
    notifications: ["Email"], // with the timeline's link: no shopper sees this answer
  };
  const client = PledgeClient.fromEnv({ deadlineMs: 4_000 }, env); // Shopify waits for 5 s
  await client.createPledgeTransaction(payload, { idempotencyKey: `shopify:${env.SHOP}:${id}` });
}
