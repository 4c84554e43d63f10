/* The fields of a form, and their values as controls. */
import type { Control } from "./read.ts";

/** The types of a form's elements that have no value for the request. */
const WITHOUT_VALUE = /^(button|fieldset|file|image|object|output|reset|submit)$/;

/** Stands for text that the browser cannot read, such as `1,5` in a number field: neither empty nor a number. */
const BAD_INPUT = "\uFFFD";

/** A field of any element type; properties that the element does not have are undefined. */
export type Field = HTMLInputElement;

/** Returns the current fields of a form, in the order of the document. */
export function fieldsOf(form: HTMLFormElement): Field[] {
  return ([...form.elements] as Field[]).filter(
    (field) => !WITHOUT_VALUE.test(field.type) && !field.matches(":disabled"),
  );
}

/** Returns one control, or one for each chosen option of a list. */
export function controlsOf(field: Field): (Control & { readonly field: Field })[] {
  const { name, type } = field;
  const control = (value: string) => ({ field, name, value, hidden: type === "hidden" });
  if (type !== "select-multiple") return [control(textIn(field))];
  const chosen = [...(field as Element as HTMLSelectElement).selectedOptions].map(({ value }) =>
    control(value),
  );
  return chosen.length > 0 ? chosen : [control("")];
}

function textIn({ type, checked, validity, value = "" }: Field): string {
  if (type === "checkbox" || type === "radio") return checked ? value : "";
  return validity?.badInput ? BAD_INPUT : String(value);
}
