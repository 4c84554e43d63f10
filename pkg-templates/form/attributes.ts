/* What HTML itself can check of a member of the request, for whoever renders the form. */
import { REQUEST } from "../generated/fields.ts";
import { checkOptions } from "./options.ts";
import { MAX_STEPS, type Shape, shapeWithin } from "./shape.ts";
import type { FieldAttributes, FieldAttributesOptions } from "./types.ts";

type FieldType = FieldAttributes["type"];

/** By the format, or the first step. */
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
 * The smallest number there is: all that a page can name which refuses 0 and no amount that the rules accept. (The
 * arrow key takes an empty field there, and from there to 1.)
 */
const LEAST = "5e-324";

/**
 * The attributes of the input for a place of the request, so that a page without JavaScript refuses what the rules
 * refuse, as far as HTML can. HTML's e-mail addresses and URLs are not quite those of the rules: a quoted local part is
 * refused by the browser alone.
 *
 * @param path the name of a field, such as `recipient.email`; `notifications` for each of its boxes
 * @throws TypeError for a path that is not a field of the request, and for options that do not exist
 * @example
 * ```jsx
 * <input {...fieldAttributes("pledges.0.impact.amount", { jsx: true })} />
 * // name="pledges.0.impact.amount" type="number" min="5e-324" step="any" inputMode="decimal" required
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
      min: isOptional ? "0" : LEAST,
      [jsx ? "inputMode" : "inputmode"]: "decimal",
    }),
    ...((isNumber || format === "date-time") && { step: "any" }),
    ...(completion && { [jsx ? "autoComplete" : "autocomplete"]: completion }),
    ...(shape.isRequired && !isOptional && { required: true }),
  } as FieldAttributes<Jsx>;
}
