import { contentOf } from "./content.ts";
import { fail } from "./error.ts";
import { type Json, isThere } from "./json.ts";
import type { OrderEvent } from "./order.ts";
import { all } from "./path.ts";
import { type System, tableOf } from "./table.ts";

/**
 * Reads the body of a webhook, or an order that was fetched: for BigCommerce with the list of `/products` as its member
 * `products`, for Medusa what `query.graph` returns with `payment_status`, which it does not return by itself.
 *
 * The kind of body follows from the body alone, because systems do not sign their topic headers. Optional members that
 * cannot be used are left out.
 * @param body the JSON as text or bytes
 * @throws {OrderError} if the body is not JSON, not of this system, or without an ID or a currency
 * @example
 * ```js
 * import { read } from "impact-pledge/orders";
 *
 * const body = '{"id":7,"status":"processing","currency":"EUR","total":"39.90","line_items":[]}';
 * const { event, content } = read("woocommerce", body);
 * console.log(event, content.payment, content.total); // order paid 39.9
 * ```
 */
export function read(system: System, body: string | Uint8Array): OrderEvent {
  const table = tableOf(system);
  const json = parsed(body);
  const [kind, node] =
    table[0]
      .map(([paths, kind]) => [kind, all(json, paths).find(isThere)] as const)
      .find(([, node]) => isThere(node)) ?? fail("unknown");
  const content = contentOf(table, node)[kind]?.();
  return { event: content ? kind : "ignored", content: content ?? kind } as OrderEvent;
}

function parsed(body: string | Uint8Array): Json {
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return JSON.parse(typeof body === "string" ? body : decoder.decode(body));
  } catch {
    return fail("notJson");
  }
}
