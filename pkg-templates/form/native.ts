/* The texts for what the browser itself finds wrong with a field: the page's own, so that all are in one language. */
import { type Field, nameOf } from "./fields.ts";
import { messageOf } from "./texts.ts";

/** Returns the text of a field that the browser finds invalid, as of an issue whose path is the field's name. */
export function nativeText(field: Field, messages: object | undefined): string {
  const { title, validity, validationMessage: message } = field,
    path = nameOf(field).split("."),
    issue = { path, pointer: ["", ...path].join("/"), message, field, meta: {} };
  if (validity?.customError ?? true) return message; // of the page's own script
  // A title is HTML's place to say what a `pattern` stands for.
  const [code = title ? "" : "invalid_value", count] = found(field);
  return code ? messageOf({ ...issue, code, count }, messages) : title;
}

/** Returns the code of what the browser finds, if it has one of its own, and the limit of a range. */
function found({ type, validity: is, min, max }: Field): [code?: string, limit?: string] {
  if (is.valueMissing) return ["required"];
  if (is.badInput) return [type === "number" ? "not_finite" : "invalid_date_time"];
  if (is.typeMismatch) return [type === "email" ? "invalid_email" : "invalid_uri"];
  if (is.rangeUnderflow) return ["too_low", min];
  return is.rangeOverflow ? ["too_high", max] : [];
}
