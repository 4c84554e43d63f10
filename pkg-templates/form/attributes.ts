/* The attributes of an input by which HTML itself checks a member of the request. */
import { REQUEST } from "../generated/fields.ts";
import { checkOptions } from "./options.ts";
import { MAX_STEPS, type Shape, shapeWithin } from "./shape.ts";
import type { FieldAttributes, FieldAttributesOptions } from "./types.ts";

type FieldType = FieldAttributes["type"];

/**
 * The `type` attribute of an input, by the format of the input's value. A checkbox has no format: it is found
 * by the first step of its path, `notifications`.
 */
const TYPES: Record<string, FieldType> = {
  email: "email",
  uri: "url",
  "date-time": "datetime-local",
  notifications: "checkbox",
};
const COMPLETIONS: Record<string, string> = {
  "recipient.email": "email",
  "recipient.firstName": "given-name",
  "recipient.name": "name",
};
const OPTIONS = { optional: "boolean", jsx: "boolean" };

/**
 * Returns the attributes of the input for a member of the request. With them, HTML checks as many rules as it
 * can, even without JavaScript.
 *
 * HTML's rules for e-mail addresses and URLs differ slightly from those of the service. For example, browsers
 * refuse a quoted local part. HTML cannot express "greater than 0", so {@link bindForm} and {@link readForm}
 * check the amount 0.
 *
 * @param path the name of a field, such as `recipient.email`. All checkboxes for notifications have the name
 *   `notifications`
 * @throws {TypeError} if the path is not a field of the request, or an option does not exist
 * @example
 * ```jsx
 * <input {...fieldAttributes("pledges.0.impact.amount", { jsx: true })} />
 * // name="pledges.0.impact.amount" type="number" min="0" step="any" inputMode="decimal" required
 * ```
 */
export function fieldAttributes<Jsx extends boolean = false>(
  path: string,
  options: FieldAttributesOptions<Jsx> = {},
): FieldAttributes<Jsx> {
  const { optional, jsx } = checkOptions(OPTIONS, options);
  const steps = String(path).split(".", MAX_STEPS),
    [first] = steps as [string];
  const shape = steps.reduce<Shape | undefined>(shapeWithin, REQUEST)!,
    { isNumber, format, members } = shape?.item ?? shape ?? REQUEST;
  if (members) throw new TypeError(`\`${path}\` is not a field of the request`);
  const isOptional = optional && first === "pledges",
    completion = COMPLETIONS[path];
  return {
    name: path,
    type: isNumber ? "number" : (TYPES[format ?? first] ?? "text"),
    ...(isNumber && {
      min: "0",
      [jsx ? "inputMode" : "inputmode"]: "decimal",
    }),
    ...((isNumber || format === "date-time") && { step: "any" }),
    ...(completion && { [jsx ? "autoComplete" : "autocomplete"]: completion }),
    ...(shape.isRequired && !isOptional && { required: true }),
  } as FieldAttributes<Jsx>;
}
