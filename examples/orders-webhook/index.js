import { IdempotencyKeyReusedError, PledgeClient, ValidationError } from "impact-pledge";
import { isPing, OrderError, read, verify } from "impact-pledge/orders";

const FINAL = [IdempotencyKeyReusedError, ValidationError, OrderError]; // a retry cannot help
const answer = (status, reason) => new Response(reason, { status });

/** Pledges a tree for a paid order. Answers 200 if it is pledged or never can be; after a 500, the shop system sends it again. */
export async function receive(request, env) {
  const { SYSTEM, SHOP, WEBHOOK_SECRET } = env;
  let order = {};
  try {
    if (!SYSTEM || !SHOP || !WEBHOOK_SECRET) throw new Error("set SYSTEM, SHOP, WEBHOOK_SECRET");
    if (Number(request.headers.get("content-length")) > 1_048_576) return answer(413, "too large");
    const body = await request.text();
    if (SYSTEM === "woocommerce" && isPing(body)) return answer(200, "ping");
    const refusal = await verify(SYSTEM, request.headers, body, WEBHOOK_SECRET).catch(String);
    if (refusal) return answer(401, refusal);
    order = read(SYSTEM, body).content; // without `payment` if it is not an order
    if (order.payment !== "paid") return answer(200, `not pledged: ${order.payment ?? "no order"}`);
    const isTest = order.isTest && env.PLEDGE_API_KEY?.startsWith("service_sk_live");
    if (isTest) return answer(200, "not pledged: test");
    const pledges = [{ impact: { amount: 1, offeringId: "tree" } }];
    const payload = { reference: order.number, recipient: { email: order.email }, pledges };
    const client = PledgeClient.fromEnv({ deadlineMs: 4_000 }, env); // Shopify waits for 5 s
    const idempotencyKey = `${SYSTEM}:${SHOP}:${order.id}`;
    await client.createPledgeTransaction(payload, { idempotencyKey });
    return answer(200, "pledged");
  } catch (error) {
    console.log(JSON.stringify({ order: order.number, problem: error.message }));
    return answer(FINAL.some((type) => error instanceof type) ? 200 : 500, error.message);
  }
}

export default { fetch: receive };
