/* Reads the options of a check. */
import { MOST_ISSUES } from "./limits.ts";
import type { NewIssue, ValidateOptions } from "./types.ts";

export function mostOf(options?: Pick<ValidateOptions, "maxIssues">): number {
  const maxIssues = options?.maxIssues;
  if (maxIssues === undefined) return MOST_ISSUES;
  if (maxIssues > 0 && Number.isInteger(maxIssues)) return maxIssues;
  throw new TypeError("`maxIssues` must be a whole number greater than 0");
}

/** Replaces the messages of issues by those of the option `messages`. */
export function translated(issues: NewIssue[], options?: ValidateOptions): NewIssue[] {
  const messages = options?.messages;
  if (messages) for (const issue of issues) issue.message = textOf(issue, messages, issue.message);
  return issues;
}

/** Returns the caller's text for an issue, or for anything else with a code; `other` if they give none. */
export function textOf<T>(
  issue: { readonly code: string },
  messages: object | ((issue: never) => string | undefined),
  other: T,
): string | T {
  const text =
    typeof messages === "function" ? messages : (messages as Record<string, string>)[issue.code];
  const own = typeof text === "function" ? (text as (issue: object) => string)(issue) : text;
  return typeof own === "string" ? own : other;
}
