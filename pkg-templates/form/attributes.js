/** What HTML itself can check of a member of the request, for whoever renders the form. */
import { REQUEST } from "../generated/fields.js";
import { checkOptions } from "./options.js";
import { MAX_STEPS, shapeWithin } from "./shape.js";

const BOXES = { notifications: "checkbox" };
const TYPES = { email: "email", uri: "url", "date-time": "datetime-local" };
const COMPLETIONS = {
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

export function fieldAttributes(path, options = {}) {
  const { optional, jsx } = checkOptions(OPTIONS, options);
  const steps = String(path).split(".", MAX_STEPS),
    [first] = steps;
  const shape = steps.reduce(shapeWithin, REQUEST),
    { isNumber, format, members } = shape?.item ?? shape ?? REQUEST;
  if (members) throw new TypeError(`\`${path}\` is not a field of the request`);
  const isOptional = optional && first === "pledges",
    completion = COMPLETIONS[path];
  return {
    name: path,
    type: isNumber ? "number" : BOXES[first] || TYPES[format] || "text",
    ...(isNumber && {
      min: isOptional ? "0" : LEAST,
      [jsx ? "inputMode" : "inputmode"]: "decimal",
    }),
    ...((isNumber || format === "date-time") && { step: "any" }),
    ...(completion && { [jsx ? "autoComplete" : "autocomplete"]: completion }),
    ...(shape.isRequired && !isOptional && { required: true }),
  };
}
