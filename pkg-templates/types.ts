/* The public types of the client, except requests and responses. */

/** A function that a client calls instead of the platform's `fetch`. */
export type Fetch = (url: string, init: FetchInit) => Response | PromiseLike<Response>;

/** The second argument of {@link Fetch}: plain values that every `fetch` accepts. */
export interface FetchInit {
  method: "GET" | "POST";
  headers: Record<string, string>;
  body?: string;
  redirect: "manual";
  signal?: AbortSignal;
}

/** Options of a client that a call can override. */
interface SharedOptions {
  /** The ID of the unit that a team-level key acts for. */
  unitId?: string | null | undefined;
  /** The time limit of one attempt, including the body of the response, in milliseconds. Default: 30,000. */
  timeoutMs?: number | null | undefined;
  /**
   * The time limit of the whole call in milliseconds: all attempts, the waits between them, and the function `apiKey`.
   * Default: no limit.
   */
  deadlineMs?: number | null | undefined;
  /** The maximum number of retries, 0 to 10. Default: 2. */
  maxRetries?: number | null | undefined;
  /**
   * Additional headers, such as `{ traceparent }`. A call's headers are added to those of its client. The
   * client refuses headers that the Fetch standard reserves, such as `connection` and `cookie`, and headers
   * that another option sets.
   */
  headers?:
    | Readonly<Record<string, string>>
    | Iterable<readonly [string, string]>
    | null
    | undefined;
}

/**
 * A request before it is sent. Header names in events are lower-case, and the API key is redacted. A
 * {@link ResponseEvent} or a {@link RequestErrorEvent} follows.
 */
export interface RequestEvent {
  /** A random text, the same in all events of one call. */
  readonly callId: string;
  /** The number of the attempt: 1 for the first, 2 for the first retry. */
  readonly attempt: number;
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
}

/** A response of any status. */
export interface ResponseEvent extends RequestEvent {
  readonly status: number;
  readonly responseHeaders: Readonly<Record<string, string>>;
  /** Milliseconds from the request to the end of the response. */
  readonly durationMs: number;
  /** The ID of the request in the logs of the service, if the response has one (`x-request-id` or `cf-ray`). */
  readonly requestId: string | undefined;
}

/** An attempt without a complete response. */
export interface RequestErrorEvent extends RequestEvent {
  /** The cause: `timeout` if `timeoutMs` or `deadlineMs` has passed, `aborted` if the caller's signal has aborted. */
  readonly reason: "connection_failed" | "timeout" | "aborted";
  /**
   * A copy of the value that `fetch` rejected with, as in {@link ConnectionError.cause}. Undefined if
   * `reason` is `timeout` or `aborted`.
   */
  readonly error: unknown;
  /** Milliseconds from the request to its failure. */
  readonly durationMs: number;
}

/** A retry that is about to happen. */
export interface RetryEvent {
  /** A random text that all events of one call have in common. */
  readonly callId: string;
  /** The number of the next attempt: 2 for the first retry. */
  readonly attempt: number;
  /** The wait before the attempt in milliseconds. */
  readonly waitMs: number;
  /** The reason in English, such as `the answer was 503`. */
  readonly reason: string;
}

/** How much a client logs, from least to most. */
export type LogLevel = "off" | "error" | "warn" | "info" | "debug";

/** An object to log to: `console`, or one with the same four functions. */
export type Logger = Record<
  Exclude<LogLevel, "off">,
  (message: string, details: unknown) => unknown
>;

/** The options of a {@link PledgeClient}. */
export interface PledgeClientOptions extends SharedOptions {
  /**
   * The API key, or a function that returns it, for example from a secret store. The client calls the
   * function once per call, not again for retries. The key is sent only in the `Authorization` header, and
   * redacted in errors, events and logs.
   */
  apiKey: string | (() => string | PromiseLike<string>);
  /** The base URL of the service, such as `https://pledges.example.org`. */
  baseUrl: string | URL;
  /**
   * Which create requests are retried. Get requests are retried after the statuses 408, 429 and 5xx, and if
   * there is no response.
   * - Not set: a create request with an `idempotencyKey` is retried like a get request. A create request
   *   without a key is retried only if it was certainly not recorded. That is certain after the status 429,
   *   and after the service's own 503 with `Retry-After`. It is also certain if `fetch` reports that the
   *   connection was refused or the host was not found. Node and Bun report this.
   * - `true`: a create request without an `idempotencyKey` is sent with a random one, and is retried like a
   *   get request. A service that does not support the header `Idempotency-Key` could record it twice.
   * - `false`: no create request is retried.
   */
  retryCreates?: boolean | null | undefined;
  /** Your own `fetch`, or an object with one, such as a Cloudflare service binding. Default: the platform's. */
  fetch?: Fetch | { fetch: Fetch } | null | undefined;
  /** Your application, for the `User-Agent` header. Browsers do not send it. */
  appInfo?: { name: string; version?: string; url?: string } | null | undefined;
  /** Called before each attempt. Exceptions of hooks are logged, with keys redacted, and otherwise ignored. */
  onRequest?: ((event: RequestEvent) => unknown) | null | undefined;
  /** Called after each response, whatever its status. */
  onResponse?: ((event: ResponseEvent) => unknown) | null | undefined;
  /** Called after each attempt without a complete response: the connection failed, timed out or was aborted. */
  onError?: ((event: RequestErrorEvent) => unknown) | null | undefined;
  /** Called before the wait for a retry. */
  onRetry?: ((event: RetryEvent) => unknown) | null | undefined;
  /** The object to log to. Default: `console`. */
  logger?: Logger | null | undefined;
  /**
   * What the client logs. `error` logs failed calls, `warn` adds retries, and `debug` adds each attempt.
   * Default: `off`.
   */
  logLevel?: LogLevel | null | undefined;
  /** Allows a live key in a browser page, where every visitor can read it. Default: `false`. */
  dangerouslyAllowBrowser?: boolean | null | undefined;
  /**
   * Allows the client to send a live key unencrypted to an `http:` address of another machine. A service
   * binding or a private network with an `http:` address also needs this option. The service refuses the
   * key over plain HTTP (403), unless its operator allows that. Default: `false`.
   */
  dangerouslyAllowHttp?: boolean | null | undefined;
}

/** The options of one call. */
export interface CallOptions extends SharedOptions {
  /** Aborts the call, including waits between attempts. The call rejects with the signal's `reason`. */
  signal?: AbortSignal | null | undefined;
}

/** The promise of a call. */
export interface Call<T> extends Promise<T> {
  /**
   * Returns the transaction together with the status, headers and request ID of the response.
   *
   * @example
   * ```js
   * const { data, response } = await client.getPledgeTransaction("ptran_1").withResponse();
   * console.log(data.reference, response.status); // order-1 200
   * ```
   */
  withResponse(): Promise<{ data: T; response: ResponseInfo }>;
}

/** The options of one create request. */
export interface CreateOptions extends CallOptions {
  /**
   * Your own key for this create request, of the form `system:shop:id`, such as `shopify:acme.myshopify.com:5940`:
   * order numbers are unique only within a shop. It has 1 to 255 printable ASCII characters; pass an ID with others
   * through `encodeURIComponent`. A service that supports idempotency keys answers a repeated create request with
   * the first transaction, and records no second one. A request with a key is retried like a get request, unless
   * {@link PledgeClientOptions.retryCreates} is `false`. If your service does not support idempotency keys, a
   * retry could record a second transaction.
   */
  idempotencyKey?: string | null | undefined;
}

/** The response that contained a transaction. */
export interface ResponseInfo {
  readonly status: number;
  readonly headers: Headers;
  /** The ID of the request in the logs of the service, if the response has one (`x-request-id` or `cf-ray`). */
  readonly requestId: string | undefined;
  /** The idempotency key that was sent, if any. */
  readonly idempotencyKey: string | undefined;
  /** Whether this is an idempotent replay: the create was repeated, and the service answered with the first transaction. */
  readonly idempotentReplayed: boolean;
  /** The number of retries. */
  readonly retries: number;
}

/** The kind of an error. */
export type PledgeErrorCode =
  | "invalid_argument"
  | "live_key_in_browser"
  | "live_key_over_http"
  | "api_key_failed"
  | "no_fetch"
  | "invalid_request"
  | "api_error"
  | "authentication_failed"
  | "not_found"
  | "conflict"
  | "unprocessable"
  | "idempotency_key_reused"
  | "rate_limited"
  | "connection_failed"
  | "timeout";
