/** Posts messages through Slack's Web API. To write an adapter for another messenger, replace this file. */
import { readText } from "./read.js";

/** The deadline of each call. */
const CALL_MS = 5_000;
const MAX_ANSWER_BYTES = 262_144;
/** Slack's errors about a user or a message. A retry would fail in the same way. */
const FINAL = new Set([
  "users_not_found",
  "channel_not_found",
  "msg_too_long",
  "msg_blocks_too_long",
  "invalid_blocks",
]);
/** Slack's temporary errors. All other errors concern the token or the app, and the operator has to correct them. */
const PASSING = new Set([
  "fatal_error",
  "internal_error",
  "request_timeout",
  "service_unavailable",
  "team_added_to_org",
]);

/** @typedef {{email: string, title: string, text: string, timelineUrl: string}} Message */
/**
 * The status of the answer to the service, and why, without personal data.
 * @typedef {{status: number, reason: string, headers?: Record<string, string>}} Outcome
 */

/**
 * Posts a message to the Slack user with this e-mail address.
 * @param {Message} message
 * @param {{SLACK_API: string, SLACK_BOT_TOKEN: string}} env
 * @returns {Promise<Outcome>}
 */
export async function post({ email, ...message }, env) {
  const found = await call("users.lookupByEmail", { email }, env);
  if (found.failure) return found.failure;
  const { id, deleted } = found.answer.user ?? {};
  if (!id || deleted) return { status: 422, reason: "users_not_found" };
  const posted = await call("chat.postMessage", { channel: id, ...contentOf(message) }, env);
  return posted.failure ?? { status: 200, reason: "posted" };
}

/**
 * Returns the parameters of a message. Slack interprets no part of rich text, so a name in it can be neither a mention
 * nor a link. Previews are off: for them, Slack would open the recipient's private page.
 */
function contentOf({ title, text, timelineUrl }) {
  const [beginning, ...rest] = text.split(timelineUrl);
  const link = { type: "link", url: timelineUrl };
  const elements = [
    { type: "text", text: title, style: { bold: true } },
    { type: "text", text: `\n\n${beginning}` },
    link,
    { type: "text", text: rest.join(timelineUrl) },
  ].filter((element) => element.text !== "");
  const blocks = [{ type: "rich_text", elements: [{ type: "rich_text_section", elements }] }];
  return {
    text: escaped(title), // for notifications
    blocks: JSON.stringify(blocks),
    unfurl_links: "false",
    unfurl_media: "false",
  };
}

const escaped = (text) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/**
 * Calls a method of Slack. The parameters are in the body, because addresses of requests appear in logs.
 * @returns {Promise<{answer: any, failure?: undefined} | {failure: Outcome}>}
 */
async function call(method, parameters, { SLACK_API, SLACK_BOT_TOKEN }) {
  const signal = AbortSignal.timeout(CALL_MS);
  try {
    const response = await fetch(`${SLACK_API}/${method}`, {
      method: "POST",
      headers: { authorization: `Bearer ${SLACK_BOT_TOKEN}` },
      body: new URLSearchParams(parameters),
      redirect: "manual", // a redirect would send the token to another host
      signal,
    });
    const answer = await readAnswer(response, signal);
    return answer.ok ? { answer } : { failure: failureOf(answer.error, response) };
  } catch {
    return { failure: { status: 503, reason: "Slack does not answer" } };
  }
}

/** Returns the JSON of an answer; an empty object for any other answer, whose body is not read. */
async function readAnswer(response, signal) {
  if (response.status === 200) {
    const { text } = await readText(response.body, MAX_ANSWER_BYTES, signal);
    return JSON.parse(text ?? "");
  }
  await response.body?.cancel();
  return {};
}

/** @param {string} [error] undefined if the answer is not one of Slack's API @returns {Outcome} */
function failureOf(error = "", { status, headers }) {
  if (status === 429 || error === "ratelimited")
    return {
      status: 429,
      reason: "ratelimited",
      headers: { "retry-after": headers.get("retry-after") ?? "60" },
    };
  if (!/^[a-z_]{1,64}$/.test(error)) return { status: 503, reason: `Slack answers ${status}` };
  if (FINAL.has(error)) return { status: 422, reason: error };
  return { status: PASSING.has(error) ? 503 : 500, reason: error };
}
