/* `impact-pledge/orders`: reads the orders of shop systems, and checks the signatures of their webhooks. */
export { OrderError, type OrderErrorCode } from "./orders/error.ts";
export { read } from "./orders/read.ts";
export { isPing, verify, type WebhookHeaders } from "./orders/verify.ts";
export type {
  IgnoredReason,
  LineKind,
  Order,
  OrderEvent,
  OrderLine,
  Payment,
  Refund,
  Refunded,
} from "./orders/order.ts";
export type { System } from "./orders/table.ts";
