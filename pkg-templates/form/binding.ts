/* Checks a form in a page while it is filled in. */
import { buttonOf, showFailure } from "./failure.ts";
import { type Field, controlsOf, fieldsOf } from "./fields.ts";
import { type Line, liveRegion } from "./live.ts";
import { type Problem, messagesOf } from "./messages.ts";
import { nativeText } from "./native.ts";
import { type Control, type OwnerAt, type Reading, read } from "./read.ts";
import { type ServerIssue, issuesOf, quietly, readIssues } from "./reported.ts";
import { formText, reportedText } from "./texts.ts";
import type { BindFormOptions, FormIssue } from "./types.ts";

/** The checks of a form. */
export interface Checks {
  read(): FieldReading;
  refresh(): unknown;
  /** Shows issues that a server found. */
  report(issues: unknown): unknown;
}

type FieldControl = Control & { readonly field: Field };
type FieldReading = [Reading<FieldControl, "field">, OwnerAt<FieldControl, "field">];
type FieldIssue = FieldReading[0]["issues"][number];

const INCOMPLETE = "too_few_items"; // shown once the form was sent, not while the shopper is still filling it in
/** Codes about several fields together, whose problem is shown in the element of their group. */
const OF_GROUPS = /_items$/;

/**
 * Checks a form until it is unbound. Closures, because a minifier cannot shorten the members of a class as much.
 * @param signal aborted when the form is unbound
 */
export function attachChecks(
  form: HTMLFormElement,
  options: BindFormOptions<boolean>,
  signal: AbortSignal,
): Checks {
  const wasNative = !form.noValidate;
  form.noValidate = true; // no bubbles: problems are shown beside the fields
  const messages = messagesOf(form),
    live = liveRegion(form);
  const serverErrors = messages.serverErrors(fieldsOf(form)); // of fields that were not edited since
  const serverLines = new Set<string>(); // issues of the server without a field
  const customValidity = new Map<Field, string>(); // by field
  const hiddenInvalid = new Set<Field>(); // fields that are invalid, but do not show it yet
  let touched = new WeakSet<Field>(serverErrors.keys()); // fields whose problems are shown: those that were left or chosen, and all when the form is sent
  let wasSent = false,
    isBusy = false;
  let isPressed = false; // a mouse button is down: showing a message now could move the click target
  let problems = new Map<Field, Problem>(); // those that are shown, by field
  let lines = new Set<string>(); // the problems that no field can show
  let fieldAt: FieldReading[1] | undefined; // returns the field of a path in the payload that was sent
  let failure: HTMLElement | undefined; // the message that `onSubmit` failed
  let notified: string | undefined; // the last pointers and codes passed to `onIssues`

  // ---- Events ----

  function listen(): void {
    const on = (target: EventTarget, type: string, listener: (event: never) => unknown) =>
      target.addEventListener(type, listener as EventListener, { capture: true, signal });
    const elsewhere = (event: FieldEvent) => form.contains(event.target) || onField(event); // fields with a `form` attribute
    for (const type of ["input", "change", "focusout"]) {
      on(form, type, onField);
      on(form.ownerDocument, type, elsewhere);
    }
    on(form.ownerDocument, "mousedown", () => (isPressed = true));
    on(form.ownerDocument, "mouseup", () => afterEvent(() => (isPressed = false)));
    on(form, "submit", onSubmit);
    on(form, "reset", () => afterEvent(forget));
    signal.addEventListener("abort", unbind);
  }

  /** Refreshes after the event has taken effect: the click after a release of the mouse, the initial values of a reset. */
  function afterEvent(change: () => unknown): void {
    setTimeout(() => {
      change();
      if (!signal.aborted) refresh();
    });
  }

  function onField({ type, target }: FieldEvent): void {
    if (target.form !== form) return;
    if (type !== "input") touched.add(target);
    if (type !== "focusout") forgetErrorOf(target);
    if (type === "input" || !isPressed) refresh();
  }

  function onSubmit(event: SubmitEvent): void {
    if (event.target !== form || (event.submitter as HTMLButtonElement | null)?.formNoValidate)
      return;
    if (isBusy) return event.preventDefault();
    for (const field of fieldsOf(form)) touched.add(field);
    forgetServer();
    wasSent = true;
    const [{ payload, issues }, ownerAt] = refresh(true);
    fieldAt = ownerAt;
    if (issues.length > 0 || problems.size > 0) block(event, issues);
    else if (options.onSubmit) submit(event, payload);
  }

  /** Cancels the event for other listeners, too, as when the browser itself finds problems. */
  function block(event: SubmitEvent, issues: readonly FieldIssue[]): void {
    event.preventDefault();
    event.stopImmediatePropagation();
    const lost = issues.filter(hasNoField);
    if (lost.length > 0)
      console.warn(`impact-pledge: no field can show ${linesOf(lost).join(", ")}`);
    announce(lines);
    focus(problems.keys().next().value);
  }

  /** Calls `onSubmit`; the form is not sent again until the promise that it returns is settled. */
  async function submit(event: SubmitEvent, payload: unknown): Promise<void> {
    event.preventDefault();
    isBusy = true;
    form.setAttribute("aria-busy", "true");
    try {
      const data = new FormData(form, buttonOf(form, event.submitter)); // as the browser would post it
      const answer = await options.onSubmit!(payload as never, { data, event } as never);
      if (issuesOf(answer)) refused(answer, event);
    } catch (error) {
      refused(error, event);
    } finally {
      isBusy = false;
      form.removeAttribute("aria-busy");
    }
  }

  // ---- Issues of a server ----

  /** Shows the issues that `onSubmit` returned or threw. If none can be shown, reports the value to the developer. */
  function refused(answer: unknown, { submitter }: SubmitEvent): void {
    if (report(issuesOf(answer))) return;
    if (!signal.aborted) failure = showFailure(form, options.messages, submitter);
    (globalThis.reportError ?? console.error)(answer); // like an uncaught error
  }

  /** Shows issues instead of those of an earlier call. @returns {boolean} whether there is anything to show */
  function report(reported: unknown): boolean {
    const issues = readIssues(reported);
    if (signal.aborted) return issues.length > 0;
    forgetServer();
    fieldAt ??= readNow()[1];
    const fields = new Set(fieldsOf(form));
    for (const issue of issues)
      addServerIssue({ ...issue, field: fieldAt(issue.path.join("."))! }, fields);
    refresh(true);
    if (issues.length === 0) return false;
    announce(serverLines);
    focus([...problems.keys()].find((field) => serverErrors.has(field)));
    return true;
  }

  /** Shows an issue beside its field, or else on a separate line. It does not make the field invalid. */
  function addServerIssue(
    issue: ServerIssue & { readonly field: Field },
    fields: ReadonlySet<Field>,
  ): unknown {
    const { field, path, message } = issue,
      text = quietly(() => reportedText(issue, options.messages)) ?? message; // a function may expect details that the issue does not have
    if (!fields.has(field) || field.type === "hidden") return serverLines.add(text);
    touched.add(field);
    if (!serverErrors.has(field))
      serverErrors.set(field, { text, group: path.length === 1 ? path[0] : undefined });
  }

  /** Removes the issue of a field, of the other buttons or checkboxes of its name, and of its group. */
  function forgetErrorOf({ name }: Field): void {
    for (const [field, { group }] of serverErrors)
      if (field.name === name || name.split(".")[0] === group) serverErrors.delete(field);
  }

  function forgetServer(): void {
    serverErrors.clear();
    serverLines.clear();
    failure?.remove();
    live.clear();
  }

  function forget(): void {
    touched = new WeakSet();
    wasSent = false;
    forgetServer();
  }

  // ---- Display ----

  const readNow = (fields = fieldsOf(form)) => read(fields.flatMap(controlsOf), "field", options);

  function refresh(isSilent?: boolean): FieldReading {
    const fields = fieldsOf(form),
      reading = readNow(fields),
      [{ issues }] = reading;
    const first = new Map<Field | null, FieldIssue>(
      [...issues].reverse().map((issue) => [issue.field, issue]),
    );
    for (const field of fields) setCustomValidity(field, first.get(field));
    clearCustomValidity(new Set(fields));
    problems = new Map(
      fields
        .map((field) => [field, problemOf(field, first.get(field))] as [Field, Problem])
        .filter(([, problem]) => problem),
    );
    lines = new Set(issues.filter(hasNoField).map(({ message }) => message));
    const shown = messages.show(problems);
    fields.forEach(hideInvalidState);
    live.update();
    if (!isSilent)
      live.add(
        shown.map(([field, { text }]) => ({
          text,
          holds: () => problems.get(field)?.text === text,
        })),
      );
    notify(issues);
    return reading;
  }

  /** Tells the browser each problem, shown or not, so that `:user-invalid` and `checkValidity` are always right. */
  function setCustomValidity(field: Field, issue?: FieldIssue): void {
    const text = issue?.message ?? "";
    if ((customValidity.get(field) ?? "") === text) return;
    if (text) customValidity.set(field, text);
    else customValidity.delete(field);
    field.setCustomValidity?.(text);
  }

  /** Keeps screen readers from announcing fields as invalid that were not visited yet. They never do for radio buttons. */
  function hideInvalidState(field: Field): void {
    const isHidden =
      field.validationMessage &&
      field.type !== "radio" &&
      field.getAttribute("aria-invalid") !== "true";
    if (isHidden && hiddenInvalid.add(field)) field.setAttribute("aria-invalid", "false");
    else if (hiddenInvalid.delete(field) && !problems.has(field))
      field.removeAttribute("aria-invalid");
  }

  /** Clears the problems of all fields but these: the others were removed or disabled. */
  function clearCustomValidity(fields: ReadonlySet<Field>): void {
    for (const field of customValidity.keys()) if (!fields.has(field)) setCustomValidity(field);
  }

  /** Returns the problem found by the rules, or else by the browser, or else by the server. */
  function problemOf(field: Field, issue: FieldIssue | undefined): Problem | undefined {
    if (!touched.has(field) || (issue?.code === INCOMPLETE && !wasSent)) return undefined;
    return field.validationMessage
      ? {
          text: issue?.message ?? nativeText(field, options.messages),
          group: OF_GROUPS.test(issue?.code as string) ? issue!.path.join(".") : undefined,
        }
      : serverErrors.get(field);
  }

  const countNow = () => problems.size + new Set([...lines, ...serverLines]).size;

  /** Announces the number of problems, and those without a field, until that changes. */
  function announce(texts: ReadonlySet<string>): void {
    const count = countNow(),
      summary = options.summary?.(count) ?? formText(options.messages, "summary", { count });
    const others: Line[] = [...texts].map((text) => ({
      text,
      holds: () => lines.has(text) || serverLines.has(text),
      isVisible: true,
    }));
    live.clear();
    live.add([
      { text: summary, holds: () => countNow() === count, isVisible: others.length > 0 },
      ...others,
    ]);
  }

  function notify(issues: FieldIssue[]): void {
    const now = linesOf(issues).join("\n");
    if (now !== notified) options.onIssues?.(issues as FormIssue[]);
    notified = now;
  }

  function unbind(): void {
    clearCustomValidity(new Set()); // else the browser would still treat the fields as invalid
    problems = new Map();
    messages.show(problems);
    for (const field of hiddenInvalid) field.removeAttribute("aria-invalid");
    live.remove();
    failure?.remove();
    form.noValidate = !wasNative;
  }

  listen();
  refresh();
  return { read: readNow, refresh, report };
}

/** An event of a field in the form or elsewhere in the page. */
interface FieldEvent {
  readonly type: string;
  readonly target: Field;
}

/** Whether an issue has no field that can show it; fields that the browser does not validate, such as hidden ones, cannot. */
const hasNoField = ({ field }: FieldIssue) => !field?.validationMessage;

const linesOf = (issues: readonly FieldIssue[]) =>
  issues.map(({ pointer, code }) => `${pointer} ${code}`);

function focus(field: Field | undefined): void {
  // An element in a closed `details` cannot be focused.
  let details = field?.closest("details");
  while (details) {
    details.open = true;
    details = details.parentElement!.closest("details");
  }
  field?.focus();
}
