/* Sets the problems of fields as their custom validity, so that `:user-invalid` and `checkValidity` are right. */
import { type Field, foundBy, isCustom } from "./fields.ts";
import { tryOrUndefined } from "./reported.ts";

export function customValidity() {
  const texts = new Map<Field, string>();
  const hidden = new Set<Field>(); // invalid fields whose problems are not shown yet
  const given = new Set<string>(); // texts that custom elements got: they may take a moment to clear one

  function set(field: Field, text = ""): void {
    if ((texts.get(field) ?? "") === text) return;
    if (isCustom(field)) given.add(text);
    if (text) texts.set(field, text);
    else texts.delete(field);
    tryOrUndefined(() => field.setCustomValidity?.(text)); // a component may not be rendered yet
  }

  /**
   * Clears the problems of all fields that are not in `fields`. These are fields that the form has removed or
   * disabled.
   */
  function keep(fields: ReadonlySet<Field>): void {
    for (const field of texts.keys()) if (!fields.has(field)) set(field);
  }

  /**
   * Returns the browser's message about a field. Ignores an outdated message that a custom element has not
   * cleared yet.
   */
  function find(field: Field): string | undefined {
    const found = foundBy(field);
    return isCustom(field) && given.has(found!) ? texts.get(field) : found;
  }

  /**
   * Keeps screen readers from announcing a field as invalid before its problem is shown. Skips radio buttons,
   * because screen readers never announce them as invalid.
   */
  function hide(field: Field, isShown: boolean): void {
    const isHidden =
      find(field) && field.type !== "radio" && field.getAttribute("aria-invalid") !== "true";
    if (isHidden && hidden.add(field)) field.setAttribute("aria-invalid", "false");
    else if (hidden.delete(field) && !isShown) field.removeAttribute("aria-invalid");
  }

  /** Clears the problems of all fields, so that the browser no longer treats the fields as invalid. */
  function end(): void {
    keep(new Set());
    for (const field of hidden) field.removeAttribute("aria-invalid");
  }

  return { set, keep, find, hide, end };
}
