/**
 * Shows developers the notifications that the local service would send: e-mails as recipients would see
 * them, and messages as adapters receive them. Keeps asking the server for the notifications of the last
 * order.
 */
import { element, find, show } from "./elements.js";

const POLL_MS = 1_000;
const PATIENCE_MS = 30_000;
const time = new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeStyle: "short" });

/**
 * Shows the notifications, and polls for new ones.
 * @param {{payload: any, exchange: any}} trace of the last order, if there was one
 */
export async function showMails(trace) {
  const shown = new Set();
  const started = Date.now();
  let mails = [];
  for (;;) {
    const before = mails;
    mails = await fetch("/developer/mails").then(
      (response) => (response.ok ? response.json() : before),
      () => before, // the shop was stopped
    );
    for (const mail of mails.toReversed()) if (!shown.has(mail.name)) add(mail);
    for (const { name } of mails) shown.add(name);
    const isAwaited = isMissing(trace, mails);
    find("#mails").hidden = shown.size === 0 && !isAwaited;
    const ms = Date.now() - started;
    say(isAwaited ? awaited(ms) : about(shown.size));
    await moment(isAwaited && ms < PATIENCE_MS);
  }
}

/** Whether the last order requested a notification that has not arrived. */
function isMissing({ payload, exchange }, mails) {
  if (exchange?.status !== 200 || !payload?.notifications) return false;
  const { id } = JSON.parse(exchange.calls.at(-1).response.body);
  const arrived = mails
    .filter(({ text }) => text.includes(id))
    .map(({ service = "Email" }) => service);
  return payload.notifications.some((service) => !arrived.includes(service));
}

const awaited = (ms) =>
  ms < PATIENCE_MS
    ? "A notification is in the queue. It arrives in a moment. In a deployed service, it takes longer."
    : "No notification of the last order has arrived here. If the shop uses a service on another machine, look there. Otherwise, the terminal in which you started the shop shows the cause.";

const about = (count) =>
  `${count === 1 ? "The last notification" : "The last notifications, newest first"}. In development, nothing is sent. A deployed service sends e-mails of test keys to MAIL_TEST_TO, and messages of test keys to the adapters for test keys.`;

/**
 * Shows a status text. If the text is already shown, it is not set again, because screen readers would read it
 * again.
 */
function say(words) {
  if (find("[data-mail-status]").textContent !== words) show("[data-mail-status]", words);
}

/**
 * Waits before the next request for notifications: briefly if a notification is expected, otherwise until the
 * user returns to the page.
 */
const moment = (isAwaited) =>
  new Promise((resolve) => {
    if (isAwaited) setTimeout(resolve, POLL_MS);
    else addEventListener("focus", resolve, { once: true });
  });

/** Adds a notification at the top of the list, and collapses the others. */
function add(mail) {
  const list = find("[data-mails]");
  for (const other of list.children) other.open = false;
  list.prepend(mail.service ? shownMessage(mail) : shownMail(mail));
}

/** Returns an element that shows an e-mail with its content as the recipient sees it. */
function shownMail({ name, at, from, to, replyTo, subject, text }) {
  const frame = element("iframe", {
    title: subject,
    src: `/developer/mails/${name}`,
    sandbox: "allow-same-origin allow-popups allow-popups-to-escape-sandbox",
    loading: "lazy",
  });
  frame.addEventListener("load", () => fitted.observe(frame.contentDocument.body));
  const head = { From: `${from.name} <${from.email}>`, To: to, "Reply to": replyTo };
  const inner = element("details", {}, element("summary", {}, "Plain text"), plain(text));
  return folded({ kind: "E-mail", title: subject, at, head }, frame, inner);
}

/** Returns an element that shows a message as its adapter received it. */
function shownMessage({ at, service, recipient, title, text, language, isLive }) {
  const head = {
    To: recipient.email,
    Language: language,
    Mode: isLive ? "live" : "test",
  };
  return folded(
    { kind: service, title, at, head },
    element("div", { class: "message" }, plain(text)),
  );
}

function folded({ kind, title, at, head }, ...content) {
  const rows = Object.entries(head).filter(([, value]) => value);
  return element(
    "details",
    { open: "", class: "mail" },
    element(
      "summary",
      {},
      element("b", {}, title),
      element("span", {}, kind, " · ", element("time", {}, time.format(new Date(at)))),
    ),
    element("dl", {}, ...rows.map(row)),
    ...content,
  );
}

const row = ([name, value]) =>
  element("div", {}, element("dt", {}, name), element("dd", {}, element("bdi", {}, value)));

function plain(text) {
  const attributes = { role: "group", tabindex: "0", "aria-label": "The text" };
  return element("pre", attributes, element("code", {}, text));
}

/** Makes each frame as high as the e-mail in it, so that only the page scrolls. */
const fitted = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) {
    const frame = target.ownerDocument.defaultView?.frameElement;
    if (frame instanceof HTMLElement) frame.style.height = `${Math.ceil(contentRect.height)}px`;
  }
});
