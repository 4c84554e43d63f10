import type { CreatePledgeTransactionRequest, ValidateOptions } from "impact-pledge/validate";
import type { FieldValues, Resolver } from "react-hook-form";

/**
 * The contract's rules for React Hook Form: each error's `type` is the code of its issue, and its `message` the text
 * that `messages` has for it. Needs `@hookform/resolvers`.
 *
 * @example
 * import { de } from "impact-pledge/locales/de";
 * import { pledgeResolver } from "impact-pledge/react-hook-form";
 *
 * const { register, handleSubmit, formState } = useForm({ resolver: pledgeResolver({ messages: de }), defaultValues });
 */
export declare function pledgeResolver<T extends FieldValues = CreatePledgeTransactionRequest>(options?: ValidateOptions): Resolver<T>;
