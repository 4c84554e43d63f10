import { contentOf } from "./content.ts";
import { fail } from "./error.ts";
import { which } from "./fields.ts";
import type { Json } from "./json.ts";
import type { OrderEvent } from "./order.ts";
import { first } from "./path.ts";
import { type System, tableOf } from "./table.ts";

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
  const table = tableOf(system);
  const json = parsed(body);
  const [paths, kind] = which(json, table[0]);
  if (!paths) fail("unknown");
  const content = contentOf(table, first(json, paths))[kind!]?.();
  return (content ? { event: kind, content } : { event: "ignored", content: kind }) as OrderEvent;
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
