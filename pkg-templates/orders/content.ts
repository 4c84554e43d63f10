/* The content of a body, by the table of its system. `src/pledges/orders/read.rs` does the same. */
import { MAX_LINES } from "../generated/orders.ts";
import { fail } from "./error.ts";
import { fields, pairs } from "./fields.ts";
import type { Found } from "./json.ts";
import type { Order, OrderEvent, OrderLine, Refunded } from "./order.ts";
import type { Row, Table } from "./table.ts";
import { id, quantity } from "./text.ts";

/** Returns what reads the content of each kind of body. `node` is the order, the refund or the order's ID. */
export function contentOf(
  [, order, line, refund, refundOfOrder]: Table,
  node: Found,
): { [kind: string]: () => OrderEvent["content"] } {
  const refundOf = (at: Found, more: Row[] = []) =>
    fields<Refunded>(
      at,
      [...refund, ...more],
      {},
      {
        lines: (values) => pairs(values, id, quantity).filter(([, quantity]) => quantity !== "0"),
      },
    );

  return {
    order() {
      const seen = new Set<string>();
      const found = fields<Order>(
        node,
        order,
        { payment: "unpaid" },
        {
          // A line without an ID is left out, and so is one with the ID of a line before it.
          lines: (values) =>
            values.length > MAX_LINES
              ? fail("tooManyLines")
              : values
                  .map((at) => fields<OrderLine>(at, line, { quantity: "0", kind: "goods" }))
                  .filter(({ id }) => id && !seen.has(id) && seen.add(id)),
          // A refund needs an ID, and something that was refunded.
          refunds: (values) =>
            values
              .map((at) => refundOf(at))
              .filter(({ id, lines, sum = "0" }) => id && (lines || sum !== "0")),
        },
      );
      found.id ?? fail("noId");
      found.currency ?? fail("noCurrency");
      return { number: found.id, ...(found as Partial<Order>) } as Order;
    },
    refund() {
      const found = refundOf(node, refundOfOrder);
      return found.orderId && found.id ? found : fail("noId");
    },
    orderId: () => id(node) ?? fail("noId"),
  };
}
