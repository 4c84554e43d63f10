/* The message that a form could not be sent, with a button to retry. */
import { isCustom } from "./fields.ts";
import { elementOf, newId } from "./live.ts";
import { own } from "./own.ts";
import { formText } from "./texts.ts";
import type { FormMessages } from "./types.ts";

const FAILURE = "impact-pledge-failure";

/** Removes the error message from a form. A copied form may contain the message of the original. */
export const removeFailure = (form: HTMLFormElement) =>
  own(form, "querySelector")(`.${FAILURE}`)?.remove();

/**
 * Appends an error message with a retry button to the form. Returns the message's element.
 * @param messages the page's own texts
 * @param submitter the button that sent the form
 */
export function showFailure(
  form: HTMLFormElement,
  messages: FormMessages | undefined,
  submitter: HTMLElement | null,
): HTMLElement {
  const alert = elementOf(form, "div"),
    retry = elementOf(form, "button", formText(messages, "retry"));
  alert.setAttribute("role", "alert");
  alert.className = FAILURE;
  alert.id = newId(FAILURE);
  retry.type = "button";
  retry.onclick = () => {
    submitter?.focus(); // this button will be removed
    resend(form, submitter);
  };
  alert.append(elementOf(form, "p", formText(messages, "submit_failed")), retry);
  own(form, "append")(alert);
  return alert;
}

/** Submits the form again, with the same button if the browser can still use it. */
export const resend = (form: HTMLFormElement, submitter: HTMLElement | null): void =>
  own(form, "requestSubmit")(buttonOf(form, submitter));

/**
 * Whether the browser checks a form that is submitted by a button. It does not if the button has
 * `formnovalidate`, and if the submission only closes a dialog.
 */
export const isChecked = (form: HTMLFormElement, submitter: HTMLElement | null): boolean => {
  const { formNoValidate, formMethod } = (submitter ?? {}) as Partial<HTMLButtonElement>;
  return !formNoValidate && (formMethod || own(form, "method")) !== "dialog";
};

/**
 * Returns the button that was pressed, or null if the browser cannot submit the form with it. Examples are a
 * button that was removed, and a custom element. Happy-dom gives the form itself as the `submitter`, so the
 * result is null there, too.
 */
export const buttonOf = (form: HTMLFormElement, submitter: HTMLElement | null) =>
  (submitter as Partial<HTMLButtonElement>)?.form === form && !isCustom(submitter!)
    ? submitter
    : null;
