/* `impact-pledge/react-hook-form`: a resolver for React Hook Form. */
import { toNestErrors, validateFieldsNatively } from "@hookform/resolvers";
import {
  type CreatePledgeTransactionRequest,
  type Issue,
  type ValidateOptions,
  createSchema,
} from "impact-pledge/validate";
import type {
  FieldError,
  FieldErrors,
  FieldValues,
  Resolver,
  ResolverResult,
} from "react-hook-form";

/**
 * Returns a resolver for React Hook Form that checks the rules of the contract. The `type` of an error is the code of its
 * issue, and its `message` the text in `messages`. Requires `@hookform/resolvers`.
 *
 * @example
 * import { de } from "impact-pledge/locales/de";
 * import { pledgeResolver } from "impact-pledge/react-hook-form";
 *
 * const { register, handleSubmit, formState } = useForm({ resolver: pledgeResolver({ messages: de }), defaultValues });
 */
export function pledgeResolver<T extends FieldValues = CreatePledgeTransactionRequest>(
  options?: ValidateOptions,
): Resolver<T> {
  const schema = createSchema(options)["~standard"];
  return (values, _context, form): ResolverResult<T> => {
    const { value, issues } = schema.validate(values) as {
      readonly value?: CreatePledgeTransactionRequest;
      readonly issues?: readonly Issue[];
    };
    if (issues)
      return {
        values: {},
        errors: toNestErrors<T>(errorsOf(issues, form.criteriaMode === "all"), form),
      };
    if (form.shouldUseNativeValidation) validateFieldsNatively({}, form);
    return { values: value as unknown as T, errors: {} };
  };
}

/** Names that React Hook Form never sets, so that their errors would be lost. */
const NOT_SET = ["__proto__", "constructor", "prototype"];

/** Returns the first issue of each path. @param all whether to add all of its issues in `types`, by code */
function errorsOf(issues: readonly Issue[], all: boolean): FieldErrors {
  const errors = new Map<string, FieldError>();
  for (const { path, code, message } of issues) {
    const name = path.some((step) => NOT_SET.includes(step as string))
      ? "root"
      : path.join(".") || "root";
    const error: FieldError = errors.get(name) ?? { type: code, message };
    if (all) error.types = { [code]: message, ...error.types };
    errors.set(name, error);
  }
  return Object.fromEntries(errors);
}
