/** What came of a request: the answer, the read that follows, the timeline and the messages. */
import { element, find, show } from "../pages/elements.js";
import { LANGUAGES, nameOf } from "./languages.js";
import { preview } from "./preview.js";

/** The headers that say something about the service. */
const SHOWN = ["idempotent-replayed", "retry-after", "x-request-id"];
const LOST =
  "The connection broke before the answer. The service has recorded the request, but the shop does not know. Create again with the same idempotency key: one transaction remains.";
const UNKNOWN =
  "The service cannot say whether the request was recorded. Create again with the same idempotency key.";
const REPLAYED = "An idempotent replay: the answer of the first request, and no new transaction.";
const LATE = "The read does not find the record yet. The next one will.";

/** @typedef {import("./service.js").Exchange} Exchange */

/**
 * @param {{exchange: Exchange, read: Exchange | null, key: string, fault: string, count: number}} outcome
 */
export function showAnswer({ exchange, read, key, fault, count }) {
  const notes = notesOn(exchange, read, key, fault);
  show(
    "[data-summary]",
    element(
      "p",
      {},
      status(exchange),
      ` in ${Math.max(1, Math.round(exchange.ms))} ms. `,
      counted(count),
    ),
    ...notes.map((note) => element("p", { class: "note" }, note)),
  );
  show("[data-answer]", ...(exchange.status === null ? [] : [message(exchange)]), ...readOf(read));
}

function notesOn({ status, headers }, read, key, fault) {
  const isReplayed = headers.some(([name]) => name === "idempotent-replayed");
  return [
    status === null && (key ? LOST : withoutKey(LOST)),
    status === 503 && fault === "write" && (key ? UNKNOWN : withoutKey(UNKNOWN)),
    isReplayed && REPLAYED,
    read?.status === 404 && LATE,
  ].filter((note) => note !== false);
}

const withoutKey = (note) =>
  `${note.slice(0, note.indexOf(" Create again"))} Without an idempotency key, a second request would be recorded twice.`;

const status = (exchange) =>
  exchange.status === null
    ? element("b", { class: "bad" }, "No answer")
    : element("b", { class: exchange.status < 400 ? "good" : "bad" }, `Status ${exchange.status}`);

const counted = (count) =>
  `${count} ${count === 1 ? "transaction is" : "transactions are"} recorded.`;

function message({ headers, text }) {
  const shown = headers.filter(([name]) => SHOWN.includes(name));
  const head = shown.map(([name, value]) => `${name}: ${value}\n`).join("");
  return element(
    "pre",
    { tabindex: "0", "aria-label": "Answer" },
    `${head}${head && "\n"}${indented(text)}`,
  );
}

/** @param {Exchange | null} read */
function readOf(read) {
  if (!read) return [];
  const title = `Then GET answered ${read.status}`;
  return [element("details", {}, element("summary", {}, title), message(read))];
}

function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** @param {Exchange[]} exchanges */
export const showLog = (exchanges) =>
  show(
    "[data-log]",
    ...exchanges.map(({ method, path, status }) =>
      element("li", {}, element("code", {}, `${method} ${path}`), ` ${status ?? "no answer"}`),
    ),
  );

/** @param {import("impact-pledge/testing").RecordedMessage[]} messages */
export function showMessages(messages) {
  find("[data-messages]").hidden = messages.length === 0;
  show(
    "[data-message-list]",
    ...messages.map(({ service, title, text, recipient }) =>
      element(
        "article",
        {},
        element(
          "p",
          { class: "head" },
          element("b", {}, service),
          ` to ${recipient.email}: ${title}`,
        ),
        element("pre", { tabindex: "0" }, text),
      ),
    ),
  );
}

/**
 * Makes the view of the timeline.
 * @param {(url: string, language: string) => Promise<Exchange>} load
 */
export function useTimeline(load) {
  const field = find("[data-timeline-language]");
  field.append(
    ...LANGUAGES.map((tag) => element("option", { value: tag, lang: tag }, nameOf(tag))),
  );
  field.value = "en";
  let url;
  const show = async (given) => {
    url = given;
    find("[data-timeline]").hidden = url === undefined;
    if (url === undefined) return find("[data-timeline-frame]").replaceChildren();
    const { text } = await load(url, field.value);
    find("[data-timeline-frame]").replaceChildren(preview(text, "Timeline", () => {}));
  };
  field.addEventListener("change", () => show(url));
  find("[data-reload]").addEventListener("click", () => show(url));
  return { show };
}
