/* Checks a form in a page while the shopper fills it in. */
import { controlsOf, entryListOf } from "./entries.ts";
import { buttonOf, removeFailure, showFailure } from "./failure.ts";
import { type Field, canShow, fieldsOf, memberOf, nameOf } from "./fields.ts";
import { focus, hiddenLines } from "./hidden.ts";
import {
  type FieldIssue,
  type FieldReading,
  groupOf,
  hasNoField,
  isIncomplete,
  linesOf,
} from "./issues.ts";
import { type Line, liveRegion } from "./live.ts";
import { type Problem, messagesOf } from "./messages.ts";
import { nativeText } from "./native.ts";
import { watchFields } from "./page.ts";
import { read } from "./read.ts";
import { type ServerIssue, issuesOf, tryOrUndefined, readIssues } from "./reported.ts";
import { endSending, endSendingUnlessLeaving, isBusy, startSending } from "./sending.ts";
import { formText, reportedText } from "./texts.ts";
import type { BindFormOptions, FormIssue } from "./types.ts";
import { customValidity } from "./validity.ts";

/** The checks of a form. */
export interface Checks {
  read(): FieldReading;
  refresh(): unknown;
  /** Shows the issues that a server found. */
  report(issues: unknown): unknown;
}

/**
 * Checks a form until it is unbound. Uses closures instead of a class, because a minifier can shorten their names more.
 * @param signal aborted when the form is unbound
 */
export function attachChecks(
  form: HTMLFormElement,
  options: BindFormOptions<boolean>,
  signal: AbortSignal,
): Checks {
  const messages = messagesOf(form),
    entryList = entryListOf(form),
    live = liveRegion(form);
  const fields = fieldsOf(form),
    adopted = adopt(fields);
  const wasNative = !form.noValidate || "native" in live.region.dataset;
  form.noValidate = true; // no bubbles: problems are shown beside the fields
  if (wasNative) live.region.dataset.native = "";
  const serverErrors = messages.serverErrors(fields); // of fields that were not edited since then
  const serverLines = new Set<string>(); // issues of the server without a field
  const validity = customValidity();
  const hiddenInvalid = new Set<Field>(); // invalid fields whose problems are not shown yet
  let touched = new WeakSet<Field>([...adopted, ...serverErrors.keys()]); // fields whose problems are shown: after the shopper has left or changed them, and all after a submission
  let wasSent = false;
  let problems = new Map<Field, Problem>(); // the shown problems, by field
  let lines = new Set<string>(); // problems without a field that can show them
  let fieldAt: FieldReading[1] | undefined; // returns the field of a path in the last payload
  let failure: HTMLElement | undefined; // the message after `onSubmit` has failed
  let notified: string | undefined; // the last pointers and codes passed to `onIssues`

  // ---- Events ----

  function listen(): void {
    form.addEventListener("submit", onSubmit, { capture: true, signal });
    form.addEventListener("reset", onReset, { capture: true, signal });
    signal.addEventListener("abort", unbind);
  }

  function note(type: string, field: Field): void {
    if (type !== "input") touched.add(field);
    if (type !== "focusout") forgetErrorOf(field);
  }

  /** Checks again after the browser has reset the fields. */
  function onReset(): void {
    setTimeout(() => {
      touched = new WeakSet();
      wasSent = false;
      forgetServer();
      if (!signal.aborted) refresh();
    });
  }

  function onSubmit(event: SubmitEvent): void {
    if (event.target !== form || (event.submitter as HTMLButtonElement | null)?.formNoValidate)
      return;
    if (isBusy(form)) return event.preventDefault();
    const data = entryList.build(buttonOf(form, event.submitter));
    for (const field of fieldsOf(form)) touched.add(field);
    forgetServer();
    wasSent = true;
    const [{ payload, issues }, ownerAt] = refresh(true, data);
    fieldAt = ownerAt;
    if (issues.length > 0 || problems.size > 0) block(event, issues);
    else if (options.onSubmit) submit(event, payload, data);
  }

  /** Cancels the event. Other listeners do not get it either, as if the browser itself had found problems. */
  function block(event: SubmitEvent, issues: readonly FieldIssue[]): void {
    event.preventDefault();
    event.stopImmediatePropagation();
    const lost = issues.filter(hasNoField);
    if (lost.length > 0)
      console.warn(`impact-pledge: no field can show ${linesOf(lost).join(", ")}`);
    announce(lines, problems.keys().next().value);
  }

  /**
   * Calls `onSubmit`. The form cannot be submitted again until the promise of `onSubmit` is settled, and a navigation that it
   * started has ended.
   */
  async function submit(event: SubmitEvent, payload: unknown, data: FormData): Promise<void> {
    event.preventDefault();
    const sending = startSending(form);
    try {
      const answer = await options.onSubmit!(payload as never, { data, event } as never);
      if (!issuesOf(answer)) endSendingUnlessLeaving(form, sending);
      else if (endSending(form, sending)) refused(answer, event);
    } catch (error) {
      if (endSending(form, sending)) refused(error, event);
    }
  }

  // ---- Issues of a server ----

  /**
   * Shows the issues that `onSubmit` returned or threw. If there are none, shows that the form was not sent, and passes the
   * value to `reportError`.
   */
  function refused(answer: unknown, { submitter }: SubmitEvent): void {
    if (report(issuesOf(answer))) return;
    if (!signal.aborted) failure = showFailure(form, options.messages, submitter);
    (globalThis.reportError ?? console.error)(answer); // as an uncaught error
  }

  /** Shows the reported issues instead of those of an earlier call. @returns {boolean} whether there are any issues */
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
    announce(
      serverLines,
      [...problems.keys()].find((field) => serverErrors.has(field)),
    );
    return true;
  }

  /** Shows an issue beside its field, or on a separate line. Does not make the field invalid. */
  function addServerIssue(
    issue: ServerIssue & { readonly field: Field },
    fields: ReadonlySet<Field>,
  ): unknown {
    const { field, path, message } = issue,
      text = tryOrUndefined(() => reportedText(issue, options.messages)) ?? message; // a function of the page may read details that the issue does not have
    if (!fields.has(field) || field.type === "hidden") return serverLines.add(text);
    touched.add(field);
    if (!serverErrors.has(field))
      serverErrors.set(field, { text, group: path.length === 1 ? path[0] : undefined });
  }

  /** Removes the server's issues of an edited field, of other fields with its name, and of its group. */
  function forgetErrorOf(edited: Field): void {
    const name = nameOf(edited),
      member = memberOf(edited);
    for (const [field, { group }] of serverErrors)
      if (nameOf(field) === name || member === group) serverErrors.delete(field);
  }

  function forgetServer(): void {
    serverErrors.clear();
    serverLines.clear();
    failure?.remove();
    live.clear();
  }

  /** Reuses the messages that an earlier binding left in a copy of the form. @returns the fields whose problems are shown */
  function adopt(fields: readonly Field[]): Field[] {
    if (!live.left) return [];
    removeFailure(form);
    if (!isBusy(form)) form.removeAttribute("aria-busy");
    for (const field of fields)
      if (field.getAttribute("aria-invalid") === "false") field.removeAttribute("aria-invalid");
    return messages.adopt(fields);
  }

  // ---- Display ----

  function readNow(
    data?: Iterable<readonly [string, FormDataEntryValue]>,
    fields = fieldsOf(form),
  ): FieldReading {
    return read(controlsOf(fields, data ?? entryList.peek(fields)), "field", options);
  }

  /**
   * Reads the form again.
   * @param data the posted data. Default: the data that is known without running the page's `formdata` listeners
   */
  function refresh(isSilent?: boolean, data?: FormData): FieldReading {
    dropDue();
    const fields = fieldsOf(form),
      reading = readNow(data, fields),
      [{ issues }] = reading;
    const first = new Map<Field | null, FieldIssue>(
      [...issues].reverse().map((issue) => [issue.field, issue]),
    );
    for (const field of fields) validity.set(field, first.get(field)?.message); // shown or not
    validity.keep(new Set(fields));
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
          holds: () => shownAt(field) === text,
        })),
      );
    notify(issues);
    return reading;
  }

  /** Prevents screen readers from announcing unvisited fields as invalid. They never announce that for radio buttons. */
  function hideInvalidState(field: Field): void {
    const isHidden =
      validity.find(field) &&
      field.type !== "radio" &&
      field.getAttribute("aria-invalid") !== "true";
    if (isHidden && hiddenInvalid.add(field)) field.setAttribute("aria-invalid", "false");
    else if (hiddenInvalid.delete(field) && !problems.has(field))
      field.removeAttribute("aria-invalid");
  }

  /** Returns the problem of a field: the one that the rules found, or else the browser's, or else the server's. */
  function problemOf(field: Field, issue: FieldIssue | undefined): Problem | undefined {
    if (!touched.has(field) || (issue && isIncomplete(issue) && !wasSent)) return undefined;
    return validity.find(field) || (issue && canShow(field))
      ? {
          text: issue?.message ?? nativeText(field, options.messages),
          group: issue && groupOf(issue),
        }
      : serverErrors.get(field);
  }

  const shownAt = (field: Field) => problems.get(field)?.text;
  const countNow = () => problems.size + new Set([...lines, ...serverLines]).size;

  /**
   * Announces the number of problems, and the problems without a field, until they change. Focuses the first field. If that
   * field is not visible, lists all problems of invisible fields, and focuses the list.
   */
  function announce(texts: ReadonlySet<string>, first: Field | undefined): void {
    const count = countNow(),
      summary = options.summary?.(count) ?? formText(options.messages, "summary", { count });
    const isSeen = first && focus(first);
    const others: Line[] = [...texts].map((text) => ({
      text,
      holds: () => lines.has(text) || serverLines.has(text),
      isVisible: true,
    }));
    if (!isSeen) others.push(...hiddenLines([...problems.keys()], shownAt));
    live.clear();
    live.add([
      { text: summary, holds: () => countNow() === count, isVisible: others.length > 0 },
      ...others,
    ]);
    if (!isSeen) live.focus();
  }

  function notify(issues: FieldIssue[]): void {
    const now = linesOf(issues).join("\n");
    if (now !== notified) options.onIssues?.(issues as FormIssue[]);
    notified = now;
  }

  function unbind(): void {
    validity.keep(new Set()); // otherwise the browser would still treat the fields as invalid
    problems = new Map();
    messages.show(problems);
    for (const field of hiddenInvalid) field.removeAttribute("aria-invalid");
    live.region.remove();
    failure?.remove();
    form.noValidate = !wasNative;
  }

  const dropDue = watchFields(form, note, refresh, signal);
  listen();
  refresh();
  return { read: () => readNow(entryList.build()), refresh: () => refresh(), report };
}
