/* The fields of a form. */
import { own } from "./own.ts";
import { tryOrUndefined } from "./reported.ts";

/**
 * The types of elements that do not count as fields. Such elements post no text, or post it only when they
 * submit the form.
 */
const NO_FIELDS = /^(button|fieldset|file|image|output|reset|submit)$/;

/** A field of any element type. Properties that the element does not have are undefined. */
export type Field = HTMLInputElement;

export const isCustom = ({ localName }: Element) => localName.includes("-");

/**
 * Whether an element is a custom element that is not form-associated. Such an element adds its values to a
 * form in a `formdata` listener.
 */
export const isForeign = (element: Element) =>
  isCustom(element) && !(element.constructor as { formAssociated?: boolean }).formAssociated;

/** Returns the name under which a field is posted. Frameworks may set the property `name` without the attribute. */
export const nameOf = (field: Field): string =>
  field.getAttribute("name") ?? String(field.name ?? "");

/** Returns the first step of a field's name: the member of the request that the field belongs to. */
export const memberOf = (field: Field): string => nameOf(field).split(".")[0]!;

/**
 * Whether a message can be shown beside a field. This is false for hidden fields, and for fields that the
 * browser does not validate, such as read-only ones.
 */
export const canShow = (field: Field | null | undefined): field is Field =>
  Boolean(field) && field!.type !== "hidden" && field!.willValidate !== false;

/**
 * Returns the browser's validation message for a field. Returns undefined if the getter throws, as in a
 * component that is not rendered yet.
 */
export const foundBy = (field: Field): string | undefined =>
  tryOrUndefined(() => field.validationMessage);

/** Whether a field has text that the browser cannot read, such as `1,5` in a number field. */
export const isUnreadable = (field: Field | null): boolean | undefined =>
  tryOrUndefined(() => field?.validity.badInput);

/** Returns the current fields of a form, in the order of the document. */
export function fieldsOf(form: HTMLFormElement): Field[] {
  const listed = [...own(form, "elements")] as Field[],
    names = new Set(listed.map(nameOf));
  const others = ([...own(form, "querySelectorAll")("*")] as Field[]).filter(
    (element) =>
      isForeign(element) && "value" in element && nameOf(element) && !names.has(nameOf(element)),
  );
  const fields = others.length > 0 ? [...listed, ...others].sort(byPosition) : listed;
  return fields.filter(
    (field) =>
      !NO_FIELDS.test(field.type) && !field.disabled && !field.matches(":disabled, object"),
  );
}

const byPosition = (a: Node, b: Node) =>
  a.compareDocumentPosition(b) & a.DOCUMENT_POSITION_FOLLOWING ? -1 : 1;
