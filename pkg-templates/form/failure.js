/** What the buyer gets where an order could not be sent: a message, and a button that sends it again. */
import { elementOf } from "./live.js";
import { formText } from "./texts.js";

/**
 * @param {object} [messages] texts of the page's own
 * @param {HTMLElement | null} submitter the button that sent the form
 * @returns {HTMLElement} at the end of the form
 */
export function showFailure(form, messages, submitter) {
  const alert = elementOf(form, "div"),
    retry = elementOf(form, "button", formText(messages, "retry"));
  alert.setAttribute("role", "alert");
  alert.className = "impact-pledge-failure";
  retry.type = "button";
  retry.onclick = () => {
    submitter?.focus(); // this button goes
    form.requestSubmit(submitter?.form === form ? submitter : null);
  };
  alert.append(elementOf(form, "p", formText(messages, "submit_failed")), retry);
  form.append(alert);
  return alert;
}
