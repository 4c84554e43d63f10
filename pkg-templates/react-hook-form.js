/** `impact-pledge/react-hook-form`: the rules as a resolver. */
import { toNestErrors, validateFieldsNatively } from "@hookform/resolvers";
import { createSchema } from "impact-pledge/validate";

export function pledgeResolver(options) {
  const schema = createSchema(options)["~standard"];
  return (values, _context, form) => {
    const { value, issues } = schema.validate(values);
    if (issues)
      return {
        values: {},
        errors: toNestErrors(errorsOf(issues, form.criteriaMode === "all"), form),
      };
    if (form.shouldUseNativeValidation) validateFieldsNatively({}, form);
    return { values: value, errors: {} };
  };
}

/** Names that React Hook Form sets nowhere, so that its errors would be none. */
const NOT_SET = ["__proto__", "constructor", "prototype"];

/** The first issue of each place; with all of them in `types`, by code, if they are wanted. */
function errorsOf(issues, all) {
  const errors = new Map();
  for (const { path, code, message } of issues) {
    const name = path.some((step) => NOT_SET.includes(step)) ? "root" : path.join(".") || "root";
    const error = errors.get(name) ?? { type: code, message };
    if (all) error.types = { [code]: message, ...error.types };
    errors.set(name, error);
  }
  return Object.fromEntries(errors);
}
