import { IdempotencyKeyReusedError, PledgeClient, ValidationError } from "impact-pledge";
import { read } from "impact-pledge/orders";

const client = PledgeClient.fromEnv({ deadlineMs: 30_000 });
const { PLEDGE_OFFERING_ID, SHOP } = process.env;
const FIELDS = ["*", "items.*", "customer.*", "payment_collections.*"];

/** An order may be paid when it is placed, or later. If both events see it as paid, they record one pledge. */
export const config = { event: ["order.placed", "payment.captured"] };

/** Pledges a tree for an order that is paid. Throws if the service does not answer, so that Medusa retries the event. */
export default async function pledgeOrder({ event, container }) {
  const query = container.resolve("query");
  const one = async (entity, id, fields) =>
    (await query.graph({ entity, fields, filters: { id } })).data[0];
  const { id } = event.data;
  const isPayment = event.name === "payment.captured"; // its ID is that of the payment
  const payment = isPayment && (await one("payment", id, ["payment_collection.order.id"]));
  const orderId = isPayment ? payment?.payment_collection?.order?.id : id;
  const found = orderId && (await one("order", orderId, FIELDS));
  if (!found) return;
  const payment_status = isCaptured(found) ? "captured" : "awaiting";
  const { content: order } = read("medusa", JSON.stringify({ ...found, payment_status }));
  if (order.payment !== "paid") return;
  const payload = {
    reference: order.number,
    recipient: { email: order.email, firstName: order.firstName },
    pledges: [{ impact: { amount: 1, offeringId: PLEDGE_OFFERING_ID } }],
    trigger: { date: order.created, phrase: "placed an order" },
  };
  const idempotencyKey = `medusa:${SHOP}:${order.id}`;
  await client.createPledgeTransaction(payload, { idempotencyKey }).catch((error) => {
    const isFinal = [IdempotencyKeyReusedError, ValidationError].some((it) => error instanceof it);
    if (!isFinal) throw error;
    container.resolve("logger").warn(`order ${order.id} is not pledged (again): ${error.message}`);
  });
}

/** `query.graph` does not return the payment status of an order: Medusa computes it in its own routes. */
function isCaptured({ payment_collections = [] }) {
  const wanted = payment_collections.filter(({ status }) => status !== "canceled");
  const isWhole = (it) => Number(it.captured_amount ?? 0) >= Number(it.amount);
  return wanted.length > 0 && wanted.every(isWhole);
}
