/* The tables by which bodies are read. `src/pledges/orders/table.rs` describes them. */
import { TABLES } from "../generated/orders.ts";

/** A shop system, or a payment service whose checkout is the shop. */
export type System = keyof typeof TABLES;

/** A line of a table: usually paths or conditions, of which the first that fits counts. */
export type Line = string[];

/** The lines about an order. A payment is followed by a colon and its condition. */
export type OrderLines = [
  currencies: Line,
  minor: [string],
  ids: Line,
  numbers: Line,
  created: Line,
  emails: Line,
  firstNames: Line,
  lastNames: Line,
  names: Line,
  languages: Line,
  statuses: Line,
  payments: Line,
  test: Line,
  live: Line,
  attributes: Line,
  totals: Line,
  linesAt: [string],
  refundsAt: [string],
];

/** The lines about a line of an order. */
export type LineLines = [
  ids: Line,
  skus: Line,
  products: Line,
  titles: Line,
  quantities: Line,
  giftCard: Line,
  tip: Line,
  deduction: Line,
  attributes: Line,
];

/** The lines about a refund. */
export type RefundLines = [
  orders: Line,
  ids: Line,
  linesAt: [string],
  lines: Line,
  quantities: Line,
  sums: Line,
  currencies: Line,
  whole: Line,
];

/** The sections of a table. A body is its conditions, its kind and its path, separated by spaces. */
type Sections = [bodies: Line[], order: OrderLines, lines: LineLines, refunds: RefundLines];

export const tableOf = (system: System): Sections =>
  TABLES[system].map((section) =>
    section.split("\n").map((line) => line.split("|")),
  ) as unknown as Sections;
