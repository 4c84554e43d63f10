/**
 * Stand-ins for the adapters of messaging services (docs/messaging.md). Like a real adapter, they verify
 * messages. They print the messages, and store them for the page for developers. The stand-in for
 * MessagingServiceA is reached by a service binding, and the stand-in for MessagingServiceB by a URL.
 * MessagingServiceC has no stand-in.
 */
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { isKept, keep } from "./kept.js";

/**
 * The secret that signs messages to the stand-ins. It may be public, because the stand-ins accept messages
 * only from this machine.
 */
const SECRET = "whsec_bG9jYWwgZGV2ZWxvcG1lbnQsIG5vdCBhIHNlY3JldCE=";
const MOST_BYTES = 64 * 1024;
/** The path at which the stand-in for MessagingServiceB's adapter receives messages. */
export const PATH = "/developer/messenger";

/**
 * Returns the service's environment with bindings and variables that let live and test messages reach the
 * stand-ins.
 * @param {any} env
 * @param {string} origin of this Worker
 */
export function withMessengers(env, origin) {
  const binding = { fetch: (input, init) => deliver(new Request(input, init), env) };
  const addresses = ["", "_TEST"].flatMap((mode) => [
    [`MESSAGING_SERVICE_A${mode}`, binding],
    [`MESSAGING_SERVICE_A${mode}_SECRET`, SECRET],
    [`MESSAGING_SERVICE_B${mode}_URL`, origin + PATH],
    [`MESSAGING_SERVICE_B${mode}_SECRET`, SECRET],
  ]);
  return { ...env, ...Object.fromEntries(addresses) };
}

/**
 * Accepts a message as an adapter does.
 * @param {Request} request
 * @param {{MAILS: KVNamespace}} env
 */
export async function deliver(request, { MAILS: kept }) {
  if (request.method !== "POST") return refused(405, { allow: "POST" });
  const body = await request.text();
  if (new TextEncoder().encode(body).length > MOST_BYTES) return refused(413); // through the binding, there is no length
  if (!isSigned(body, request.headers)) return refused(401);
  const id = request.headers.get("webhook-id") ?? "";
  if (!(await isKept(kept, id))) {
    const message = JSON.parse(body);
    console.log(asText(message));
    await keep(kept, message, id);
  }
  return new Response(null, { status: 204 });
}

const refused = (status, headers = {}) => new Response(null, { status, headers });

function isSigned(body, headers) {
  try {
    new Webhook(SECRET).verify(body, Object.fromEntries(headers), { jsonParse: false });
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}

const asText = ({ service, recipient, title, text }) =>
  [
    "",
    "A message (not sent in development):",
    ...[`By:       ${service}`, `To:       ${recipient.email}`, `Title:    ${title}`, ""]
      .concat(text.trimEnd().split("\n"))
      .map((line) => `  │ ${line}`),
    "",
  ].join("\n");
