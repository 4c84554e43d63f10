/** The options of every check. */
import { MOST_ISSUES } from "./limits.js";

export function mostOf(options) {
  const maxIssues = options?.maxIssues;
  if (maxIssues === undefined) return MOST_ISSUES;
  if (maxIssues > 0 && Number.isInteger(maxIssues)) return maxIssues;
  throw new TypeError("`maxIssues` must be a whole number greater than 0");
}

/** Replaces messages by those of the caller: a map by code, such as a locale pack, or a function. */
export function translated(issues, options) {
  const messages = options?.messages;
  if (messages)
    for (const issue of issues) issue.message = textOf(issue, messages) ?? issue.message;
  return issues;
}

/** @returns {string | undefined} */
export function textOf(issue, messages) {
  const text = typeof messages === "function" ? messages : messages[issue.code];
  return typeof text === "function" ? text(issue) : text;
}
