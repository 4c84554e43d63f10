/* The problems that a server found, until the shopper edits their fields. */
import { type Field, memberOf, nameOf } from "./fields.ts";
import type { Problem } from "./messages.ts";
import { type ServerIssue, tryOrUndefined } from "./reported.ts";
import { reportedText } from "./texts.ts";
import type { FormMessages } from "./types.ts";

/**
 * Collects the problems that a server found in a form.
 * @param errors the problems by field. At first, these are the problems that the server rendered in the
 *   page
 * @param messages the page's own texts
 */
export function serverProblems(errors: Map<Field, Problem>, messages: FormMessages | undefined) {
  const lines = new Set<string>(); // problems without a field that can show them

  /**
   * Adds an issue to its field. An issue without a field becomes a separate line. A field keeps its first
   * issue.
   */
  function add(issue: ServerIssue, field: Field | undefined): void {
    const { path, message } = issue,
      text = tryOrUndefined(() => reportedText(issue, messages)) ?? message; // a function of the page may read details that the issue does not have
    if (!field) lines.add(text);
    else if (!errors.has(field))
      errors.set(field, { text, group: path.length === 1 ? path[0] : undefined });
  }

  /** Removes the problems of an edited field, of other fields with the same name, and of the field's group. */
  function forget(edited: Field): void {
    const name = nameOf(edited),
      member = memberOf(edited);
    for (const [field, { group }] of errors)
      if (nameOf(field) === name || member === group) errors.delete(field);
  }

  function clear(): void {
    errors.clear();
    lines.clear();
  }

  return { errors, lines, add, forget, clear };
}
