/* What the client takes and gives, but for requests and answers. */

/** What a client calls instead of the platform's `fetch`. */
export type Fetch = (url: string, init: FetchInit) => Response | PromiseLike<Response>;

/** The second argument of {@link Fetch}: plain values, which every `fetch` takes. */
export interface FetchInit {
  method: "GET" | "POST";
  headers: Record<string, string>;
  body?: string;
  redirect: "manual";
  signal?: AbortSignal;
}

/** What can be set for a client, and for one call. */
interface SharedOptions {
  /** The unit that a team-level key acts for. */
  unitId?: string | null | undefined;
  /** How long one attempt may take, its answer's body included. Default: 30,000 milliseconds. */
  timeoutMs?: number | null | undefined;
  /**
   * How long the whole call may take, with all its attempts, the waits between them, and the function `apiKey`. Default:
   * no such limit.
   */
  deadlineMs?: number | null | undefined;
  /** How often a call is repeated at most, 0 to 10. Default: 2. */
  maxRetries?: number | null | undefined;
  /** More headers, such as `{ traceparent }`. A call's are added to its client's. */
  headers?:
    | Readonly<Record<string, string>>
    | Iterable<readonly [string, string]>
    | null
    | undefined;
}

/** A request that leaves. Headers have lower-case names; the API key is not shown. */
export interface RequestEvent {
  readonly method: "GET" | "POST";
  readonly url: string;
  /** 1 for the first, 2 for the first repeat. */
  readonly attempt: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** An answer that came, whatever its status. */
export interface ResponseEvent extends RequestEvent {
  readonly status: number;
  readonly durationMs: number;
  /** The service's name for the request, where the answer has one. */
  readonly requestId: string | undefined;
}

/** A repeat that is going to be. */
export interface RetryEvent {
  /** Of the attempt to come: 2 for the first repeat. */
  readonly attempt: number;
  readonly waitMs: number;
  /** Why, in words. */
  readonly reason: string;
}

/** From silence to everything. */
export type LogLevel = "off" | "error" | "warn" | "info" | "debug";

/** Where a client writes to: `console`, or what has the same functions. */
export type Logger = Record<
  Exclude<LogLevel, "off">,
  (message: string, details: unknown) => unknown
>;

/** The options of a {@link PledgeClient}. */
export interface PledgeClientOptions extends SharedOptions {
  /**
   * The API key, or a function that gives it, such as one that asks a store of secrets: it is called once for each call of
   * the client. The key is sent in the `Authorization` header and shown nowhere.
   */
  apiKey: string | (() => string | PromiseLike<string>);
  /** Where the service is, such as `https://pledges.example.org`. */
  baseUrl: string | URL;
  /**
   * Whether the service honours `Idempotency-Key`. Creates then carry such a key, one for each call, and are repeated
   * like gets. Without it a create is sent once: a service that follows only the contract would record it twice.
   */
  safeRepeats?: boolean | null | undefined;
  /** A `fetch` of your own, or an object that has one, such as a Cloudflare service binding. */
  fetch?: Fetch | { fetch: Fetch } | null | undefined;
  /** What the `User-Agent` says of your application beside this package; not sent by pages. */
  appInfo?: { name: string; version?: string; url?: string } | null | undefined;
  /** Called before each attempt. What hooks throw is logged, and changes nothing. */
  onRequest?: ((event: RequestEvent) => unknown) | null | undefined;
  /** Called after each answer. */
  onResponse?: ((event: ResponseEvent) => unknown) | null | undefined;
  /** Called before the wait for a repeat. */
  onRetry?: ((event: RetryEvent) => unknown) | null | undefined;
  /** Where to log. Default: `console`. */
  logger?: Logger | null | undefined;
  /** What to log: failed calls (`error`), repeats (`warn`), requests and answers (`debug`). Default: `off`. */
  logLevel?: LogLevel | null | undefined;
  /** Allows a live key in a browser page, where everyone can read it. */
  dangerouslyAllowBrowser?: boolean | null | undefined;
  /**
   * Allows a live key to an `http:` address of another machine, where everyone on the way can read it. A service binding
   * or a private network is no exception: give it an `https:` address, or set this.
   */
  dangerouslyAllowHttp?: boolean | null | undefined;
}

/** The options of one call. */
export interface CallOptions extends SharedOptions {
  /** Ends the call, waits between attempts included: it rejects with the signal's reason. */
  signal?: AbortSignal | null | undefined;
}

/** A call on its way. */
export interface Call<T> extends Promise<T> {
  /**
   * The transaction, and what came with it.
   *
   * @example
   * ```js
   * const { data, response } = await client.getPledgeTransaction("ptran_1").withResponse();
   * console.log(data.reference, response.status); // order-1 200
   * ```
   */
  withResponse(): Promise<{ data: T; response: ResponseInfo }>;
}

/** The options of one create. */
export interface CreateOptions extends CallOptions {
  /**
   * Your own name for this create, 1 to 255 printable ASCII characters: a repeat under the same name is answered with
   * the first transaction, by a service that honours it. It is always sent; the client repeats by itself only with
   * {@link PledgeClientOptions.safeRepeats}.
   */
  idempotencyKey?: string | null | undefined;
}

/** What came with a transaction beside its body. */
export interface ResponseInfo {
  readonly status: number;
  readonly headers: Headers;
  /** The service's name for the request, where the answer has one (`x-request-id` or `cf-ray`). */
  readonly requestId: string | undefined;
  /** The idempotency key that was sent. */
  readonly idempotencyKey: string | undefined;
  /** Whether the service answered a repeat with the first transaction. */
  readonly idempotentReplayed: boolean;
  /** How often the call was repeated. */
  readonly retries: number;
}

/** What an error is about. Distinguishes errors where `instanceof` can't: between copies of the package. */
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
  | "rate_limited"
  | "connection_failed"
  | "timeout";
