/** An adapter of the Impact Pledge service: it posts messages to recipients who use Slack. */
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { readText } from "./read.js";

export { Delivery } from "./delivery.js";

const MAX_BYTES = 65_536;
/** The service waits for 15 s. This wait and the two of src/slack.js take at most 13 s. */
const READ_MS = 3_000;

export default {
  async fetch(request, env) {
    const { id, status, reason, headers } = await outcomeOf(request, env).catch(unexpected);
    // Log neither the message nor the address: they are personal data. A signed ID names only the transaction.
    console.log(JSON.stringify({ id, status, reason }));
    return new Response(`${reason}\n`, { status, headers });
  },
};

/**
 * Verifies a request, and delivers its message.
 * @returns {Promise<{id?: string, status: number, reason: string, headers?: Record<string, string>}>} with the ID of a
 *   signed request
 */
async function outcomeOf(request, env) {
  if (request.method !== "POST")
    return { status: 405, reason: "not POST", headers: { allow: "POST" } };
  const body = await readText(request.body, MAX_BYTES, AbortSignal.timeout(READ_MS));
  if (body.problem)
    return { status: body.problem === "too long" ? 413 : 408, reason: body.problem };
  if (!isSigned(body.text, request.headers, env)) return { status: 401, reason: "not signed" };
  const message = messageIn(body.text);
  const id = request.headers.get("webhook-id");
  if (!message) return { id, status: 400, reason: "not a message" };
  return { id, ...(await env.DELIVERIES.getByName(id).deliver(message)) };
}

/** Whether the service signed the request with the shared secret, within the last 5 minutes. */
function isSigned(body, headers, { WEBHOOK_SECRET }) {
  const webhook = new Webhook(WEBHOOK_SECRET); // throws if the secret is missing
  try {
    webhook.verify(body, Object.fromEntries(headers), { jsonParse: false });
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}

/** Returns the members of a message that Slack needs; `null` for anything else. */
function messageIn(body) {
  const { recipient, title, text, timelineUrl } = parsed(body) ?? {};
  const message = { email: recipient?.email, title, text, timelineUrl };
  const isWhole = Object.values(message).every((value) => typeof value === "string");
  return isWhole && URL.canParse(timelineUrl) ? message : null;
}

function parsed(json) {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

function unexpected(error) {
  console.error(error);
  return { status: 500, reason: "unexpected" };
}
