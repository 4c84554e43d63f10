import { MAX_HEADER, MAX_SECRETS, MAX_SIGNATURES, WINDOW_SECONDS } from "../generated/orders.ts";
import { fail } from "./error.ts";
import type { System } from "./table.ts";

/** The headers of a request: `Headers`, or an object with names in lower case, as Node has it. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | { readonly [name: string]: string | readonly string[] | undefined };

/** What is signed before the body, and the signatures. Each of them may match. */
interface Signed {
  start: string;
  signatures: Uint8Array<ArrayBuffer>[];
}

const WOOCOMMERCE = "x-wc-webhook-signature";

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
  const { start, signatures } = signedBy(system, headers);
  const encoder = new TextEncoder();
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const prefix = encoder.encode(start);
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
  sent(headers, WOOCOMMERCE) === undefined &&
  body.length <= 31 &&
  /^webhook_id=\d{1,20}$/.test(typeof body === "string" ? body : new TextDecoder().decode(body));

function sent(headers: WebhookHeaders, name: string): string | undefined {
  const value = typeof headers.get === "function" ? headers.get(name) : Object(headers)[name];
  return value === null || value === undefined ? undefined : String(value);
}

function header(headers: WebhookHeaders, name: string): string {
  const value = sent(headers, name);
  if (!value) fail("missing");
  if (value.length > MAX_HEADER) fail("malformed");
  return value;
}

function signedBy(system: System, headers: WebhookHeaders): Signed {
  const read = (name: string) => header(headers, name);
  switch (system) {
    case "stripe":
      return stripe(read("stripe-signature"));
    case "shopify":
      return signed("", [base64(read("x-shopify-hmac-sha256"))]);
    case "woocommerce":
      return signed("", [base64(read(WOOCOMMERCE))]);
    case "bigcommerce":
      return standard(read("webhook-signature"), read("webhook-id"), read("webhook-timestamp"));
    default:
      fail("missing");
  }
}

/** Reads a header such as `t=1764316800,v1=<hex>,v1=<hex>`. Signatures of other versions are ignored. */
function stripe(text: string): Signed {
  const parts = text.split(",").map((part) => part.trim());
  const of = (name: string) =>
    parts.filter((part) => part.startsWith(name)).map((part) => part.slice(name.length));
  const [time = "", ...others] = of("t=");
  if (others.length) fail("malformed");
  checkTime(time);
  return signed(`${time}.`, of("v1=").slice(0, MAX_SIGNATURES).map(hex));
}

/** Reads the headers of Standard Webhooks 1.0. Signatures of other versions are ignored. */
function standard(text: string, id: string, time: string): Signed {
  checkTime(time);
  const own = text.split(" ").filter((part) => part.startsWith("v1,"));
  const signatures = own.slice(0, MAX_SIGNATURES).map((part) => base64(part.slice(3)));
  return signed(`${id}.${time}.`, signatures);
}

function signed(start: string, found: (Signed["signatures"][0] | undefined)[]): Signed {
  const signatures = found.filter((signature) => signature !== undefined);
  if (!signatures.length) fail("malformed");
  return { start, signatures };
}

const hex = (text: string) =>
  /^[\da-f]{64}$/i.test(text)
    ? Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
    : undefined;

const base64 = (text: string) =>
  /^[\w+/]{43}=$/.test(text.trim()) && !text.includes("_")
    ? Uint8Array.from(atob(text.trim()), (byte) => byte.charCodeAt(0))
    : undefined;

/** Checks a time in seconds since 1970. */
function checkTime(text: string): void {
  if (!/^\d{1,12}$/.test(text)) fail("malformed");
  const distance = Math.abs(Number(text) - Math.floor(Date.now() / 1_000));
  if (distance > WINDOW_SECONDS) fail("stale");
}
