/* An order in one shape for all shop systems. */

/** The content of a webhook's body, or of an order that was fetched. */
export type OrderEvent =
  | { event: "order"; content: Order }
  | { event: "refund"; content: Refunded }
  /** The body only has the ID of an order, which must be fetched. */
  | { event: "orderId"; content: string }
  /** The body has nothing to pledge. */
  | { event: "ignored"; content: IgnoredReason };

/**
 * The reason why a body has nothing to pledge: another type of event; a thin event of Stripe, which has no order; an
 * action hook of WooCommerce; or a deleted order.
 */
export type IgnoredReason = "otherEvent" | "thinEvent" | "action" | "deleted";

/** Whether the buyer paid. A draft was not placed yet. */
export type Payment = "paid" | "unpaid" | "cancelled" | "refunded" | "draft";

/** What a line sells. A deduction has a negative price. */
export type LineKind = "goods" | "giftcard" | "tip" | "deduction";

/**
 * An order as its system described it. Amounts are exact decimals as text, in the main unit of the currency. What the
 * system does not tell is absent.
 */
export interface Order {
  /** The ID of the order in its system, which never changes. An idempotency key contains it. */
  id: string;
  /** The number that the shop shows to people. */
  number: string;
  /** The currency of all amounts, such as `EUR`. */
  currency: string;
  /** When the order was placed, an RFC 3339 date-time. */
  created?: string;
  email?: string;
  firstName?: string;
  lastName?: string;
  /** The buyer's full name, if the system tells it as a whole. */
  name?: string;
  /** The buyer's language, such as `de-DE`. */
  language?: string;
  /** The status in the words of the system. */
  status?: string;
  payment: Payment;
  /** Only of a test order. */
  isTest?: true;
  /** What the whole order costs: goods after discounts, shipping, fees and tax. */
  total?: string;
  lines?: OrderLine[];
  /** Names and texts that the shop or the buyer added, such as a number of trees. */
  attributes?: [name: string, text: string][];
  /** The refunds so far. `payment` says whether the whole order was cancelled or refunded. */
  refunds?: Refund[];
}

/** One line of an order. */
export interface OrderLine {
  id: string;
  sku?: string;
  /** The IDs of the product and of its variant. */
  products?: string[];
  title?: string;
  /** The ordered quantity, a decimal of 0 or more. */
  quantity: string;
  kind: LineKind;
  attributes?: [name: string, text: string][];
}

/** A refund, or all refunds of an order where the system tells only their sum. */
export interface Refund {
  /** A later state of the same refund has the same ID. */
  id: string;
  /** The IDs of lines with the refunded quantities. */
  lines?: [line: string, quantity: string][];
  /** What the buyer got back. */
  sum?: string;
  /** The currency of the sum, if the refund tells it: at Shopify, it may be the one that the buyer saw. */
  currency?: string;
  /** Only if the whole order was refunded. */
  isWhole?: true;
}

/** A refund that came without its order. */
export interface Refunded extends Refund {
  orderId: string;
}
