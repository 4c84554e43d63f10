/* What the buyer gets where an order could not be sent: a message, and a button that sends it again. */
import { elementOf } from "./live.ts";
import { formText } from "./texts.ts";
import type { FormMessages } from "./types.ts";

/**
 * Shows it at the end of the form.
 * @param messages texts of the page's own
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
    submitter?.focus(); // this button goes
    form.requestSubmit((submitter as Partial<HTMLButtonElement>)?.form === form ? submitter : null);
  };
  alert.append(elementOf(form, "p", formText(messages, "submit_failed")), retry);
  form.append(alert);
  return alert;
}
