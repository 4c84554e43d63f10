/** What a form says. */
import { textOf } from "../validate/validate.js";

const ENGLISH = {
  summary: ({ count }) => `There ${count === 1 ? "is a problem" : `are ${count} problems`} in the form.`,
  submit_failed: "The form could not be sent.",
  retry: "Try again",
};

/**
 * What is no problem of a field.
 * @param {object | Function} [messages] texts of the page's own, by key; a function has none
 * @param {"summary" | "submit_failed" | "retry"} code
 */
export function formText(messages, code, values) {
  const issue = { code, ...values };
  return textOf(issue, { ...messages }) ?? textOf(issue, ENGLISH);
}
