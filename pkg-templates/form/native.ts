/* Texts for problems that the browser itself finds, from the page's own texts, so that all are in one language. */
import { type Field, nameOf } from "./fields.ts";
import { messageOf } from "./texts.ts";

/**
 * Returns the text for a field that the browser finds invalid. If `messages` is a function, it gets an issue whose path
 * is the field's name.
 */
export function nativeText(field: Field, messages: object | undefined): string {
  const { title, validity, validationMessage: message } = field,
    path = nameOf(field).split("."),
    issue = { path, pointer: ["", ...path].join("/"), message, field, meta: {} };
  if (validity?.customError ?? true) return message; // set by the page's own script
  // In HTML, the title describes a `pattern`.
  const [code = title ? "" : "invalid_value", count] = found(field);
  return code ? messageOf({ ...issue, code, count }, messages) : title;
}

/**
 * Returns the code of the problem that the browser found, if the problem is a specific one. If a value is out
 * of range, also returns the limit.
 */
function found({ type, validity: is, min, max }: Field): [code?: string, limit?: string] {
  if (is.valueMissing) return ["required"];
  if (is.badInput) return [type === "number" ? "not_finite" : "invalid_date_time"];
  if (is.typeMismatch) return [type === "email" ? "invalid_email" : "invalid_uri"];
  if (is.rangeUnderflow) return ["too_low", min];
  return is.rangeOverflow ? ["too_high", max] : [];
}
