/** Shows developers the local service's e-mails as their readers would see them, the last order's as soon as it is there. */
import { element, find, show } from "./elements.js";

const POLL_MS = 1_000;
const PATIENCE_MS = 30_000;
const time = new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeStyle: "short" });

/** @param {{payload: any, exchange: any}} trace of the last order, if there was one */
export async function showMails(trace) {
  const shown = new Set();
  const started = Date.now();
  let mails = [];
  for (;;) {
    const before = mails;
    mails = await fetch("/developer/mails").then(
      (response) => (response.ok ? response.json() : before),
      () => before, // the shop has been ended
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

/** Whether the last order asked for an e-mail that is not there. */
function isMissing({ payload, exchange }, mails) {
  if (exchange?.status !== 200 || !payload?.notifications) return false;
  const { id } = JSON.parse(exchange.calls.at(-1).response.body);
  return !mails.some(({ text }) => text.includes(id));
}

const awaited = (ms) =>
  ms < PATIENCE_MS
    ? "On its way: it waits in the queue for a moment, in a deploy for longer."
    : "None has come for the last order. If the shop uses a service elsewhere, that one sends it; else the terminal says why.";

const about = (count) =>
  `${count === 1 ? "As its reader sees it" : "As their readers see them, the newest first"}. E-mails of a test key go to MAIL_TEST_TO, those of a live key to the recipients; in development none is sent.`;

/** Says what is new: a text that is set again would be read out again. */
function say(words) {
  if (find("[data-mail-status]").textContent !== words) show("[data-mail-status]", words);
}

/** Waits for the next look: a moment if an e-mail is awaited, else until somebody comes back to the page. */
const moment = (isAwaited) =>
  new Promise((resolve) => {
    if (isAwaited) setTimeout(resolve, POLL_MS);
    else addEventListener("focus", resolve, { once: true });
  });

/** Puts an e-mail above the others, which it closes. */
function add(mail) {
  const list = find("[data-mails]");
  for (const other of list.children) other.open = false;
  list.prepend(shownMail(mail));
}

function shownMail({ name, at, from, to, replyTo, subject, text }) {
  const frame = element("iframe", {
    title: subject,
    src: `/developer/mails/${name}`,
    sandbox: "allow-same-origin allow-popups allow-popups-to-escape-sandbox",
    loading: "lazy",
  });
  frame.addEventListener("load", () => fitted.observe(frame.contentDocument.body));
  const head = { From: `${from.name} <${from.email}>`, To: to, "Reply to": replyTo };
  const rows = Object.entries(head).filter(([, value]) => value);
  return element(
    "details",
    { open: "", class: "mail" },
    element(
      "summary",
      {},
      element("b", {}, subject),
      element("time", {}, time.format(new Date(at))),
    ),
    element("dl", {}, ...rows.map(row)),
    frame,
    element("details", {}, element("summary", {}, "The same as plain text"), plain(text)),
  );
}

const row = ([name, value]) =>
  element("div", {}, element("dt", {}, name), element("dd", {}, element("bdi", {}, value)));

function plain(text) {
  const attributes = { role: "group", tabindex: "0", "aria-label": "The e-mail as plain text" };
  return element("pre", attributes, element("code", {}, text));
}

/** Makes each frame as high as its e-mail: a reader scrolls one page. */
const fitted = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) {
    const frame = target.ownerDocument.defaultView?.frameElement;
    if (frame instanceof HTMLElement) frame.style.height = `${Math.ceil(contentRect.height)}px`;
  }
});
