/* The errors of the package. Each has a `name` and a `code`. */
import { brand } from "./brand.ts";
import type { Issue } from "./validate/index.ts";
import type { PledgeErrorCode } from "./types.ts";

/**
 * The base class of all errors of this package. Its direct instances report wrong options and arguments, for example with the
 * code `invalid_argument`.
 */
export class PledgeError extends Error {
  declare readonly code: PledgeErrorCode;

  /** @internal Copies the details to properties of the error, except those that are undefined. */
  constructor(
    code: PledgeErrorCode,
    message: string,
    { cause, ...details }: { readonly cause?: unknown; readonly [detail: string]: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    (this as Mutable).code = code;
    for (const [name, value] of Object.entries(details))
      if (value !== undefined) (this as Mutable)[name] = value;
  }

  /** Returns the details that are safe to log: no API key, headers or body, and at most 20 issues. */
  toJSON(): Record<string, unknown> {
    const { name, code, message, status, error, requestId, retryAfterMs, idempotencyKey, issues } =
      this as this & Partial<Shown>;
    return {
      name,
      code,
      message,
      status,
      error,
      requestId,
      retryAfterMs,
      idempotencyKey,
      issues: issues?.slice(0, LOGGED),
    };
  }
}

type Mutable = Record<string, unknown>;

/** Details of some errors, besides name, code and message. */
interface Shown {
  readonly status: number;
  readonly error: string;
  readonly requestId: string;
  readonly retryAfterMs: number;
  readonly idempotencyKey: string;
  readonly issues: readonly Issue[];
}

/** The maximum number of issues in a log line. */
const LOGGED = 20;

/**
 * Thrown if the request breaks a rule of the contract (§4.1). The request was not sent.
 *
 * @example
 * ```js
 * import { ValidationError } from "impact-pledge";
 *
 * await client.createPledgeTransaction({ ...payload, pledges: [] }).catch((error) => {
 *   if (error instanceof ValidationError) console.log(error.issues[0].pointer); // /pledges
 * });
 * ```
 */
export class ValidationError extends PledgeError {
  declare readonly code: "invalid_request";
  /** All issues, in the order of the contract. */
  declare readonly issues: Issue[];

  /** @internal */
  constructor(issues: readonly Issue[]) {
    super("invalid_request", summary(issues), { issues });
  }
}

/**
 * The service responded, but not with a transaction.
 *
 * @example
 * ```js
 * import { ApiError } from "impact-pledge";
 *
 * await client.getPledgeTransaction("ptran_unknown").catch((error) => {
 *   if (error instanceof ApiError) console.log(error.status, error.error); // 404 Pledge transaction not found
 * });
 * ```
 */
export class ApiError extends PledgeError {
  declare readonly code:
    | "api_error"
    | "authentication_failed"
    | "not_found"
    | "conflict"
    | "unprocessable"
    | "idempotency_key_reused"
    | "rate_limited";
  /**
   * The HTTP status of the response. It is 0 for a redirect in a browser, because browsers hide its status.
   */
  declare readonly status: number;
  /** The member `error` of the body, if the body has the error format of the contract (§7). */
  declare readonly error?: string;
  /** The text of the body with the API key redacted; cut after 64 KiB, unless the status is 2xx. */
  declare readonly body: string;
  /** The headers of the response, with the API key redacted. */
  declare readonly headers: Headers;
  /** The ID of the request in the logs of the service, if the response has one (`x-request-id` or `cf-ray`). */
  get requestId(): string | undefined {
    return requestId(this.headers);
  }
  /** The idempotency key that was sent, if any. */
  declare readonly idempotencyKey?: string;
}

/** The service did not accept the API key (401). */
export class AuthenticationError extends ApiError {
  declare readonly code: "authentication_failed";
}

/**
 * The service has no pledge transaction with this ID (404).
 *
 * @example
 * ```js
 * import { NotFoundError } from "impact-pledge";
 *
 * const transaction = await client.getPledgeTransaction("ptran_unknown").catch((error) => {
 *   if (error instanceof NotFoundError) return null;
 *   throw error;
 * });
 * console.log(transaction); // null
 * ```
 */
export class NotFoundError extends ApiError {
  declare readonly code: "not_found";
}

/** The request conflicts with the state of the service (409). */
export class ConflictError extends ApiError {
  declare readonly code: "conflict";
}

/** The service refused the content of the request (422). Do not retry. */
export class UnprocessableEntityError extends ApiError {
  declare readonly code: "unprocessable" | "idempotency_key_reused";
}

/**
 * The idempotency key has already recorded a transaction with other content (422), for example because the order was changed after
 * it was pledged. Do not send the order again with another key: that would record a second transaction.
 */
export class IdempotencyKeyReusedError extends UnprocessableEntityError {
  declare readonly code: "idempotency_key_reused";
}

/** The service received too many requests (429), even after the retries that the options allow. */
export class RateLimitError extends ApiError {
  declare readonly code: "rate_limited";
  /** How long the service asks you to wait (`Retry-After`), in milliseconds; undefined if it does not ask. */
  declare readonly retryAfterMs?: number;
}

/**
 * Thrown if there was no complete response. A create request may still have been recorded, unless the message says that it was
 * not sent.
 *
 * @example
 * ```js
 * import { ConnectionError } from "impact-pledge";
 *
 * await client.createPledgeTransaction(payload, { idempotencyKey: orderId }).catch((error) => {
 *   if (error instanceof ConnectionError) console.log(error.code, error.idempotencyKey); // connection_failed order-1
 * });
 * ```
 */
export class ConnectionError extends PledgeError {
  declare readonly code: "connection_failed" | "timeout";
  /**
   * A copy of the value with which `fetch` rejected. The API key is redacted. The copy has the name, message,
   * stack, code, causes and plain properties of the original, but is not an instance of its class.
   */
  declare readonly cause?: unknown;
  /** The idempotency key that was sent, if any. Use it to retry the create request. */
  declare readonly idempotencyKey?: string;
}

/** Thrown if there was no response within `timeoutMs` or `deadlineMs`. A create request may still have been recorded. */
export class TimeoutError extends ConnectionError {
  declare readonly code: "timeout";
}

// Names are spelled out, because a bundler may shorten the names of classes.
const TYPES = {
  PledgeError,
  ValidationError,
  ApiError,
  AuthenticationError,
  NotFoundError,
  ConflictError,
  UnprocessableEntityError,
  IdempotencyKeyReusedError,
  RateLimitError,
  ConnectionError,
  TimeoutError,
};
for (const [value, type] of Object.entries(TYPES)) {
  Object.defineProperty(type.prototype, "name", { value, configurable: true, writable: true });
  brand(type, value);
}

const SHOWN = 3;

function summary(issues: readonly Issue[]): string {
  const shown = issues
    .slice(0, SHOWN)
    .map(({ pointer, message }) => `${pointer ? `\`${pointer}\`` : "the request"} ${message}`);
  const rest = issues.length - shown.length;
  return `the request is not valid: ${shown.join("; ")}${rest > 0 ? `; and ${rest} more` : ""}`;
}

/** Returns the ID of the request in the logs of the service, if the response has one. */
export function requestId(
  headers: { get(name: string): string | null | undefined } | undefined,
): string | undefined {
  return headers?.get("x-request-id") ?? headers?.get("cf-ray") ?? undefined;
}
