import { HEADERS, MAX_SIGNATURES, SYSTEMS, WINDOW_MS } from "../generated/orders.ts";
import { fail } from "./error.ts";
import type { System } from "./table.ts";

/** The headers of a request: `Headers`, or an object with names in lower case, as Node has it. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | { readonly [name: string]: string | readonly string[] | undefined };

type Body = string | Uint8Array;

/**
 * Checks that a shop system signed the body of a webhook. Pass the body exactly as it was received: JSON that was parsed
 * and written again has other bytes.
 * @param secret the secret of the webhook; several while one is rolled
 * @throws {OrderError} if the signature is missing, stale (300 s) or wrong. Medusa has no webhooks
 * @example
 * ```js
 * import { verify } from "impact-pledge/orders";
 *
 * const refusal = await verify("shopify", new Headers(), "{}", "secret").catch((error) => error.code);
 * console.log(refusal); // missing
 * ```
 */
export async function verify(
  system: System,
  headers: WebhookHeaders,
  body: Body,
  secret: string | readonly string[],
): Promise<void> {
  const column = SYSTEMS.indexOf(system);
  const read = (name: string) => {
    const sent = typeof headers.get === "function" ? headers.get(name) : (headers as never)[name];
    return `${sent || fail("missing")}`;
  };
  let start = ""; // what is signed before the body
  let header = read(HEADERS[column]!);
  if (column > 1) header = `v1=${header}`;
  else {
    const time = column ? read("webhook-timestamp") : header.match(/\bt=(\d+)/)?.[1];
    start = `${column ? `${read("webhook-id")}.` : ""}${time}.`;
    const distance = Math.abs(Number(time) * 1_000 - Date.now());
    if (!(distance <= WINDOW_MS)) fail("stale"); // also if there is no time
  }
  const data = await bytes(start, body);
  for (const each of [secret].flat().filter(Boolean)) {
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    const key = await crypto.subtle.importKey("raw", await bytes(each), algorithm, false, [
      "verify",
    ]);
    for (const signature of signaturesIn(header, !column))
      if (await crypto.subtle.verify("HMAC", key, signature, data)) return;
  }
  fail("wrong");
}

const bytes = (...parts: Body[]) => new Blob(parts as BlobPart[]).arrayBuffer();

/** Returns the signatures in a header, of which each may match. Those of other versions are ignored. */
const signaturesIn = (header: string, isHex: boolean) =>
  [...header.matchAll(/v1[=,]\s*([\da-f]{64}\b|[a-z\d+/]{43}=)/gi)]
    .slice(0, MAX_SIGNATURES)
    .map(([, text]) =>
      Uint8Array.from<string>(isHex ? text!.match(/../g)! : atob(text!), (each) =>
        isHex ? Number(`0x${each}`) : each.charCodeAt(0),
      ),
    );

/**
 * Returns whether a body is that of the ping which WooCommerce sends, without a signature, when a webhook is saved. Answer it
 * with the status 200.
 */
export const isPing = (body: Body): boolean =>
  /^webhook_id=\d{1,20}$/.test(typeof body === "string" ? body : new TextDecoder().decode(body));
