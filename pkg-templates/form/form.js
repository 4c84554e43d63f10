/** `impact-pledge/form`: a plain HTML form that checks itself, and the same check of posted data on a server. */
import { controlsOf, fieldsOf } from "./fields.js";
import { Messages } from "./messages.js";
import { read } from "./read.js";

const INCOMPLETE = "too_few_items"; // shown once the form was sent, not while the shopper is still filling it in
/** Problems of several fields together, which are shown at the place of their group. */
const OF_GROUPS = new Set([INCOMPLETE, "too_many_items"]);

const bound = new WeakSet();

/** The payload of posted data and its issues, by the same rules as in the page. */
export function readForm(data, { hidden = () => false, maxIssues } = {}) {
  const entries = [...data].filter(([, value]) => typeof value === "string");
  return read(entries.map(([name, value]) => ({ name, value, hidden: hidden(name) })), "name", { maxIssues });
}

/** Checks a form as it is filled in, until it is unbound. */
export function bindForm(form, options = {}) {
  if (typeof form?.elements !== "object" || typeof form.addEventListener !== "function") throw new TypeError("`bindForm` takes a form element");
  if (bound.has(form)) throw new TypeError("this form is bound already: unbind it first");
  read([], "field"); // where WebAssembly cannot run this throws, before anything is changed: the form stays the browser's own
  const binding = new Binding(form, options);
  return { read: () => binding.read(), refresh: () => void binding.refresh(), unbind: () => binding.unbind() };
}

class Binding {
  #form;
  #options;
  #messages;
  #wasNative;
  #listening = new AbortController();
  #touched = new WeakSet(); // fields whose problems are shown: those that were left or chosen, and all when the form is sent
  #wasSent = false;
  #isBusy = false;
  #isPressed = false; // a mouse button is down: a message that came up now would move what is about to be clicked
  #serverErrors; // of fields that have not changed since
  #customValidity = new Map(); // by field
  #reported; // the pointers and codes that `onIssues` got last

  constructor(form, options) {
    bound.add(form);
    this.#form = form;
    this.#options = options;
    this.#wasNative = !form.noValidate;
    form.noValidate = true; // no bubbles: the problems stand beside the fields
    this.#messages = new Messages(form);
    this.#serverErrors = this.#messages.serverErrors(fieldsOf(form));
    for (const field of this.#serverErrors.keys()) this.#touched.add(field);
    this.#listen();
    this.refresh();
  }

  read(fields = fieldsOf(this.#form)) {
    return read(fields.flatMap(controlsOf), "field");
  }

  unbind() {
    this.#listening.abort();
    this.#clearCustomValidity(new Set()); // else the browser would still refuse the fields
    this.#messages.remove();
    this.#form.noValidate = !this.#wasNative;
    bound.delete(this.#form);
  }

  #listen() {
    const { signal } = this.#listening;
    const on = (target, type, listener) => target.addEventListener(type, listener, { capture: true, signal });
    const elsewhere = (event) => this.#form.contains(event.target) || this.#onField(event); // fields with a `form` attribute
    for (const type of ["input", "change", "focusout"]) {
      on(this.#form, type, (event) => this.#onField(event));
      on(this.#form.ownerDocument, type, elsewhere);
    }
    on(this.#form.ownerDocument, "mousedown", () => (this.#isPressed = true));
    on(this.#form.ownerDocument, "mouseup", () => this.#afterEvent(() => (this.#isPressed = false)));
    on(this.#form, "submit", (event) => this.#submit(event));
    on(this.#form, "reset", () => this.#afterEvent(() => this.#forget()));
  }

  /** Refreshes once the event has had its effect: a click where the mouse was released, the first values after a reset. */
  #afterEvent(change) {
    setTimeout(() => {
      change();
      if (!this.#listening.signal.aborted) this.refresh();
    });
  }

  #onField({ type, target }) {
    if (target.form !== this.#form) return;
    if (type !== "input") this.#touched.add(target);
    if (type !== "focusout") this.#serverErrors.delete(target);
    if (type === "input" || !this.#isPressed) this.refresh();
  }

  #forget() {
    this.#touched = new WeakSet();
    this.#serverErrors.clear();
    this.#wasSent = false;
  }

  #submit(event) {
    if (event.target !== this.#form || event.submitter?.formNoValidate) return;
    const fields = fieldsOf(this.#form);
    for (const field of fields) this.#touched.add(field);
    this.#serverErrors.clear();
    this.#wasSent = true;
    const { payload, problems, issues } = this.refresh();
    if (issues.length > 0 || problems.size > 0) this.#block(event, problems, issues);
    else if (this.#options.onSubmit) this.#submitPayload(event, payload);
  }

  /** As if the browser had found the problems itself: no other listener gets this event. */
  #block(event, problems, issues) {
    event.preventDefault();
    event.stopImmediatePropagation();
    const others = issues.filter(({ field }) => !problems.has(field));
    const lines = others.map((issue) => [issue.path.join("."), this.#text(issue)].filter(Boolean).join(": "));
    const count = problems.size + others.length;
    const summary = this.#options.summary?.(count) ?? `There ${count === 1 ? "is a problem" : `are ${count} problems`} in the form.`;
    this.#messages.announce([summary, ...lines].join(" "), others.length > 0);
    const [first] = problems.keys();
    // An element in a closed `details` cannot be focused.
    for (let details = first; (details = details?.parentElement.closest("details")); ) details.open = true;
    first?.focus();
  }

  /** Calls `onSubmit`; the form is not sent again until the promise that it returns is settled. */
  async #submitPayload(event, payload) {
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

  refresh() {
    const fields = fieldsOf(this.#form);
    const { payload, issues } = this.read(fields);
    const first = new Map([...issues].reverse().map((issue) => [issue.field, issue]));
    for (const field of fields) this.#setCustomValidity(field, first.get(field));
    this.#clearCustomValidity(new Set(fields));
    const problems = new Map(fields.map((field) => [field, this.#problem(field, first.get(field))]).filter(([, problem]) => problem));
    const shown = this.#messages.show(problems);
    if (shown.length > 0) this.#messages.announce(shown.join(" "));
    this.#report(issues);
    return { payload, issues, problems };
  }

  /** The browser knows each problem, shown or not: `:user-invalid` and `checkValidity` are right at any time. */
  #setCustomValidity(field, issue) {
    const text = issue ? this.#text(issue) : "";
    if ((this.#customValidity.get(field) ?? "") === text) return;
    if (text) this.#customValidity.set(field, text);
    else this.#customValidity.delete(field);
    field.setCustomValidity?.(text);
  }

  /** Of all fields but these: the others were removed or disabled. */
  #clearCustomValidity(fields) {
    for (const field of this.#customValidity.keys()) if (!fields.has(field)) this.#setCustomValidity(field);
  }

  /** Ours, else the browser's own, else the server's. */
  #problem(field, issue) {
    const text = field.validationMessage || this.#serverErrors.get(field);
    if (!text || !this.#touched.has(field) || (issue?.code === INCOMPLETE && !this.#wasSent)) return undefined;
    return { text, group: OF_GROUPS.has(issue?.code) ? issue.path.join(".") : undefined };
  }

  #text(issue) {
    const own = this.#options.messages?.[issue.code];
    return (typeof own === "function" ? own(issue) : own) ?? sentence(issue.message);
  }

  #report(issues) {
    const lines = issues.map(({ pointer, code }) => `${pointer} ${code}`).join("\n");
    if (lines !== this.#reported) this.#options.onIssues?.(issues);
    this.#reported = lines;
  }
}

/** The message as it stands beside a field, not behind a path. */
const sentence = (message) => message.charAt(0).toUpperCase() + message.slice(1).replace(/`([^`]*)`/g, "“$1”");
