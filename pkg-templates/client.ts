/* `PledgeClient` with the two operations of the service. `call.ts` sends their requests. */
import { VERSION } from "#version";
import type { PledgeTransaction, RetrievedPledgeTransaction } from "./answers.ts";
import { type Answered, type Next, type Outgoing, type Unanswered, send } from "./call.ts";
import { type Cause, describe } from "./cause.ts";
import { core } from "./core.ts";
import { type Limit, newLimit, within } from "./deadline.ts";
import {
  ApiError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  IdempotencyKeyReusedError,
  NotFoundError,
  PledgeError,
  RateLimitError,
  TimeoutError,
  UnprocessableEntityError,
  ValidationError,
  requestId,
} from "./errors.ts";
import { newCallId, reporter } from "./events.ts";
import {
  type Settings,
  clientOptions,
  createOptions,
  getOptions,
  invalid,
  merged,
} from "./options.ts";
import { tryOrUndefined, redactedCause, redactedHeaders, redactor } from "./redact.ts";
import type {
  Call,
  CallOptions,
  CreateOptions,
  PledgeClientOptions,
  PledgeErrorCode,
  ResponseInfo,
} from "./types.ts";
import {
  type CreatePledgeTransactionRequest,
  type Issue,
  validate,
  validateBytes,
} from "./validate/index.ts";

/**
 * A client of the pledge service: creates and reads pledge transactions (§4).
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
  #options: Settings;

  /**
   * @param options the API key, the base URL of the service, and optional settings
   * @throws {PledgeError} with the code `invalid_argument` for an invalid option, `live_key_in_browser` or `live_key_over_http`
   */
  constructor(options: PledgeClientOptions) {
    this.#options = clientOptions(options);
    const { apiKey, unitId } = this.#options;
    checkCredentials(typeof apiKey === "string" ? apiKey : UNKNOWN_KEY, unitId, this.#options);
    // In the constructor, because bundlers keep a class with a computed member name even if nothing uses it.
    Reflect.set(PledgeClient.prototype, Symbol.for("nodejs.util.inspect.custom"), this.#inspected);
  }

  /**
   * Creates a client from environment variables: `PLEDGE_API_KEY`, `PLEDGE_BASE_URL` and, for a team-level key,
   * `PLEDGE_UNIT_ID`.
   * @param options options that take precedence over the variables
   * @param env an object to read instead of `process.env`, such as the `env` of a Worker
   * @throws {PledgeError} if a variable is missing, or an option is invalid
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
  static fromEnv(
    options: Partial<PledgeClientOptions> | null = {},
    env: Readonly<Record<string, unknown>> = environment(),
  ): PledgeClient {
    const found = Object.entries(VARIABLES).map(
      ([option, variable]) => [option, tryOrUndefined(() => env[variable]) || undefined] as const,
    );
    const missing = found.find(
      ([option, value]) =>
        option !== "unitId" &&
        value === undefined &&
        !(options?.[option as keyof PledgeClientOptions] ?? undefined),
    );
    if (missing)
      throw invalid(
        `set the environment variable \`${VARIABLES[missing[0]]}\`, or pass the option \`${missing[0]}\``,
      );
    return new PledgeClient(merged(Object.fromEntries(found) as never, options));
  }

  /**
   * Creates a client with the options of this client, overridden by the given options.
   * @throws {PledgeError} if an option is invalid
   *
   * @example
   * ```js
   * const ofUnit = client.with({ unitId: "unit_2" });
   * const { reference } = await ofUnit.getPledgeTransaction("ptran_1");
   * console.log(reference); // order-1
   * ```
   */
  with(options: Partial<PledgeClientOptions>): PledgeClient {
    return new PledgeClient(merged(this.#options as PledgeClientOptions, options));
  }

  /**
   * Returns what `console.log` shows for a client in Node, Deno and Bun. It names the mode of the API key
   * (test or live), but hides the key.
   */
  #inspected(
    _depth: unknown,
    options: unknown,
    inspect: (value: object, options: unknown) => string,
  ): string {
    const { apiKey, baseUrl, unitId } = this.#options;
    const [prefix] = /^(service_sk_(test|live)_?)?/.exec(String(apiKey))!;
    const shown = { baseUrl, ...(unitId && { unitId }), apiKey: `${prefix}…` };
    return `PledgeClient ${inspect(shown, options)}`;
  }

  /**
   * Creates a pledge transaction (§4.1). Validates the request first, and sends it only if it is valid.
   * @throws {ValidationError} with all issues; the request was not sent
   * @throws {IdempotencyKeyReusedError} if the idempotency key has already recorded a transaction with other content
   * @throws {AuthenticationError | ApiError | ConnectionError | TimeoutError} if the call fails
   *
   * @example
   * ```js
   * const { id } = await client.createPledgeTransaction(payload, { idempotencyKey: orderId });
   * console.log(id); // ptran_1
   * ```
   */
  createPledgeTransaction(
    request: CreatePledgeTransactionRequest,
    options?: CreateOptions | null,
  ): Call<PledgeTransaction>;
  createPledgeTransaction(request: unknown, ...options: unknown[]): Call<PledgeTransaction> {
    return withResponse(
      this.#call(
        true,
        () => snapshot(request),
        () => createOptions(options),
      ),
    );
  }

  /**
   * Reads a pledge transaction by its ID (§4.2).
   * @throws {NotFoundError | AuthenticationError | ApiError | ConnectionError | TimeoutError} if the call fails
   *
   * @example
   * ```js
   * const { reference } = await client.getPledgeTransaction("ptran_1");
   * console.log(reference); // order-1
   * ```
   */
  getPledgeTransaction(id: string, options?: CallOptions | null): Call<RetrievedPledgeTransaction>;
  getPledgeTransaction(id: unknown, ...options: unknown[]): Call<RetrievedPledgeTransaction> {
    return withResponse(
      this.#call(
        false,
        () => idText(id),
        () => getOptions(options),
      ),
    );
  }

  async #call<T extends object>(
    isCreate: boolean,
    readSubject: () => string,
    readOptions: () => ReturnType<typeof getOptions>,
  ): Promise<T> {
    const { apiKey: given } = this.#options,
      callId = newCallId();
    let redact = redactor(typeof given === "string" ? given : ""),
      limit: Limit | undefined;
    const report = reporter(this.#options, (text) => redact(text));
    try {
      const subject = readSubject(),
        own: Partial<ReturnType<typeof createOptions>> = readOptions();
      const options = {
        ...this.#options,
        ...own,
        headers: { ...this.#options.headers, ...own.headers, ...userAgent(this.#options) },
      };
      limit = newLimit(own.signal, options.deadlineMs);
      const apiKey = await apiKeyOf(options, limit);
      redact = redactor(apiKey);
      const idempotencyKey =
        own.idempotencyKey ??
        (isCreate && options.retryCreates ? core().newIdempotencyKey() : undefined);
      const request = { callId, isCreate, subject, idempotencyKey };
      const call = { ...options, ...request, apiKey, limit, redact, report };
      return conclude<T>(call, await send(call));
    } catch (error) {
      if (error instanceof PledgeError) report("failure", () => ({ callId, ...error.toJSON() }));
      throw error;
    } finally {
      limit?.clear();
    }
  }
}

const VARIABLES: Record<string, string> = {
  apiKey: "PLEDGE_API_KEY",
  baseUrl: "PLEDGE_BASE_URL",
  unitId: "PLEDGE_UNIT_ID",
};
const environment = () => globalThis.process?.env ?? {};

/**
 * A placeholder for the API key in checks, until the function `apiKey` has returned the key. It counts as
 * neither a test key nor a live key.
 */
const UNKNOWN_KEY = "unknown";

function checkCredentials(
  apiKey: string,
  unitId: string | undefined,
  {
    baseUrl,
    dangerouslyAllowBrowser,
    dangerouslyAllowHttp,
  }: Pick<Settings, "baseUrl" | "dangerouslyAllowBrowser" | "dangerouslyAllowHttp">,
): void {
  const { checkCredentials, isLiveKey } = core();
  const problem = checkCredentials(apiKey, unitId);
  if (problem !== undefined) throw invalid(problem);
  if (!isLiveKey(apiKey)) return;
  if (!dangerouslyAllowBrowser && inBrowserPage())
    throw new PledgeError("live_key_in_browser", IN_BROWSER);
  if (!dangerouslyAllowHttp && isOpenHttp(baseUrl))
    throw new PledgeError("live_key_over_http", OVER_HTTP);
}

/** Returns the key of one call. A function `apiKey` is called each time, so that keys can be rotated while the program runs. */
async function apiKeyOf(
  options: Settings & { readonly signal?: AbortSignal | undefined },
  limit: Limit,
): Promise<string> {
  const { apiKey: source, unitId, timeoutMs } = options;
  if (typeof source === "string") return source;
  const asked = async () => source();
  const ended = await within(asked, timeoutMs, limit.signal).catch((thrown) => {
    const cause = redactedCause(thrown, redactor()) as Cause;
    throw noKey(describe(cause), cause);
  });
  if (ended.kind === "aborted" && !limit.isOver()) throw abortReason(options.signal);
  if (ended.kind === "aborted") throw notAsked(options);
  if (ended.kind !== "done") throw noKey(`no result within ${timeoutMs} ms`);
  const apiKey = ended.value;
  if (typeof apiKey !== "string")
    throw new PledgeError("api_key_failed", "the function `apiKey` must return a string");
  checkCredentials(apiKey, unitId, options);
  return apiKey;
}

/**
 * Returns the `User-Agent` header, or no header in a browser page. Browsers send their own. If a page sets
 * another, some browsers first send a CORS preflight.
 */
function userAgent({ appInfo }: Settings): Record<string, string> {
  if (inBrowserPage()) return {};
  const { name, version, url } = appInfo ?? ({} as Partial<NonNullable<typeof appInfo>>);
  const parts = [
    `impact-pledge/${VERSION}`,
    name && name + (version ? `/${version}` : ""),
    url && `(${url})`,
  ];
  return { "user-agent": parts.filter(Boolean).join(" ") };
}

const noKey = (why: string, cause?: unknown) =>
  new PledgeError("api_key_failed", `the function \`apiKey\` returned no key: ${why}`, { cause });

const notAsked = ({ deadlineMs }: Pick<Settings, "deadlineMs">) =>
  new TimeoutError(
    "timeout",
    `no request was sent within ${deadlineMs} ms: the function \`apiKey\` took too long`,
  );

/** Adds the function `withResponse` to the promise of a call. */
function withResponse<T extends object>(call: Promise<T>): Call<T> {
  const value = async () => {
    const data = await call;
    return { data, response: responseOf(data as never) };
  };
  return Object.defineProperty(call, "withResponse", { value }) as Call<T>;
}

const IN_BROWSER =
  "a live key in a browser page can be read by every visitor: call the service from a server, or set `dangerouslyAllowBrowser`";
const OVER_HTTP =
  "a live key over http can be read by others on the network: use an https address as `baseUrl`, or set `dangerouslyAllowHttp`";

/** Whether requests to this address leave the machine unencrypted. */
function isOpenHttp(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === "http:" && !/^((.+\.)?localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/**
 * Whether this code runs in a browser, in a page or a worker. A worker is recognised by a user agent that
 * begins with `Mozilla/`, which only browsers use.
 */
function inBrowserPage(): boolean {
  const { window, navigator, WorkerGlobalScope } = globalThis as typeof globalThis & {
    readonly WorkerGlobalScope?: unknown;
  };
  return (
    window?.document !== undefined ||
    (WorkerGlobalScope !== undefined && String(navigator?.userAgent).startsWith("Mozilla/"))
  );
}

/** Reads an ID. Refuses a lone surrogate (half of a pair), which would become another character in UTF-8. */
function idText(id: unknown): string {
  if (typeof id !== "string" || /\p{Surrogate}/u.test(id))
    throw invalid("`id` must be a string: the ID of a pledge transaction");
  return id;
}

/**
 * Converts a request to JSON. Validates both the request and the JSON, because an object may have different
 * values when it is read a second time.
 */
function snapshot(request: unknown): string {
  refuse(validate(request));
  const text = tryOrUndefined(() => String(JSON.stringify(request)));
  if (text === undefined)
    refuse([{ path: [], pointer: "", code: "unreadable", message: "could not be read" } as never]);
  refuse(validateBytes(new TextEncoder().encode(text)));
  return text as string;
}

function refuse(issues: readonly Issue[]): void {
  if (issues.length > 0) throw new ValidationError(issues);
}

/** Returns the transaction of a successful call. Otherwise throws the call's error. */
function conclude<T extends object>(call: Outgoing, conclusion: Answered | Unanswered): T {
  if (conclusion.kind === "transaction") return transaction(call, conclusion);
  if ("answer" in conclusion) throw refusal(call, conclusion);
  if (conclusion.kind === "connection_failed") throw noAnswer(call, conclusion);
  if (conclusion.kind === "timeout") throw timeout(call, conclusion, call.timeoutMs);
  throw call.limit.isOver()
    ? timeout(call, conclusion, call.deadlineMs!)
    : abortReason(call.signal);
}

const timeout = (call: Outgoing, ended: Unanswered, ms: number) =>
  new TimeoutError(
    "timeout",
    `the service did not answer within ${ms} ms${endingOf(call, ended)}`,
    { idempotencyKey: call.idempotencyKey },
  );

/** Returns the end of an error message: what may have been recorded, unless the service's own `text` says it. */
const endingOf = (call: Outgoing, ended: Next, text = "") =>
  (ended.mayBeRecorded && !/recorded/.test(text)
    ? "; the transaction may have been recorded"
    : "") + notRetried(call, ended);

/**
 * Returns the end of an error message. It names the option that prevented the retry of a create request, and
 * is empty if no option did.
 */
function notRetried({ retryCreates }: Outgoing, { isWithheld }: Next): string {
  if (!isWithheld) return "";
  const why =
    retryCreates === false
      ? "`retryCreates` is `false`"
      : "set `retryCreates`, or pass an `idempotencyKey`";
  return `; it was not retried: ${why}`;
}

/** For each transaction, a function that copies the details of its response. It runs only if a caller asks for the details. */
const responses = new WeakMap<object, () => ResponseInfo>();

function transaction<T extends object>(
  { idempotencyKey, redact }: Outgoing,
  { text: amount, answer: { status, headers, body }, retries }: Answered,
): T {
  const value = JSON.parse(decode(body));
  value.charge.amount = amount;
  let info: ResponseInfo | undefined;
  responses.set(value, () => {
    info ??= responseInfo(redactedHeaders(headers, redact), { status, idempotencyKey, retries });
    return info;
  });
  return value;
}

function responseInfo(
  headers: Headers,
  details: Pick<ResponseInfo, "status" | "idempotencyKey" | "retries">,
): ResponseInfo {
  const idempotentReplayed = headers.get("idempotent-replayed") === "true";
  return Object.freeze({ ...details, headers, requestId: requestId(headers), idempotentReplayed });
}

/**
 * Returns the status, headers and request ID of the response that contained a transaction; `undefined` for a copy of the
 * transaction.
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
export const responseOf = (
  transaction: PledgeTransaction | RetrievedPledgeTransaction,
): ResponseInfo | undefined => responses.get(transaction)?.();

const REFUSALS = {
  authentication_failed: AuthenticationError,
  not_found: NotFoundError,
  idempotency_key_reused: IdempotencyKeyReusedError,
  api_error: ApiError,
};
type Refusal = keyof typeof REFUSALS;
const BY_STATUS: Record<number, readonly [typeof ApiError, PledgeErrorCode]> = {
  409: [ConflictError, "conflict"],
  422: [UnprocessableEntityError, "unprocessable"],
  429: [RateLimitError, "rate_limited"],
};

function refusal(call: Outgoing, ended: Answered): ApiError {
  const { idempotencyKey, redact } = call,
    { kind, text, error, url } = ended,
    { status, headers, body } = ended.answer;
  const isForeign =
    kind !== "not_found" && (error === undefined || status === 404 || status >= 500);
  const message =
    redact(text) +
    (isForeign ? `; the address was ${redact(url)}` : "") +
    endingOf(call, ended, text);
  const answer = {
    status,
    error: error && redact(error),
    body: redact(decode(body)),
    headers: redactedHeaders(headers, redact),
  };
  const [Refusal, code] = (kind === "api_error" && BY_STATUS[status]) || [
    REFUSALS[kind as Refusal],
    kind as Refusal,
  ];
  const retryAfterMs = Refusal === RateLimitError ? ended.retryAfterMs : undefined;
  return new Refusal(code, message, { ...answer, retryAfterMs, idempotencyKey });
}

function noAnswer(call: Outgoing, ended: Unanswered): ConnectionError {
  const { idempotencyKey, redact } = call,
    { cause } = ended;
  const unsent = ended.isUnsent && !ended.mayBeRecorded ? "; the request was not sent" : "";
  return new ConnectionError(
    "connection_failed",
    redact(`no response from the service: ${describe(cause)}${unsent}${endingOf(call, ended)}`),
    { cause, idempotencyKey },
  );
}

function abortReason(signal: AbortSignal | undefined): unknown {
  const reason = tryOrUndefined(() => signal!.reason as unknown);
  return reason === undefined
    ? new DOMException("The operation was aborted.", "AbortError")
    : reason;
}

/** Decodes UTF-8 like `Response.text`: invalid bytes become U+FFFD, and a byte order mark is removed. */
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
