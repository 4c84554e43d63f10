/** The fields of a form, and what each of them says. */

/** What says nothing of the form's. */
const SILENT = new Set(["button", "fieldset", "file", "image", "object", "output", "reset", "submit"]);

/** What the browser took for no value, such as `1,5` in a number: the rules say which type it must be of. */
const BAD_INPUT = "\uFFFD";

/** @param {HTMLFormElement} form @returns {HTMLInputElement[]} in the order of the document, those added later too */
export function fieldsOf(form) {
  return [...form.elements].filter((field) => !SILENT.has(field.type) && !field.matches(":disabled"));
}

/** @param {HTMLInputElement} field */
export function entriesOf(field) {
  const { name, type } = field;
  const entry = (value) => ({ field, name, value, hidden: type === "hidden" });
  if (type !== "select-multiple") return [entry(valueOf(field))];
  const chosen = [...field.selectedOptions].map(({ value }) => entry(value));
  return chosen.length > 0 ? chosen : [entry("")];
}

function valueOf({ type, checked, validity, value = "" }) {
  if (type === "checkbox" || type === "radio") return checked ? value : "";
  if (validity?.badInput) return BAD_INPUT;
  return type === "datetime-local" && value ? new Date(value).toISOString() : String(value);
}
