/** `impact-pledge/form`: a plain HTML form that checks itself, and the same check of posted data on a server. */
import { mostOf } from "../validate/options.js";
import { attachChecks } from "./binding.js";
import { zoneOf } from "./dates.js";
import { checkOptions } from "./options.js";
import { read } from "./read.js";

export { fieldAttributes } from "./attributes.js";

const MESSAGES = "function or object";
const READ = {
  hidden: "function",
  messages: MESSAGES,
  maxIssues: (maxIssues) => mostOf({ maxIssues }),
  optional: "boolean",
  timeZone: zoneOf,
};
const BIND = {
  messages: MESSAGES,
  summary: "function",
  onSubmit: "function",
  onIssues: "function",
  optional: "boolean",
  timeZone: zoneOf,
};

/** Aborted once the form is unbound. @type {WeakMap<HTMLFormElement, AbortSignal>} */
const bound = new WeakMap();
let wasLogged = false;

/** The payload of posted data and its issues, by the same rules as in the page. */
export function readForm(data, options = {}) {
  const { hidden = () => false, timeZone = "UTC", ...others } = checkOptions(READ, options);
  const entries = [...data].filter(([, value]) => typeof value === "string");
  return reading(
    read(
      entries.map(([name, value]) => ({ name, value, hidden: hidden(name) })),
      "name",
      { ...others, timeZone },
    ),
  );
}

/** Checks a form as it is filled in, until it is unbound. */
export function bindForm(form, options = {}) {
  if (typeof form?.elements !== "object" || typeof form.addEventListener !== "function")
    throw new TypeError("`bindForm` takes a form element");
  if (bound.get(form)?.aborted === false)
    throw new TypeError("this form is bound already: unbind it first");
  checkOptions(BIND, options);
  const { signal, read, refresh, report, unbind } = canRun() ? attachChecks(form, options) : INERT;
  bound.set(form, signal);
  const whileActive = (work) => (argument) => void (signal.aborted || work(argument));
  return {
    get isActive() {
      return !signal.aborted;
    },
    read: () => reading(read()),
    refresh: whileActive(() => refresh()),
    report: whileActive(report),
    unbind: whileActive(unbind),
  };
}

/** What a form has that stays the browser's own. */
const INERT = { signal: { aborted: true }, read: () => ({ valid: false, issues: [] }) };

/** Whether the rules can run here, on a problem for which they need both coders of text. */
function canRun() {
  try {
    return read([{ name: "recipient.x", value: "x" }], "field");
  } catch (error) {
    if (!wasLogged) console.error("impact-pledge: forms are not checked:", error);
    wasLogged = true;
    return false;
  }
}

const reading = ({ valid, payload, issues }) => ({ valid, payload, issues });
