/* The message that a form could not be sent, with a button to send it again. */
import { elementOf } from "./live.ts";
import { formText } from "./texts.ts";
import type { FormMessages } from "./types.ts";

/**
 * Appends the message to the form and returns its element.
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
  alert.className = "impact-pledge-failure";
  retry.type = "button";
  retry.onclick = () => {
    submitter?.focus(); // this button will be removed
    resend(form, submitter);
  };
  alert.append(elementOf(form, "p", formText(messages, "submit_failed")), retry);
  form.append(alert);
  return alert;
}

/** Sends the form again by the same button, if it is still there. */
export const resend = (form: HTMLFormElement, submitter: HTMLElement | null): void =>
  form.requestSubmit(buttonOf(form, submitter));

/** Returns the submitter if it is a button of the form: it may have been removed, and happy-dom names the form itself. */
export const buttonOf = (form: HTMLFormElement, submitter: HTMLElement | null) =>
  (submitter as Partial<HTMLButtonElement>)?.form === form ? submitter : null;
