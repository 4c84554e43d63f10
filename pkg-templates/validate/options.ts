/* Reads the options of a check. */
import { MOST_ISSUES } from "./limits.ts";
import type { NewIssue, ValidateOptions } from "./types.ts";

/** Returns the maximum number of issues. @throws {TypeError} if an option does not exist, or `maxIssues` is invalid */
export function readOptions(options?: ValidateOptions): number {
  if (options)
    for (const name of Object.keys(options))
      if (name !== "messages" && name !== "maxIssues")
        throw new TypeError(`the options are \`messages\` and \`maxIssues\`, not \`${name}\``);
  return mostOf(options?.maxIssues);
}

export function mostOf(maxIssues = MOST_ISSUES): number {
  if (maxIssues > 0 && Number.isInteger(maxIssues)) return maxIssues;
  throw new TypeError("`maxIssues` must be a whole number greater than 0");
}

/** Replaces the messages of issues with those of the option `messages`. */
export function translated(issues: NewIssue[], options?: ValidateOptions): NewIssue[] {
  const messages = options?.messages;
  if (messages)
    for (const issue of issues) issue.message = textOf(issue, messages) ?? issue.message;
  return issues;
}

/**
 * Returns the caller's text for an issue, or for another object with a `code`. Returns undefined if the
 * caller has no text for the code.
 */
export function textOf(
  issue: { readonly code: string },
  messages: object | ((issue: never) => string | undefined),
): string | undefined {
  let text: unknown = messages;
  if (typeof text !== "function") text = (messages as Record<string, unknown>)[issue.code];
  if (typeof text === "function") text = text(issue);
  if (typeof text === "string") return text;
  return undefined;
}
