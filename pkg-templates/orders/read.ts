import { MAX_LINES, NO_PLACES, THREE_PLACES } from "../generated/orders.ts";
import { write } from "./decimal.ts";
import { fail } from "./error.ts";
import type { LineKind, Order, OrderEvent, OrderLine, Payment, Refund } from "./order.ts";
import { type Json, any, decimal, first, holds, select } from "./path.ts";
import { sumAt } from "./sum.ts";
import {
  type LineLines,
  type OrderLines,
  type RefundLines,
  type System,
  tableOf,
} from "./table.ts";
import { attributes, currency, dateTime, id, language, plain } from "./text.ts";

/**
 * Reads the body of a webhook, or an order that was fetched: for BigCommerce with the list of `/products` as its member
 * `products`, for Medusa what `query.graph` returns with `payment_status`, which it does not return by itself.
 *
 * The kind of body follows from the body alone, because systems do not sign their topic headers. Optional members that
 * cannot be used are left out.
 * @param body the JSON as text or bytes, or its value
 * @throws {OrderError} if the body is not JSON, not of this system, or without an ID or a currency
 * @example
 * ```js
 * import { read } from "impact-pledge/orders";
 *
 * const body = { id: 7, status: "processing", currency: "EUR", total: "39.90", line_items: [] };
 * const { event, content } = read("woocommerce", body);
 * console.log(event, content.payment, content.total); // order paid 39.9
 * ```
 */
export function read(system: System, body: string | Uint8Array | object): OrderEvent {
  const [bodies, order, lines, refunds] = tableOf(system);
  const json = parsed(body);
  const [, kind, at = ""] =
    bodies
      .map(([line = ""]) => line.split(" "))
      .find(([when = ""]) => when.split("&").every((condition) => holds(json, condition))) ?? [];
  const [node] = select(json, at);
  if (!kind || node === undefined) fail("unknown");
  switch (kind) {
    case "order":
      return { event: kind, content: orderOf(node, order, lines, refunds) };
    case "orderId":
      return { event: kind, content: idOf(node, [""]) };
    case "refund": {
      const [orders, ids] = refunds;
      const none = { id: idOf(node, ids), isWhole: false };
      const [refund = none] = refundOf(node, refunds, placesOf(node, order));
      return { event: kind, content: { orderId: idOf(node, orders), refund } };
    }
    default:
      return { event: "ignored", content: kind as "deleted" };
  }
}

function parsed(body: string | Uint8Array | object): Json {
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    const text = body instanceof Uint8Array ? decoder.decode(body) : body;
    return typeof text === "string" ? JSON.parse(text) : (text as Json);
  } catch {
    return fail("notJson");
  }
}

const idOf = (node: Json, paths: string[]): string => first(node, paths, id) ?? fail("noId");

/** Returns an object without members that are undefined, and without empty lists. */
const compact = <T extends object>(members: { [Name in keyof T]: T[Name] | undefined }): T =>
  Object.fromEntries(
    Object.entries<unknown>(members).filter(
      ([, value]) => value !== undefined && !(Array.isArray(value) && !value.length),
    ),
  ) as T;

function orderOf(node: Json, table: OrderLines, lines: LineLines, refunds: RefundLines): Order {
  const [
    codes,
    ,
    ids,
    numbers,
    created,
    emails,
    firstNames,
    lastNames,
    names,
    languages,
    statuses,
    payments,
    test,
    live,
    pairs,
    totals,
    [linesAt],
    [refundsAt],
  ] = table;
  const text = (paths: string[]) => first(node, paths, plain);
  const [firstName, lastName, isTest] = [text(firstNames), text(lastNames), any(node, test)];
  const places = placesOf(node, table);
  const found = payments.map((line) => line.split(":")).find(([, when = ""]) => any(node, [when]));
  const payment = (found?.[0] || "unpaid") as Payment;
  const isWhole = payment === "cancelled" || payment === "refunded";
  return compact<Order>({
    id: idOf(node, ids),
    number: text(numbers) ?? idOf(node, ids),
    currency: first(node, codes, currency) ?? fail("noCurrency"),
    created: first(node, created, dateTime),
    email: text(emails),
    firstName,
    name: text(names) ?? (firstName && lastName && `${firstName} ${lastName}`),
    language: first(node, languages, language),
    status: text(statuses) ?? "",
    payment,
    isTest: isTest || any(node, live) ? isTest : undefined,
    total: sumAt(node, totals, places),
    lines: linesOf(select(node, linesAt), lines),
    attributes: attributes(node, pairs),
    refunds: [
      ...(refundsAt === "-" ? [] : select(node, refundsAt).slice(0, MAX_LINES)).flatMap((each) =>
        refundOf(each, refunds, places),
      ),
      ...(isWhole ? [{ id: payment, isWhole }] : []),
    ],
  });
}

/** Returns the number of decimal places of amounts in the smallest unit; undefined for amounts in the main unit. */
function placesOf(node: Json, [codes, [minor]]: OrderLines): number | undefined {
  if (!minor) return undefined;
  const code = first(node, codes, currency) ?? fail("noCurrency");
  if (NO_PLACES.test(code)) return 0;
  return THREE_PLACES.test(code) ? 3 : 2;
}

/** Reads the lines. A line without an ID is left out, and so is one with the ID of a line before it. */
function linesOf(nodes: Json[], table: LineLines): OrderLine[] {
  if (nodes.length > MAX_LINES) fail("tooManyLines");
  const lines = new Map<string, OrderLine>();
  for (const node of nodes) {
    const line = lineOf(node, table);
    if (line.id && !lines.has(line.id)) lines.set(line.id, line);
  }
  return [...lines.values()];
}

function lineOf(node: Json, table: LineLines): OrderLine {
  const [ids, skus, products, titles, quantities, giftCard, tip, deduction, pairs] = table;
  const kinds: [LineKind, string[]][] = [
    ["giftcard", giftCard],
    ["tip", tip],
    ["deduction", deduction],
  ];
  return compact<OrderLine>({
    id: first(node, ids, id),
    sku: first(node, skus, plain),
    products: products.flatMap((path) => first(node, [path], id) ?? []),
    title: first(node, titles, plain),
    quantity: first(node, quantities, quantity) ?? "0",
    kind: kinds.find(([, when]) => any(node, when))?.[0] ?? "goods",
    attributes: attributes(node, pairs),
  });
}

/** Returns a quantity; undefined for a negative one. */
function quantity(value: Json): string | undefined {
  const found = decimal(value);
  return found && write(found);
}

/** Reads a refund. The list is empty if it has no ID, or if nothing was refunded. */
function refundOf(node: Json, table: RefundLines, places: number | undefined): Refund[] {
  const [, ids, [linesAt], lineIds, quantities, sums, codes, whole] = table;
  const lines = select(node, linesAt)
    .slice(0, MAX_LINES)
    .map((line) => [first(line, lineIds, id), first(line, quantities, quantity) ?? "0"])
    .filter((line): line is [string, string] => !!line[0] && line[1] !== "0");
  const [own, sum, isWhole] = [first(node, ids, id), sumAt(node, sums, places), any(node, whole)];
  return own && (isWhole || lines[0] || (sum ?? "0") !== "0")
    ? [compact<Refund>({ id: own, lines, sum, currency: first(node, codes, currency), isWhole })]
    : [];
}
