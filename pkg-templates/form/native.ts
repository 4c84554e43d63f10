/* The texts for what the browser itself finds wrong with a field: the page's own, so that all are in one language. */
import type { Field } from "./fields.ts";
import { messageOf } from "./texts.ts";

/** Returns the text of a field that the browser finds invalid. The issue that it is of has the path of the field's name. */
export function nativeText(field: Field, messages: object | undefined): string {
  const { name, title, type, validity: is, validationMessage: message } = field;
  if (is.customError) return message; // of the page's own script
  const path = name.split("."),
    isNumber = type === "number";
  let code = "invalid_value",
    count: string | undefined;
  if (is.valueMissing) code = "required";
  else if (is.badInput) code = isNumber ? "invalid_type" : "invalid_date_time";
  else if (is.typeMismatch) code = type === "email" ? "invalid_email" : "invalid_uri";
  else if (is.rangeUnderflow) [code, count] = ["too_low", field.min];
  else if (is.rangeOverflow) [code, count] = ["too_high", field.max];
  else if (title) return title; // HTML's place to say what a `pattern` stands for
  const issue = { code, path, pointer: `/${path.join("/")}`, field, message, count };
  return messageOf({ ...issue, meta: { expected: "number" } } as never, messages);
}
