/** The script of the page that shows developers what happened in this tab's checkout. */
import { codeOf } from "./code.js";
import { element, find, show } from "./elements.js";
import { showMails } from "./mails.js";
import { readTrace } from "./trace.js";

const dim = (text) => element("span", { class: "dim" }, text);
const key = (text) => element("span", { class: "key" }, text);

/** Formats JSON, and highlights its member names. */
function* coloured(json) {
  for (const line of JSON.stringify(json, null, 2).split("\n")) {
    const [, indent, name, rest] = line.match(/^(\s*)("(?:[^"\\]|\\.)*")(: .*)$/) ?? [];
    yield* name === undefined ? [`${line}\n`] : [indent, key(name), `${rest}\n`];
  }
}

function* message(start, headers, body) {
  yield `${start}\n`;
  for (const [name, value] of Object.entries(headers)) yield* [key(name), dim(": "), `${value}\n`];
  yield "\n";
  yield* bodyOf(body);
}

function bodyOf(text) {
  try {
    return coloured(JSON.parse(text));
  } catch {
    return [text || "(no body)"];
  }
}

const milliseconds = (ms) => (ms < 10 ? `${ms.toFixed(2)} ms` : `${Math.round(ms)} ms`);

function showTyped(typed) {
  const slowest = Math.max(0, ...typed.map(({ ms }) => ms));
  show(
    "[data-typed]",
    `The whole form was checked at each keystroke. The slowest check took ${milliseconds(slowest)}. Each line shows how the errors changed.`,
  );
  show("[data-log]", ...typed.map(step));
}

function step({ at, field, issues }) {
  const after = field ? [dim("after "), element("code", {}, field)] : [dim("at first")];
  const wrong =
    issues.length === 0 ? [element("b", { class: "good" }, "no errors")] : issues.map(problem);
  return element(
    "li",
    {},
    element("time", {}, `${(at / 1000).toFixed(1)} s`),
    element("div", {}, element("p", {}, ...after), ...wrong),
  );
}

function problem(text) {
  const [pointer, code] = text.split(" ");
  return element("p", {}, element("code", {}, pointer), " ", element("b", { class: "bad" }, code));
}

function showExchange({ calls, status, ms, message: words }) {
  const call = calls.at(-1);
  if (!call) return missing(words ?? "The order was not sent.");
  const { request, response } = call;
  show(
    "[data-request]",
    ...message(`${request.method} ${request.url}`, request.headers, request.body),
  );
  if (!response) return missing(words);
  const tries = calls.length > 1 ? `The request was sent ${calls.length} times. ` : "";
  show(
    "[data-answered]",
    `${tries}The shop passed on ${status === 200 ? "the timeline’s URL" : `an error message (${status})`}.`,
  );
  show("[data-response]", ...message(`${response.status}`, response.headers, response.body));
  showTiming({ whole: ms, service: calls.reduce((sum, { ms = 0 }) => sum + ms, 0) });
}

function missing(words) {
  show("[data-answered]", words);
  show("[data-response]", "(nothing)");
}

function showTiming({ whole, service }) {
  const rows = {
    "From button to response": whole,
    "Pledge service": service,
    "Shop’s server and network": Math.max(0, whole - service),
  };
  show("[data-timing]", ...Object.entries(rows).map(([name, ms]) => bar(name, ms, whole)));
}

function bar(name, ms, most) {
  const row = element("div", {}, element("dt", {}, name), element("dd", {}, milliseconds(ms)));
  row.style.setProperty("--part", ms / most);
  return row;
}

/** Shows the generated code with a line that explains it. @param {string} about what the code is for */
function showCode(code, about) {
  find("#code").hidden = false;
  show("[data-about-code]", about);
  for (const [name, text] of Object.entries(code)) show(`[data-code=${name}]`, text);
}

async function copy({ currentTarget: button }) {
  const code = find(`[data-code=${button.dataset.copy}]`);
  const isCopied = await navigator.clipboard.writeText(code.textContent).then(
    () => true,
    () => false,
  );
  if (!isCopied) getSelection()?.selectAllChildren(code);
  show(
    "[data-copy-status]",
    isCopied
      ? "Copied."
      : "The browser does not allow copying. The code is selected: copy it with the keyboard.",
  );
}

for (const button of document.querySelectorAll("[data-copy]"))
  button.addEventListener("click", copy);

const trace = readTrace();
if (!trace.exchange) {
  show(
    "#intro",
    "Nothing yet. Place an order in this tab, then come back. Until then, the code below is for an example.",
  );
  find("#nothing").hidden = false;
  showCode(codeOf(trace), "Code for an order with three trees.");
} else {
  show("#intro", "Your last order in this tab, from the first keystroke to the service’s answer.");
  find("#trace").hidden = false;
  showTyped(trace.typed);
  show("[data-payload]", ...coloured(trace.payload));
  showExchange(trace.exchange);
  showCode(
    codeOf(trace),
    "Code for your last order. The API key comes from the environment, because it must never be in a page.",
  );
}
showMails(trace);
