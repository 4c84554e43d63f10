/** What a form says: in English, or in the page's own words. */
import { en } from "../locales/en.js";
import { textOf } from "../validate/options.js";

/** The text of an issue. @param {object | Function} [messages] of the page's own: a map by code, such as a locale pack, or a function */
export const messageOf = (issue, messages = en) =>
  textOf(issue, messages) ?? textOf(issue, en) ?? issue.message;

/** How each of the messages for developers begins, and no sentence for a shopper. */
const FOR_DEVELOPERS = /^(must|is|has|could) /;

/** The text of a server's issue: the page's own, else the server's, unless that is for developers. */
export function reportedText(issue, messages = {}) {
  return FOR_DEVELOPERS.test(issue.message)
    ? messageOf(issue, messages)
    : (textOf(issue, messages) ?? issue.message);
}

/**
 * What is no problem of a field. A function is asked about issues alone.
 * @param {"summary" | "submit_failed" | "retry"} code
 */
export const formText = (messages, code, values) => messageOf({ code, ...values }, { ...messages });
