/**
 * `impact-pledge/form`: a plain HTML form that checks itself. What a form says, what is wrong with it and which field
 * that belongs to is compiled Rust; here are only the fields, their messages and the events.
 */
import { entriesOf, fieldsOf } from "./fields.js";
import { Messages } from "./messages.js";
import { read } from "./read.js";

/** What the form as a whole lacks: said when it is sent, not while the shopper is still on the way. */
const WHOLE = "too_few_items";
const OF_GROUPS = new Set([WHOLE, "too_many_items"]);

const bound = new WeakSet();

/** What posted data says, by the same rules as in the page. */
export function readForm(data, { hidden = () => false } = {}) {
  const entries = [...data].filter(([, value]) => typeof value === "string");
  const { payload, issues } = read(entries.map(([name, value]) => ({ name, value, hidden: hidden(name) })));
  return { valid: issues.length === 0, payload, issues: issues.map(({ control, ...issue }) => ({ ...issue, name: entries[control]?.[0] ?? null })) };
}

/** Checks a form as it is filled in, until it is unbound. */
export function bindForm(form, options = {}) {
  if (typeof form?.elements !== "object" || typeof form.addEventListener !== "function") throw new TypeError("`bindForm` takes a form element");
  if (bound.has(form)) throw new TypeError("this form is bound already: unbind it first");
  const binding = new Binding(form, options);
  return { read: () => binding.read(), refresh: () => void binding.refresh(), unbind: () => binding.unbind() };
}

class Binding {
  #form;
  #options;
  #messages;
  #wasNative;
  #listening = new AbortController();
  /** Fields whose problems are shown: those that were left or chosen, and all when the form is sent. */
  #touched = new WeakSet();
  #wasSent = false;
  #isBusy = false;
  /** Whether a mouse button is down: a message that came up now would move what is about to be clicked. */
  #isPressed = false;
  /** What the server said of fields that have not changed since. */
  #served = new Map();
  /** What we told the browser. */
  #said = new Map();
  #told;

  constructor(form, options) {
    bound.add(form);
    this.#form = form;
    this.#options = options;
    this.#wasNative = !form.noValidate;
    form.noValidate = true; // no bubbles: the problems stand beside the fields
    this.#messages = new Messages(form);
    for (const field of fieldsOf(form)) this.#adopt(field);
    this.#listen();
    this.refresh();
  }

  #adopt(field) {
    const text = this.#messages.served(field);
    if (!text) return;
    this.#served.set(field, text);
    this.#touched.add(field);
  }

  read(fields = fieldsOf(this.#form)) {
    const entries = fields.flatMap(entriesOf);
    const { payload, issues } = read(entries);
    return { valid: issues.length === 0, payload, issues: issues.map(({ control, ...issue }) => ({ ...issue, field: entries[control]?.field ?? null })) };
  }

  unbind() {
    this.#listening.abort();
    this.#forget(new Set()); // else the browser would still refuse them
    this.#messages.remove();
    this.#form.noValidate = !this.#wasNative;
    bound.delete(this.#form);
  }

  // ---- Events ----

  #listen() {
    const { signal } = this.#listening;
    const on = (target, type, listener) => target.addEventListener(type, listener, { capture: true, signal });
    const elsewhere = (event) => this.#form.contains(event.target) || this.#met(event); // fields with a `form` attribute
    for (const type of ["input", "change", "focusout"]) {
      on(this.#form, type, (event) => this.#met(event));
      on(this.#form.ownerDocument, type, elsewhere);
    }
    on(this.#form.ownerDocument, "mousedown", () => (this.#isPressed = true));
    on(this.#form.ownerDocument, "mouseup", () => setTimeout(() => this.#released())); // behind the click
    on(this.#form, "submit", (event) => this.#submit(event));
    on(this.#form, "reset", () => setTimeout(() => this.#reset())); // before the values change
  }

  #met({ type, target }) {
    if (target.form !== this.#form) return;
    if (type === "focusout") this.#touched.add(target);
    else this.#served.delete(target);
    if (type === "change") this.#touched.add(target);
    if (type === "input" || !this.#isPressed) this.refresh();
  }

  #released() {
    this.#isPressed = false;
    if (!this.#listening.signal.aborted) this.refresh();
  }

  #reset() {
    this.#touched = new WeakSet();
    this.#served.clear();
    this.#wasSent = false;
    if (!this.#listening.signal.aborted) this.refresh();
  }

  #submit(event) {
    if (event.target !== this.#form || event.submitter?.formNoValidate) return;
    const fields = fieldsOf(this.#form);
    for (const field of fields) this.#touched.add(field);
    this.#served.clear();
    this.#wasSent = true;
    const { payload, problems, issues } = this.refresh();
    if (issues.length > 0 || problems.size > 0) this.#refuse(event, problems, issues);
    else if (this.#options.onSubmit) this.#hand(event, payload);
  }

  /** As if the browser had found the problems itself: nobody else hears of this event. */
  #refuse(event, problems, issues) {
    event.preventDefault();
    event.stopImmediatePropagation();
    const unseen = issues.filter(({ field }) => !problems.has(field));
    const lines = unseen.map((issue) => `${issue.path.join(".")}: ${this.#text(issue)}`);
    this.#messages.announce([this.#summary(problems.size + unseen.length), ...lines].join(" "), unseen.length > 0);
    const [first] = problems.keys();
    for (let fold = first; (fold = fold?.parentElement.closest("details")); ) fold.open = true; // what is folded up takes no focus
    first?.focus();
  }

  #summary(count) {
    return this.#options.summary?.(count) ?? (count === 1 ? "There is a problem in the form." : `There are ${count} problems in the form.`);
  }

  /** Hands the payload on; until what that begins has ended, the form is not sent again. */
  async #hand(event, payload) {
    event.preventDefault();
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#form.setAttribute("aria-busy", "true");
    try {
      await this.#options.onSubmit(payload, event);
    } finally {
      this.#isBusy = false;
      this.#form.removeAttribute("aria-busy");
    }
  }

  // ---- What is wrong, and what of it is shown ----

  refresh() {
    const fields = fieldsOf(this.#form);
    const { payload, issues } = this.read(fields);
    const first = new Map([...issues].reverse().map((issue) => [issue.field, issue]));
    for (const field of fields) this.#inform(field, first.get(field));
    this.#forget(new Set(fields));
    const problems = new Map(fields.map((field) => [field, this.#problem(field, first.get(field))]).filter(([, problem]) => problem));
    const news = this.#messages.show(problems);
    if (news.length > 0) this.#messages.announce(news.join(" "));
    this.#tell(issues);
    return { payload, issues, problems };
  }

  /** The browser knows each problem, shown or not: `:user-invalid` and `checkValidity` are right at any time. */
  #inform(field, issue) {
    const text = issue ? this.#text(issue) : "";
    if ((this.#said.get(field) ?? "") === text) return;
    if (text) this.#said.set(field, text);
    else this.#said.delete(field);
    field.setCustomValidity?.(text);
  }

  /** Fields that were taken away or disabled. */
  #forget(fields) {
    for (const field of this.#said.keys()) if (!fields.has(field)) this.#inform(field);
  }

  /** Ours, else the browser's own, else the server's. */
  #problem(field, issue) {
    const text = field.validationMessage || this.#served.get(field);
    if (!text || !this.#touched.has(field) || (issue?.code === WHOLE && !this.#wasSent)) return undefined;
    return { text, group: issue && OF_GROUPS.has(issue.code) ? issue.path.join(".") : undefined };
  }

  #text(issue) {
    const own = this.#options.messages?.[issue.code];
    return (typeof own === "function" ? own(issue) : own) ?? sentence(issue.message);
  }

  #tell(issues) {
    const words = issues.map(({ pointer, code }) => `${pointer} ${code}`).join("\n");
    if (words !== this.#told) this.#options.onIssues?.(issues);
    this.#told = words;
  }
}

/** The message as it stands beside a field, not behind a path. */
function sentence(message) {
  return message.charAt(0).toUpperCase() + message.slice(1).replace(/`([^`]*)`/g, "“$1”");
}
