/* The fields of a form. */
import { REQUEST } from "../generated/fields.ts";
import { own } from "./own.ts";
import { tryOrUndefined } from "./reported.ts";
import { shapeWithin } from "./shape.ts";

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
  tryOrUndefined(() => (field.validity?.valid ? "" : field.validationMessage)); // valid: quicker

/** Whether a field has text that the browser cannot read, such as `1,5` in a number field. */
export const isUnreadable = (field: Field | null): boolean | undefined =>
  tryOrUndefined(() => field?.validity.badInput);

/** Types of controls whose text is what the shopper typed; `undefined` for a component. */
const TYPED = /^(search|tel|text|textarea|undefined)$/;
/** A number that has one group of thousands, or three decimal places. */
const GROUPED = /^\s*\+?[1-9]\d{0,2}\.\d{3}\s*$/;

/**
 * Whether an amount has two meanings. The service would read `1.000` as one, but in a language with a decimal
 * comma, people also write one thousand like this. Returns false for controls of the type `number`, because
 * there the browser has read the text.
 */
export const isAmbiguous = (field: Partial<Field> | null | undefined, name: string, text: string) =>
  name.endsWith(".amount") &&
  GROUPED.test(text) &&
  tryOrUndefined(() => TYPED.test(field!.type!) && hasDecimalComma(field!));

function hasDecimalComma(field: Partial<Field>): boolean {
  const { lang = "" } = field.closest!<HTMLElement>("[lang]") ?? {};
  return new Intl.NumberFormat(lang.replaceAll("_", "-") || undefined).format(1.5).includes(",");
}

/** Whether a name is that of a member of the request, or of a part of it. Other fields are the shop's own. */
export const isOfRequest = (name: string) => Boolean(shapeWithin(REQUEST, name.split(".", 1)[0]!));

/** Returns the current fields of a form, in the order of the document: all, or those that `isWanted` accepts. */
export function fieldsOf(form: HTMLFormElement, isWanted = (_: Field) => true): Field[] {
  const listed = [...own(form, "elements")] as Field[],
    names = new Set(listed.map(nameOf));
  const others = ([...own(form, "querySelectorAll")("*")] as Field[]).filter(
    (element) =>
      isForeign(element) && "value" in element && nameOf(element) && !names.has(nameOf(element)),
  );
  const fields = others.length > 0 ? [...listed, ...others].sort(byPosition) : listed;
  return fields.filter(
    (field) =>
      isWanted(field) &&
      !NO_FIELDS.test(field.type) &&
      !field.disabled &&
      !field.matches(":disabled, object"),
  );
}

const byPosition = (a: Node, b: Node) =>
  a.compareDocumentPosition(b) & a.DOCUMENT_POSITION_FOLLOWING ? -1 : 1;
