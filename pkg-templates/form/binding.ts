/* Attaches the checks of a form, and listens for submissions and resets until it is unbound. */
import { displayOf } from "./display.ts";
import { buttonOf, isChecked, removeFailure, showFailure } from "./failure.ts";
import { fieldsOf } from "./fields.ts";
import { type FieldIssue, type FieldReading, hasNoField, linesOf } from "./issues.ts";
import { liveRegion } from "./live.ts";
import { own } from "./own.ts";
import { issuesOf, readIssues } from "./reported.ts";
import { isBusy } from "./sending.ts";
import { send } from "./submit.ts";
import type { BindFormOptions } from "./types.ts";

/** The functions that check a form and show its issues. */
export interface Checks {
  read(): FieldReading;
  refresh(): unknown;
  /** Shows the issues that a server found. */
  report(issues: unknown): unknown;
}

/** Changes that other scripts make to a page, and that are noticed at once. */
const WATCHED = {
  childList: true,
  subtree: true,
  attributeFilter: ["aria-describedby", "aria-invalid", "id", "novalidate"],
};

/**
 * Checks a form until it is unbound. Uses closures instead of a class, because minifiers can shorten the
 * names of local functions more than those of members.
 * @param signal aborted when the form is unbound
 */
export function attachChecks(
  form: HTMLFormElement,
  options: BindFormOptions<boolean>,
  signal: AbortSignal,
): Checks {
  const live = liveRegion(form);
  const wasNative = !own(form, "noValidate") || "native" in live.region.dataset;
  own(form, "toggleAttribute")("novalidate", true); // no bubbles: problems are shown beside the fields
  if (wasNative) live.region.dataset.native = "";
  const display = displayOf(form, options, live, signal);
  const { server, shown, announce, build, read, refresh, submit, reset, end, visit } = display;
  let fieldAt: FieldReading[1] | undefined; // returns the field of a path in the last payload
  let failure: HTMLElement | undefined; // the message after `onSubmit` has failed

  function onSubmit(event: SubmitEvent): void {
    const { submitter } = event;
    if (event.target !== form || !isChecked(form, submitter)) return;
    if (isBusy(form)) return event.preventDefault();
    const data = build(buttonOf(form, submitter));
    forgetServer();
    const [{ payload, issues }, ownerAt] = submit(data);
    fieldAt = ownerAt;
    if (issues.length > 0 || shown.problems.size > 0) block(event, issues);
    else if (options.onSubmit && !submitter?.hasAttribute("formaction"))
      send(form, options, payload, { data, event }, refused);
  }

  /**
   * Cancels a submission and shows its problems. Hides the event from other listeners, as if the browser
   * itself had found the problems.
   */
  function block(event: SubmitEvent, issues: readonly FieldIssue[]): void {
    event.preventDefault();
    event.stopImmediatePropagation();
    const lost = issues.filter(hasNoField);
    if (lost.length > 0)
      console.warn(`impact-pledge: no field can show ${linesOf(lost).join(", ")}`);
    announce(shown.lines, shown.problems.keys().next().value);
  }

  /**
   * Shows the issues that `onSubmit` returned or threw. If there are none, shows that the form was not sent,
   * and passes what `onSubmit` returned or threw to `reportError`.
   */
  function refused(answer: unknown, { submitter }: SubmitEvent): void {
    if (report(issuesOf(answer))) return;
    if (!signal.aborted) failure = showFailure(form, options.messages, submitter);
    (globalThis.reportError ?? console.error)(answer); // as an uncaught error
  }

  /**
   * Shows the reported issues, and removes the issues of an earlier report.
   * @returns {boolean} whether there are any issues
   */
  function report(reported: unknown): boolean {
    const issues = readIssues(reported);
    if (signal.aborted) return issues.length > 0;
    forgetServer();
    fieldAt ??= read()[1];
    const fields = new Set(fieldsOf(form));
    for (const issue of issues) {
      const field = fieldAt(issue.path.join("."))!;
      const canShow = fields.has(field) && field.type !== "hidden";
      if (canShow) visit(field);
      server.add(issue, canShow ? field : undefined);
    }
    refresh(true);
    if (issues.length === 0) return false;
    announce(
      server.lines,
      [...shown.problems.keys()].find((field) => server.errors.has(field)),
    );
    return true;
  }

  function forgetServer(): void {
    server.clear();
    removeFailure(form);
    failure = undefined;
    live.clear();
  }

  /** Puts back what another script has removed from the form, such as a library that morphs the page. */
  function restore(): void {
    const isHere = !failure || own(form, "contains")(failure);
    if (
      signal.aborted ||
      (own(form, "noValidate") && isHere && live.isIntact() && display.isIntact())
    )
      return;
    own(form, "toggleAttribute")("novalidate", true);
    if (isBusy(form)) own(form, "setAttribute")("aria-busy", "true");
    if (!isHere) own(form, "append")(failure!);
    live.restore();
    display.restore();
  }

  /**
   * Hides all problems, and checks the form again after the browser has reset its fields. Problems that are
   * reported meanwhile stay, because React resets a form after its action, just before it reports the answer.
   */
  function onReset(): void {
    reset();
    forgetServer();
    setTimeout(() => signal.aborted || refresh());
  }

  function unbind(): void {
    observer.disconnect();
    end();
    live.region.remove();
    removeFailure(form);
    own(form, "toggleAttribute")("novalidate", !wasNative);
  }

  const observer = new MutationObserver(() => setTimeout(restore)); // a task: two scripts that undo each other's changes do not block the page
  observer.observe(form, WATCHED);
  own(form, "addEventListener")("submit", onSubmit, { capture: true, signal });
  own(form, "addEventListener")("reset", onReset, { capture: true, signal });
  signal.addEventListener("abort", unbind);
  refresh();
  return { read: () => read(build()), refresh, report };
}
