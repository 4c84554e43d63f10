import type { CreatePledgeTransactionRequest, ImpactRequest, Issue, NotificationType } from "./validate.js";
import type { PledgeDetailRequest, RecipientRequest, TriggerRequest } from "./validate.js";

export * from "./validate.js";

/** The currencies of a charge (ISO 4217). */
export type CurrencyCode = "USD" | "GBP" | "EUR";

/** The monetary value of a pledge transaction. */
export interface Charge {
  /** Total value: a decimal with two places, such as `"12.50"`. More places are rounded half away from zero. */
  amount: string;
  currencyCode: CurrencyCode;
  /** When it was paid (date-time); null until then. */ paidAt: string | null;
}

/** What a request may leave out is null in an answer. */
type Answered<T> = { [K in keyof T]-?: undefined extends T[K] ? NonNullable<T[K]> | null : T[K] };

/** Who pledges are for. */
export type Recipient = Answered<RecipientRequest>;
/** The action that caused the pledges. */
export type Trigger = Answered<TriggerRequest>;
/** A quantity of one impact offering. */
export type Impact = Answered<ImpactRequest>;
/** What the timeline shows of a pledge; null what was not supplied. */
export type PledgeDetail = Answered<PledgeDetailRequest>;

/** A pledge, as a create answers it. */
export interface Pledge {
  /** Unique ID: `p_…`. */ id: string;
  impact: Impact;
  detail: PledgeDetail;
}

/** A pledge, as a get answers it. */
export interface RetrievedPledge {
  /** Unique ID: `p_…`. */ id: string;
  impact: Impact;
  details: PledgeDetail[];
  recipient: Recipient;
}

/** A notification service that was asked for. */
export interface Notification {
  type: NotificationType | (string & {});
  /** `Pending` is the only status that the contract shows. */ status: "Pending" | (string & {});
}

/** A pledge transaction, as a create answers it. Members that the service adds pass through untyped. */
export interface PledgeTransaction {
  /** Unique ID: `ptran_…`. */ id: string;
  /** Your reference. */ reference: string;
  /** Creation time (date-time). */ createdAt: string;
  /** Whether a live key made it. */ isLive: boolean;
  charge: Charge;
  recipient: Recipient;
  trigger: Trigger;
  /** One entry per requested pledge. */ pledges: Pledge[];
  /** One entry per requested notification service. */ notifications: Notification[];
  /** Address of the timeline: for the recipient alone, never to be made public. */ timelineUrl: string;
}

/** A pledge transaction, as a get answers it. The optional members are those that a service may leave out. */
export interface RetrievedPledgeTransaction {
  /** Creation time (date-time). */ createdAt: string;
  /** Your reference. */ reference: string;
  /** Whether a live key made it. */ isLive: boolean;
  charge: Charge;
  trigger: Trigger;
  pledges: RetrievedPledge[];
  notifications?: Notification[] | null;
  /** Address of the timeline: for the recipient alone, never to be made public. */ timelineUrl?: string | null;
  id?: string | null;
  recipient?: Recipient | null;
}

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
  /** The unit that a team-level key acts for. */ unitId?: string | null | undefined;
  /** How long one attempt may take, its answer's body included. Default: 30,000 milliseconds. */
  timeoutMs?: number | null | undefined;
  /**
   * How long the whole call may take, with all its attempts, the waits between them, and the function `apiKey`. Default:
   * no such limit.
   */
  deadlineMs?: number | null | undefined;
  /** How often a call is repeated at most, 0 to 10. Default: 2. */ maxRetries?: number | null | undefined;
  /** More headers, such as `{ traceparent }`. A call's are added to its client's. */
  headers?: Readonly<Record<string, string>> | Iterable<readonly [string, string]> | null | undefined;
}

/** A request that leaves. Headers have lower-case names; the API key is not shown. */
export interface RequestEvent {
  readonly method: "GET" | "POST";
  readonly url: string;
  /** 1 for the first, 2 for the first repeat. */ readonly attempt: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** An answer that came, whatever its status. */
export interface ResponseEvent extends RequestEvent {
  readonly status: number;
  readonly durationMs: number;
  /** The service's name for the request, where the answer has one. */ readonly requestId: string | undefined;
}

/** A repeat that is going to be. */
export interface RetryEvent {
  /** Of the attempt to come: 2 for the first repeat. */ readonly attempt: number;
  readonly waitMs: number;
  /** Why, in words. */ readonly reason: string;
}

/** From silence to everything. */
export type LogLevel = "off" | "error" | "warn" | "info" | "debug";

/** Where a client writes to: `console`, or what has the same functions. */
export type Logger = Record<Exclude<LogLevel, "off">, (message: string, details: unknown) => unknown>;

/** The options of a {@link PledgeClient}. */
export interface PledgeClientOptions extends SharedOptions {
  /**
   * The API key, or a function that gives it, such as one that asks a store of secrets: it is called once for each call of
   * the client. The key is sent in the `Authorization` header and shown nowhere.
   */
  apiKey: string | (() => string | PromiseLike<string>);
  /** Where the service is, such as `https://pledges.example.org`. */ baseUrl: string | URL;
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
  /** Called after each answer. */ onResponse?: ((event: ResponseEvent) => unknown) | null | undefined;
  /** Called before the wait for a repeat. */ onRetry?: ((event: RetryEvent) => unknown) | null | undefined;
  /** Where to log. Default: `console`. */ logger?: Logger | null | undefined;
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

/**
 * Creates pledge transactions and gets them.
 *
 * @example
 * ```js
 * import { PledgeClient } from "impact-pledge";
 *
 * const client = new PledgeClient({ apiKey, baseUrl: "https://pledges.example.org" });
 * const { id, timelineUrl } = await client.createPledgeTransaction({
 *   reference: "order-1",
 *   recipient: { email: "ada@example.org" },
 *   pledges: [{ impact: { amount: 1, offeringId: "tree" } }],
 * });
 * console.log(id); // ptran_1
 * ```
 */
export class PledgeClient {
  /** @throws {PledgeError} for an option that can't be used */ constructor(options: PledgeClientOptions);

  /**
   * A client with `PLEDGE_API_KEY`, `PLEDGE_BASE_URL` and, for a team-level key, `PLEDGE_UNIT_ID` of the environment.
   * @param options beside these, and instead of them
   * @param env instead of `process.env`, such as the `env` of a Worker
   *
   * @example
   * ```js
   * import { PledgeClient } from "impact-pledge";
   *
   * const client = PledgeClient.fromEnv({ maxRetries: 4 });
   * const { reference } = await client.getPledgeTransaction("ptran_1");
   * console.log(reference); // order-1
   * ```
   */
  static fromEnv(options?: Partial<PledgeClientOptions> | null, env?: Readonly<Record<string, unknown>>): PledgeClient;

  /**
   * A client with some other options.
   *
   * @example
   * ```js
   * const ofUnit = client.with({ unitId: "unit_2" });
   * const { reference } = await ofUnit.getPledgeTransaction("ptran_1");
   * console.log(reference); // order-1
   * ```
   */
  with(options: Partial<PledgeClientOptions>): PledgeClient;

  /**
   * Records pledges. The request is validated first; what was checked is what is sent.
   * @throws {ValidationError} with all problems of the request; nothing was sent
   * @throws {AuthenticationError | ApiError | ConnectionError | TimeoutError}
   *
   * @example
   * ```js
   * const { id } = await client.createPledgeTransaction(payload, { idempotencyKey: orderId });
   * console.log(id); // ptran_1
   * ```
   */
  createPledgeTransaction(request: CreatePledgeTransactionRequest, options?: CreateOptions | null): Call<PledgeTransaction>;

  /**
   * Gets a pledge transaction by its ID.
   * @throws {NotFoundError | AuthenticationError | ApiError | ConnectionError | TimeoutError}
   *
   * @example
   * ```js
   * const { reference } = await client.getPledgeTransaction("ptran_1");
   * console.log(reference); // order-1
   * ```
   */
  getPledgeTransaction(id: string, options?: CallOptions | null): Call<RetrievedPledgeTransaction>;
}

/** What came with a transaction beside its body. */
export interface ResponseInfo {
  readonly status: number;
  readonly headers: Headers;
  /** The service's name for the request, where the answer has one (`x-request-id` or `cf-ray`). */
  readonly requestId: string | undefined;
  /** The idempotency key that was sent. */ readonly idempotencyKey: string | undefined;
  /** Whether the service answered a repeat with the first transaction. */ readonly idempotentReplayed: boolean;
  /** How often the call was repeated. */ readonly retries: number;
}

/**
 * The status, headers and request ID that came with a transaction; undefined for a copy of it.
 *
 * @example
 * ```js
 * import { responseOf } from "impact-pledge";
 *
 * const transaction = await client.getPledgeTransaction("ptran_1");
 * const { status, requestId } = responseOf(transaction);
 * console.log(status); // 200
 * ```
 */
export function responseOf(transaction: PledgeTransaction | RetrievedPledgeTransaction): ResponseInfo | undefined;

/** What an error is about. Distinguishes errors where `instanceof` can't: between copies of the package. */
export type PledgeErrorCode =
  | "invalid_argument" | "live_key_in_browser" | "live_key_over_http" | "api_key_failed" | "no_fetch" | "invalid_request"
  | "api_error" | "authentication_failed" | "not_found" | "conflict" | "unprocessable" | "rate_limited"
  | "connection_failed" | "timeout";

/** What all errors of this package are. By itself: an option or argument that can't be used. */
export class PledgeError extends Error {
  protected constructor();
  readonly code: PledgeErrorCode;
  /** What a log may show: no key, no header, no body. */ toJSON(): Record<string, unknown>;
}

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
  readonly code: "invalid_request";
  /** All problems, in the order of the contract. */ readonly issues: Issue[];
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
  readonly code: "api_error" | "authentication_failed" | "not_found" | "conflict" | "unprocessable" | "rate_limited";
  /** The HTTP status; 0 for a redirect in a browser. */ readonly status: number;
  /** The `error` of a body in the contract's error shape. */ readonly error?: string;
  /** The body's text without the API key, up to 64 KiB unless the status was a success. */ readonly body: string;
  /** The answer's headers without the API key. */ readonly headers: Headers;
  /** The service's name for the request, where the answer has one. */ get requestId(): string | undefined;
  /** The idempotency key that was sent. */ readonly idempotencyKey?: string;
}

/** The service did not accept the API key (401). */
export class AuthenticationError extends ApiError {
  readonly code: "authentication_failed";
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
  readonly code: "not_found";
}

/** The request is at odds with the state of the service (409). */
export class ConflictError extends ApiError {
  readonly code: "conflict";
}

/** The service refuses the content of the request (422): the idempotency key was used for another one. */
export class UnprocessableEntityError extends ApiError {
  readonly code: "unprocessable";
}

/** There are too many requests (429). The client has waited and repeated the call as its options allow. */
export class RateLimitError extends ApiError {
  readonly code: "rate_limited";
  /** How long the service asks to wait, where it does. */ readonly retryAfterMs?: number;
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
  readonly code: "connection_failed" | "timeout";
  /**
   * What `fetch` failed with: a copy without the API key. It has the name, message, stack, code, causes and plain
   * properties of the original, and is no instance of its class.
   */
  readonly cause?: unknown;
  /** The idempotency key that was sent: repeat the create with it. */ readonly idempotencyKey?: string;
}

/** There was no answer in time. A create may have been recorded all the same. */
export class TimeoutError extends ConnectionError {
  readonly code: "timeout";
}
