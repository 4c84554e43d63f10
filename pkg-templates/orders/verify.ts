import { MAX_HEADER, MAX_SECRETS, MAX_SIGNATURES, WINDOW_SECONDS } from "../generated/orders.ts";
import { fail } from "./error.ts";
import type { System } from "./table.ts";

/** The headers of a request: `Headers`, or an object with names in lower case, as Node has it. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | { readonly [name: string]: string | readonly string[] | undefined };

const WOOCOMMERCE = "x-wc-webhook-signature";

/** The header with the signatures of a system, what is between them, and what is before each. Medusa has none. */
const SIGNED = [
  ["stripe", "stripe-signature", ",", "v1="],
  ["shopify", "x-shopify-hmac-sha256", ";", ""],
  ["woocommerce", WOOCOMMERCE, ";", ""],
  ["bigcommerce", "webhook-signature", " ", "v1,"],
] as const;

/**
 * Checks that a shop system signed the body of a webhook. Pass the body exactly as it was received: JSON that was parsed
 * and written again has other bytes.
 * @param secret the secret of the webhook; several while one is rolled
 * @throws {OrderError} if the signature is missing, malformed, stale (300 s) or wrong. Medusa has no webhooks
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
  body: string | Uint8Array,
  secret: string | readonly string[],
): Promise<void> {
  const [start, signatures] = signedBy(system, headers);
  const encoder = new TextEncoder();
  const prefix = encoder.encode(start);
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const data = new Uint8Array(prefix.length + bytes.length);
  data.set(prefix);
  data.set(bytes, prefix.length);
  for (const each of [secret].flat().filter(Boolean).slice(0, MAX_SECRETS)) {
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    const raw = encoder.encode(each);
    const key = await crypto.subtle.importKey("raw", raw, algorithm, false, ["verify"]);
    for (const signature of signatures)
      if (await crypto.subtle.verify("HMAC", key, signature, data)) return;
  }
  fail("wrong");
}

/** Reads what is signed before the body, and the signatures. Each may match; those of other versions are ignored. */
function signedBy(system: System, headers: WebhookHeaders) {
  const [, name, separator, version] = SIGNED.find(([of]) => of === system) ?? fail("missing");
  const read = (header: string) => {
    const value = `${sent(headers, header) ?? ""}`;
    if (!value) fail("missing");
    return value.length > MAX_HEADER ? fail("malformed") : value;
  };
  const parts = read(name)
    .split(separator)
    .map((part) => part.trim());
  const values = (prefix: string) =>
    parts.filter((part) => part.startsWith(prefix)).map((part) => part.slice(prefix.length));
  const isStripe = system === "stripe";
  let start = "";
  if (isStripe) start = timed(values("t="));
  else if (version) start = `${read("webhook-id")}.${timed([read("webhook-timestamp")])}`;
  const signatures = values(version)
    .slice(0, MAX_SIGNATURES)
    .filter((text) => (isStripe ? /^[\da-f]{64}$/i : /^[a-z\d+/]{43}=$/i).test(text))
    .map(isStripe ? fromHex : fromBase64);
  if (!signatures[0]) fail("malformed");
  return [start, signatures] as const;
}

/** Returns the time as it is signed, in seconds since 1970. There must be one, which is near now. */
function timed([time = "", ...others]: string[]): string {
  if (others.length || !/^\d{1,12}$/.test(time)) fail("malformed");
  const distance = Math.abs(Number(time) - Math.floor(Date.now() / 1_000));
  return distance > WINDOW_SECONDS ? fail("stale") : `${time}.`;
}

const fromHex = (text: string) =>
  Uint8Array.from(text.match(/../g)!, (pair) => Number(`0x${pair}`));

const fromBase64 = (text: string) => Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0));

/**
 * Returns whether a request is the ping that WooCommerce sends without a signature when a webhook is saved. Answer it
 * with the status 200.
 */
export const isPing = (
  system: System,
  headers: WebhookHeaders,
  body: string | Uint8Array,
): boolean =>
  system === "woocommerce" &&
  (sent(headers, WOOCOMMERCE) ?? null) === null &&
  body.length <= 31 &&
  /^webhook_id=\d{1,20}$/.test(typeof body === "string" ? body : new TextDecoder().decode(body));

const sent = (headers: WebhookHeaders, name: string) =>
  typeof headers.get === "function"
    ? headers.get(name)
    : (headers as { readonly [name: string]: unknown })[name];
