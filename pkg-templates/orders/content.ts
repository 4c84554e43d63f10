/* The content of a body, by the table of its system. `src/pledges/orders/read.rs` does the same. */
import { CURRENCIES, MAX_AMOUNT, MAX_LINES, NO_PLACES } from "../generated/orders.ts";
import { decimal, write } from "./decimal.ts";
import { fail } from "./error.ts";
import { attributes, fields, pairs, quantity, which } from "./fields.ts";
import type { Found } from "./json.ts";
import type { LineKind, Order, OrderEvent, OrderLine, Payment, Refund, Refunded } from "./order.ts";
import { all, first } from "./path.ts";
import type { Table } from "./table.ts";
import { currency, id, plain } from "./text.ts";

/** Returns what reads the content of each kind of body. `node` is the order, the refund or the order's ID. */
export function contentOf(
  [, order, payments, tests, line, kinds, refund, unnamed]: Table,
  node: Found,
): { [kind: string]: () => OrderEvent["content"] } {
  const [[ids], [currencies]] = order;
  const [
    [totals],
    [sums],
    [lines],
    [refundLines],
    [orderPairs],
    [linePairs],
    [refunds],
    [products],
    [whole],
    [orderIds],
    [people],
    [fullNames],
  ] = unnamed;

  const idAt = (paths: string[]) => first(node, paths, id) ?? fail("noId");
  const currencyCode = () => first(node, currencies, currency) ?? fail("noCurrency");

  /** Adds up the amounts at a path; undefined if one is absent, or if the sum is negative. */
  function sumAt(at: Found, [path, mode]: string[]): string | undefined {
    // Amounts in the smallest unit are whole numbers of it.
    const unit = mode === "~" && 10n ** placesOf(currencyCode());
    const amounts = all(at, [path!]).map(decimal);
    if (amounts.includes(undefined)) return undefined;
    const sum = amounts.reduce((total, amount) => total! + amount!, 0n)!;
    if (unit) return sum % 10n ** BigInt(MAX_AMOUNT) ? undefined : write(sum / unit);
    return write(mode === "-" ? -sum : sum);
  }

  /** Reads the lines. A line without an ID is left out, and so is one with the ID of a line before it. */
  function linesOf(nodes: Found[]): OrderLine[] {
    if (nodes.length > MAX_LINES) fail("tooManyLines");
    const seen = new Set<string>();
    return nodes.map(lineOf).filter(({ id }) => id && !seen.has(id) && seen.add(id));
  }

  const lineOf = (at: Found) =>
    ({
      quantity: "0",
      ...fields<OrderLine>(at, line, {
        kind: (which(at, kinds)[1] as LineKind) ?? "goods",
        products: all(at, products).map(id).filter(Boolean) as string[],
        attributes: attributes(at, linePairs),
      }),
    }) as OrderLine;

  const refundOf = (at: Found) =>
    fields<Refund>(at, refund, {
      lines: pairs(at, refundLines, id, quantity).filter(([, quantity]) => quantity !== "0"),
      sum: sumAt(at, sums),
      isWhole: first(at, whole) !== undefined,
    }) as Refund;

  /** Returns whether a refund has an ID, and something was refunded. */
  const isUsable = ({ id, isWhole, lines, sum = "0" }: Refund) =>
    id && (isWhole || lines || sum !== "0");

  const refundsOf = (payment: Payment): Refund[] => [
    ...all(node, refunds).slice(0, MAX_LINES).map(refundOf).filter(isUsable),
    ...(["cancelled", "refunded"].includes(payment) ? [{ id: payment, isWhole: true }] : []),
  ];

  const nameOf = (part: string) =>
    first(
      node,
      people.map((path) => `${path}/${part}_name`),
      plain,
    );

  return {
    order(): Order {
      const number = idAt(ids);
      currencyCode();
      const payment = (which(node, payments)[1] as Payment) ?? "unpaid";
      const [, isTest] = which(node, tests);
      const [firstName, lastName] = [nameOf("first"), nameOf("last")];
      const fullName = firstName && lastName && `${firstName} ${lastName}`;
      return {
        number,
        status: "",
        ...fields<Order>(node, order, {
          firstName,
          name: first(node, fullNames, plain) ?? fullName,
          payment,
          isTest: (isTest && isTest === "true") as boolean | undefined,
          total: sumAt(node, totals),
          lines: linesOf(all(node, lines)),
          attributes: attributes(node, orderPairs),
          refunds: refundsOf(payment),
        }),
      } as Order;
    },
    refund(): Refunded {
      const orderId = idAt(orderIds);
      const found = refundOf(node);
      const id = found.id ?? fail("noId");
      return { orderId, refund: isUsable(found) ? found : { id, isWhole: false } };
    },
    orderId: () => id(node) ?? fail("noId"),
  };
}

/** Returns the number of decimal places of a currency at Stripe. */
function placesOf(code: string): bigint {
  const at = CURRENCIES.indexOf(code);
  if (at % 3) return 2n; // not in the list, or across two of its codes
  return at < NO_PLACES ? 0n : 3n;
}
