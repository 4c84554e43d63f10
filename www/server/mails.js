/** Handles e-mails in local development. Nothing is sent: e-mails are printed, and kept for the page for developers. */
import { keep, listKept, readKept } from "./kept.js";
import { withMessengers } from "./messengers.js";

/**
 * The content security policy of the page that shows an e-mail. As in a mail program, the e-mail loads only
 * the shop's logo and runs no scripts, and its links open a new page.
 */
const MAIL_POLICY = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  "img-src https:",
  "frame-ancestors 'self'",
  "sandbox allow-same-origin allow-popups allow-popups-to-escape-sandbox",
].join("; ");

/**
 * The origin of the last request. Until the first request, this is a default, because the real port is not
 * known.
 */
let lastOrigin = "http://127.0.0.1:8787";

/** Remembers the origin of the last request. @param {string} origin of a request */
export function noteOrigin(origin) {
  lastOrigin = origin;
}

/**
 * Returns the bindings and variables with which the local service delivers notifications. Its `EMAIL` binding
 * and its adapters store notifications, and send nothing. Links may therefore lead to this machine, and
 * `PUBLIC_ORIGIN` need not be set.
 */
export const withMails = (env) => ({
  ...withMessengers(env, lastOrigin),
  EMAIL: keptMails(env),
  PUBLIC_ORIGIN: env.PUBLIC_ORIGIN || lastOrigin,
});

/** Returns a binding `EMAIL` that stores e-mails, and sends nothing. @param {{MAILS: KVNamespace}} env */
export const keptMails = ({ MAILS }) => ({ send: (mail) => keepMail(mail, MAILS) });

async function keepMail(mail, namespace) {
  console.log(asText(mail));
  return { messageId: await keep(namespace, mail) };
}

function asText({ from, to, replyTo, subject, text }) {
  const head = [
    `From:     ${from.name} <${from.email}>`,
    `To:       ${to}`,
    ...(replyTo ? [`Reply-To: ${replyTo}`] : []),
    `Subject:  ${subject}`,
  ];
  const lines = [...head, "", ...text.trimEnd().split("\n")];
  return [
    "",
    "An e-mail (not sent in development):",
    ...lines.map((line) => `  │ ${line}`),
    "",
  ].join("\n");
}

/**
 * `GET /developer/mails`: returns the last e-mails and messages, newest first. `GET /developer/mails/{name}`: returns
 * the HTML of one e-mail.
 */
export async function mails({ pathname }, { MAILS: kept }) {
  const name = pathname.slice("/developer/mails/".length);
  return name === "" ? listed(kept) : shown(await readKept(kept, name));
}

async function listed(kept) {
  const all = await listKept(kept);
  const headers = { "cache-control": "no-store", "x-content-type-options": "nosniff" };
  return Response.json(
    all.map((each) => ({ ...each, html: undefined })),
    { headers },
  );
}

function shown(mail) {
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": MAIL_POLICY,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  };
  if (!mail?.html) return new Response("This e-mail is no longer kept.", { status: 404, headers });
  return new HTMLRewriter()
    .on("a", { element: (link) => link.setAttribute("target", "_blank") })
    .transform(new Response(mail.html, { headers }));
}

/** `POST /developer/notifications`: puts a message into the local queue, for `npm run emails`. */
export async function notify(request, { NOTIFICATIONS: queue }) {
  if (request.method !== "POST")
    return refused(405, "Put messages into the queue with POST.", { allow: "POST" });
  if (request.headers.get("content-type") !== "application/json")
    return refused(415, "Send the queue message as JSON, with the content type application/json.");
  const message = messageIn(await request.json().catch(() => null));
  if (!message) return refused(400, "A queue message must be {id, createdAt, round, service}.");
  await queue.send(message, { contentType: "json" });
  return Response.json(message, { status: 202 });
}

/**
 * Returns the value as a message of the queue, without unknown members. Returns null if it is not a message.
 */
function messageIn(value) {
  const { id, createdAt, round, service } = value ?? {};
  const isMessage =
    /^ptran_[a-z2-7]{1,64}$/.test(id) &&
    Number.isFinite(Date.parse(createdAt)) &&
    Number.isInteger(round) &&
    round >= 1 &&
    round < 2 ** 32 &&
    /^(Email|MessagingService[ABC])$/.test(service);
  return isMessage ? { id, createdAt, round, service } : null;
}

const refused = (status, message, headers = {}) => Response.json({ message }, { status, headers });
