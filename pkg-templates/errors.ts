/*
 * The errors of the package. Each has a `name`, and a `code` that distinguishes it where
 * `instanceof` can't: in a process that has loaded the package both as ES module and as CommonJS.
 */
import type { Issue } from "./validate/index.ts";
import type { PledgeErrorCode } from "./types.ts";

/** What all errors of this package are. By itself: an option or argument that can't be used. */
export class PledgeError extends Error {
  declare readonly code: PledgeErrorCode;

  /** @internal Details are properties of the error; undefined ones are left out. */
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

  /** What a log may show: no key, no header, no body. */
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

/** What some errors have beside name, code and message. */
interface Shown {
  readonly status: number;
  readonly error: string;
  readonly requestId: string;
  readonly retryAfterMs: number;
  readonly idempotencyKey: string;
  readonly issues: readonly Issue[];
}

/** Most issues in a log. */
const LOGGED = 20;

/**
 * The request breaks rules of the contract; nothing was sent.
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
  /** All problems, in the order of the contract. */
  declare readonly issues: Issue[];

  /** @internal */
  constructor(issues: readonly Issue[]) {
    super("invalid_request", summary(issues), { issues });
  }
}

/**
 * The service answered, but not with a transaction.
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
    | "rate_limited";
  /** The HTTP status; 0 for a redirect in a browser. */
  declare readonly status: number;
  /** The `error` of a body in the contract's error shape. */
  declare readonly error?: string;
  /** The body's text without the API key, up to 64 KiB unless the status was a success. */
  declare readonly body: string;
  /** The answer's headers without the API key. */
  declare readonly headers: Headers;
  /** The service's name for the request, where the answer has one. */
  get requestId(): string | undefined {
    return requestId(this.headers);
  }
  /** The idempotency key that was sent. */
  declare readonly idempotencyKey?: string;
}

/** The service did not accept the API key (401). */
export class AuthenticationError extends ApiError {
  declare readonly code: "authentication_failed";
}

/**
 * The service has no pledge transaction with this ID.
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

/** The request is at odds with the state of the service (409). */
export class ConflictError extends ApiError {
  declare readonly code: "conflict";
}

/** The service refuses the content of the request (422): the idempotency key was used for another one. */
export class UnprocessableEntityError extends ApiError {
  declare readonly code: "unprocessable";
}

/** There are too many requests (429). The client has waited and repeated the call as its options allow. */
export class RateLimitError extends ApiError {
  declare readonly code: "rate_limited";
  /** How long the service asks to wait, where it does. */
  declare readonly retryAfterMs?: number;
}

/**
 * There was no answer, or only a part of one. A create may have been recorded all the same, unless the message says that
 * the request was not sent.
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
   * What `fetch` failed with: a copy without the API key. It has the name, message, stack, code, causes and plain
   * properties of the original, and is no instance of its class.
   */
  declare readonly cause?: unknown;
  /** The idempotency key that was sent: repeat the create with it. */
  declare readonly idempotencyKey?: string;
}

/** There was no answer in time. A create may have been recorded all the same. */
export class TimeoutError extends ConnectionError {
  declare readonly code: "timeout";
}

// Written out, because a bundler may shorten the names of classes.
const TYPES = {
  PledgeError,
  ValidationError,
  ApiError,
  AuthenticationError,
  NotFoundError,
  ConflictError,
  UnprocessableEntityError,
  RateLimitError,
  ConnectionError,
  TimeoutError,
};
for (const [value, { prototype }] of Object.entries(TYPES)) {
  Object.defineProperty(prototype, "name", { value, configurable: true, writable: true });
}

const SHOWN = 3;

function summary(issues: readonly Issue[]): string {
  const shown = issues
    .slice(0, SHOWN)
    .map(({ pointer, message }) => `${pointer ? `\`${pointer}\`` : "the request"} ${message}`);
  const rest = issues.length - shown.length;
  return `the request is not valid: ${shown.join("; ")}${rest > 0 ? `; and ${rest} more` : ""}`;
}

/** The name by which the service's operator can find the request in a log, where the answer has one. */
export function requestId(
  headers: { get(name: string): string | null | undefined } | undefined,
): string | undefined {
  return headers?.get("x-request-id") ?? headers?.get("cf-ray") ?? undefined;
}
