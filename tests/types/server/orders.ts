// A server's code that reads orders compiles without the DOM's types, and wrong uses don't.
import {
  type Order,
  OrderError,
  type OrderEvent,
  isPing,
  read,
  verify,
} from "impact-pledge/orders";

export async function take(body: Uint8Array): Promise<Order | undefined> {
  const headers = { "stripe-signature": "t=1,v1=…", "set-cookie": ["a"], other: undefined };
  await verify("stripe", headers, body, ["whsec_new", "whsec_old"]);
  const found: OrderEvent = read("stripe", body);
  return found.event === "order" ? found.content : undefined;
}

export const codeOf = (error: unknown): string | undefined =>
  error instanceof OrderError ? error.code : undefined;
export const ping: boolean = isPing("webhook_id=3");
export const total = (order: Order): string | undefined => order.total;

// @ts-expect-error this system is not read
read("magento", "{}");
// @ts-expect-error a secret is required
export const checked = verify("shopify", {}, "{}");
// @ts-expect-error amounts are texts
export const sum = (order: Order): number | undefined => order.total;
// @ts-expect-error a body is text or bytes
read("shopify", {});
