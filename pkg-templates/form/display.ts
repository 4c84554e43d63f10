/* Checks a form while the shopper fills it in, and shows the problems. */
import { controlsOf, entryListOf } from "./entries.ts";
import { removeFailure } from "./failure.ts";
import { type Field, canShow, fieldsOf, isOfRequest, nameOf } from "./fields.ts";
import {
  type FieldIssue,
  type FieldReading,
  groupOf,
  hasNoField,
  isIncomplete,
  linesOf,
} from "./issues.ts";
import type { liveRegion } from "./live.ts";
import { type Problem, messagesOf } from "./messages.ts";
import { nativeText } from "./native.ts";
import { own } from "./own.ts";
import { watchFields } from "./page.ts";
import { read } from "./read.ts";
import { isBusy } from "./sending.ts";
import { serverProblems } from "./server.ts";
import { type Shown, summaryOf } from "./summary.ts";
import type { BindFormOptions, FormIssue } from "./types.ts";
import { customValidity } from "./validity.ts";

/**
 * Creates the functions that read a form and show its problems.
 * @param signal aborted when the form is unbound
 */
export function displayOf(
  form: HTMLFormElement,
  options: BindFormOptions<boolean>,
  live: ReturnType<typeof liveRegion>,
  signal: AbortSignal,
) {
  const messages = messagesOf(form),
    { build, peek } = entryListOf(form),
    validity = customValidity(),
    fields = fieldsOf(form);
  const adopted = live.left ? messages.adopt(fields) : [];
  if (live.left) {
    removeFailure(form);
    if (!isBusy(form)) own(form, "removeAttribute")("aria-busy");
  }
  const server = serverProblems(messages.serverErrors(fields), options.messages);
  const shown: Shown = { problems: new Map(), lines: new Set() };
  const { add, announce } = summaryOf(live, options, shown, server.lines);
  let touched = new WeakSet([...adopted, ...server.errors.keys()]); // fields whose problems are shown: after the shopper has left or changed them, and all after a submission
  let wasSent = false;
  let typed: Field | undefined; // the field of the last event, if the shopper is typing
  let notified: string | undefined; // the last pointers and codes passed to `onIssues`

  function note(type: string, field: Field): void {
    typed = type === "input" ? field : undefined;
    if (type !== "input") touched.add(field);
    if (type !== "focusout") server.forget(field);
  }

  function readNow(
    data?: Iterable<readonly [string, FormDataEntryValue]>,
    fields = fieldsOf(form),
  ): FieldReading {
    return read(controlsOf(fields, data ?? peek(fields)), "field", options);
  }

  /**
   * Checks fields while the shopper types: only those whose problems may change, because a form may have
   * thousands of others. These are the field in which the shopper types, the fields of the request, and the
   * visited fields.
   */
  function check(): void {
    const isNear = (field: Field) =>
      field === typed || touched.has(field) || isOfRequest(nameOf(field));
    refresh(false, undefined, undefined, typed && isNear);
  }

  /**
   * Reads the form again, and updates the problems that are shown.
   * @param data the posted data. Default: the entries that are known without running the page's `formdata`
   *   listeners
   * @param only the fields whose problems are shown. Default: all that the shopper has visited
   * @param isNear whether a field is checked. Default: all are
   */
  function refresh(
    isSilent?: boolean,
    data?: FormData,
    only?: Set<Field>,
    isNear?: (field: Field) => boolean,
  ): FieldReading {
    dropDue();
    const fields = fieldsOf(form, isNear),
      reading = readNow(data ?? peek(fields, isNear && isOfRequest), fields),
      [{ issues }] = reading;
    const first = new Map<Field | null, FieldIssue>(
      [...issues].reverse().map((issue) => [issue.field, issue]),
    );
    for (const field of fields) validity.set(field, first.get(field)?.message); // shown or not
    if (!isNear) validity.keep(new Set(fields));
    shown.problems = new Map(
      fields
        .filter((field) => !only || only.has(field))
        .map((field) => [field, problemOf(field, first.get(field))] as [Field, Problem])
        .filter(([, problem]) => problem),
    );
    shown.lines = new Set(issues.filter(hasNoField).map(({ message }) => message));
    const fresh = messages.show(shown.problems);
    for (const field of fields) validity.hide(field, shown.problems.has(field));
    live.update();
    if (!isSilent) add(fresh);
    notify(issues);
    return reading;
  }

  /**
   * Returns the problem to show for a field. The server's problem takes precedence until the field is edited,
   * because a program may have reset the field meanwhile.
   */
  function problemOf(field: Field, issue: FieldIssue | undefined): Problem | undefined {
    const error = server.errors.get(field);
    if (error || !touched.has(field) || (issue && isIncomplete(issue) && !wasSent)) return error;
    return validity.find(field) || (issue && canShow(field))
      ? {
          text: issue?.message ?? nativeText(field, options.messages),
          group: issue && groupOf(issue),
        }
      : undefined;
  }

  function notify(issues: FieldIssue[]): void {
    const now = linesOf(issues).join("\n");
    if (now !== notified) options.onIssues?.(issues as FormIssue[]);
    notified = now;
  }

  /** Shows the problems of a field from now on. */
  const visit = (field: Field) => touched.add(field);

  /** Shows the problems of all fields from now on, and reads the posted data. */
  function submit(data: FormData): FieldReading {
    fieldsOf(form).forEach(visit);
    wasSent = true;
    return refresh(true, data);
  }

  /** Hides all problems until the shopper visits fields again. */
  function reset(): void {
    touched = new WeakSet();
    wasSent = false;
  }

  /** Whether the page still shows the problems as this module has shown them. */
  const isIntact = () => [...shown.problems.keys()].every(messages.isIntact);

  /**
   * Shows the same problems again, after another script has changed the page. A problem whose field was
   * replaced moves to the new field. Takes over problems that a server rendered meanwhile.
   */
  function restore(): void {
    const fields = fieldsOf(form),
      only = new Set<Field>();
    const move = (field: Field) => fields.find((other) => nameOf(other) === nameOf(field));
    for (const field of shown.problems.keys()) {
      const heir = fields.includes(field) ? field : move(field),
        error = server.errors.get(field);
      if (heir) only.add(heir);
      if (heir && error) server.errors.set(heir, error);
    }
    for (const [field, problem] of messages.serverErrors(fields)) {
      server.errors.set(field, problem);
      only.add(field);
    }
    only.forEach(visit);
    refresh(true, undefined, only);
  }

  function end(): void {
    validity.end();
    shown.problems = new Map();
    messages.show(shown.problems);
  }

  const dropDue = watchFields(form, note, check, signal);
  return {
    server,
    shown,
    announce,
    build,
    read: readNow,
    refresh,
    visit,
    submit,
    reset,
    isIntact,
    restore,
    end,
  };
}
