/** Handles e-mails in local development. Nothing is sent: e-mails are printed, and kept for the page for developers. */
const MOST_MAILS = 20;
const KEPT_SECONDS = 7 * 24 * 60 * 60;
const NAME = /^\d{16}-[0-9a-f-]{36}$/;
const LATER_THAN_ALL = 9e15; // milliseconds: names count down from it, so that the newest e-mail is listed first

/**
 * The content security policy of a shown e-mail. As in a mail program, it loads only the shop's logo and runs nothing, and
 * links open a new page.
 */
const MAIL_POLICY = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  "img-src https:",
  "frame-ancestors 'self'",
  "sandbox allow-same-origin allow-popups allow-popups-to-escape-sandbox",
].join("; ");

/** The origin of the last request. Before the first request, the port is not known. */
let lastOrigin = "http://127.0.0.1:8787";

/** Remembers the origin of the last request. @param {string} origin of a request */
export function noteOrigin(origin) {
  lastOrigin = origin;
}

/**
 * Returns the environment in which the service consumes its queue. The binding `EMAIL` keeps e-mails. Their links
 * lead to this machine, because nobody else gets these e-mails. So `PUBLIC_ORIGIN` need not be set.
 */
export const withMails = (env) => ({
  ...env,
  EMAIL: { send: (mail) => keep(mail, env.MAILS) },
  PUBLIC_ORIGIN: env.PUBLIC_ORIGIN || lastOrigin,
});

async function keep(mail, kept) {
  console.log(asText(mail));
  const name = `${LATER_THAN_ALL - Date.now()}-${crypto.randomUUID()}`;
  const value = JSON.stringify({ ...mail, at: new Date().toISOString() });
  await kept.put(name, value, { expirationTtl: KEPT_SECONDS });
  const { keys } = await kept.list();
  await Promise.all(keys.slice(MOST_MAILS).map((old) => kept.delete(old.name)));
  return { messageId: name };
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
 * `GET /developer/mails`: returns the last e-mails, newest first. `GET /developer/mails/{name}`: returns the HTML of
 * one e-mail.
 */
export async function mails({ pathname }, { MAILS: kept }) {
  const name = pathname.slice("/developer/mails/".length);
  return name === "" ? listed(kept) : shown(NAME.test(name) ? await kept.get(name, "json") : null);
}

async function listed(kept) {
  const { keys } = await kept.list({ limit: MOST_MAILS });
  const read = async ({ name }) => ({ name, ...(await kept.get(name, "json")), html: undefined });
  const headers = { "cache-control": "no-store", "x-content-type-options": "nosniff" };
  return Response.json(await Promise.all(keys.map(read)), { headers });
}

function shown(mail) {
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": MAIL_POLICY,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  };
  if (mail === null)
    return new Response("This e-mail is no longer kept.", { status: 404, headers });
  return new HTMLRewriter()
    .on("a", { element: (link) => link.setAttribute("target", "_blank") })
    .transform(new Response(mail.html, { headers }));
}

/** `POST /developer/notifications`: puts a message into the local queue, for `npm run emails`. */
export async function notify(request, { NOTIFICATIONS: queue }) {
  if (request.method !== "POST")
    return refused(405, "Send messages of the queue by POST.", { allow: "POST" });
  if (request.headers.get("content-type") !== "application/json")
    return refused(
      415,
      "Send a message of the queue as JSON, with the content type application/json.",
    );
  const message = messageIn(await request.json().catch(() => null));
  if (!message)
    return refused(400, "A message of the queue must be {id, createdAt, round} of a transaction, and may have a service.");
  await queue.send(message, { contentType: "json" });
  return Response.json(message, { status: 202 });
}

/** Returns a value as a message of the queue, without any other members; null if it is not a message. */
function messageIn(value) {
  const { id, createdAt, round, service } = value ?? {};
  const isMessage =
    /^ptran_[a-z2-7]{1,64}$/.test(id) &&
    Number.isFinite(Date.parse(createdAt)) &&
    Number.isInteger(round) &&
    round >= 1 &&
    round < 2 ** 32 &&
    (service === undefined || /^MessagingService[ABC]$/.test(service));
  return isMessage ? { id, createdAt, round, service } : null;
}

const refused = (status, message, headers = {}) => Response.json({ message }, { status, headers });
