/* Interprets what a failed `fetch` threw: whether the request was sent, and how to describe the failure. */
import { tryOrUndefined } from "./redact.ts";

/** A copy of a thrown value of any type. Usually the value is an error about a connection. */
export type Cause =
  | {
      readonly message?: string;
      readonly code?: string;
      readonly syscall?: string;
      readonly cause?: Cause;
      readonly errors?: readonly Cause[];
    }
  | undefined;

/**
 * Matches the error codes that prove that a request was not sent.
 *
 * Excludes Deno's "client error (Connect)", and `ConnectionRefused` of Bun before 1.4. In these cases the
 * request may already have been sent, because `fetch` itself repeats a request if a kept-alive connection
 * breaks.
 */
const UNSENT_CODE = /^(ENOTFOUND|EAI_\w+|ECONNREFUSED|UND_ERR_CONNECT_TIMEOUT)$/;
const UNSENT_CALL = /^(connect|getaddrinfo)$/;

/** Whether an error proves that no connection was made, so that the request was not sent. */
export function isUnsent(cause: Cause): boolean {
  if ((cause?.errors?.length as number) > 0) return cause!.errors!.every(isUnsent);
  return (
    UNSENT_CODE.test(cause?.code as string) ||
    UNSENT_CALL.test(cause?.syscall as string) ||
    (cause?.cause !== undefined && isUnsent(cause.cause))
  );
}

export const describe = (cause: Cause): string =>
  tryOrUndefined(() =>
    String(cause?.cause?.message || cause?.cause?.code || cause?.message || cause),
  ) ?? "an error that can't be read";
