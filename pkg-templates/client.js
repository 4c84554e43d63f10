/** `PledgeClient`: the two operations of the service. Attempts, waits and the check of answers are compiled Rust. */
import { VERSION } from "#version";
import { newCall } from "./call.js";
import { core } from "./core.js";
import { newLimit, within } from "./deadline.js";
import {
  ApiError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  NotFoundError,
  PledgeError,
  RateLimitError,
  TimeoutError,
  UnprocessableEntityError,
  ValidationError,
  requestId,
} from "./errors.js";
import { reporter } from "./events.js";
import { clientOptions, createOptions, getOptions, invalid } from "./options.js";
import { quietly, redactedCause, redactedHeaders, redactor } from "./redact.js";
import { validate, validateBytes } from "./validate/index.js";

export class PledgeClient {
  #options;

  constructor(options) {
    this.#options = clientOptions(options);
    const { apiKey, unitId } = this.#options;
    checkCredentials(typeof apiKey === "string" ? apiKey : UNKNOWN_KEY, unitId, this.#options);
  }

  static fromEnv(options = {}, env = environment()) {
    const found = Object.entries(VARIABLES).map(([option, variable]) => [
      option,
      quietly(() => env[variable]) || undefined,
    ]);
    const missing = found.find(
      ([option, value]) =>
        option !== "unitId" && value === undefined && !(options?.[option] ?? undefined),
    );
    if (missing)
      throw invalid(
        `the variable \`${VARIABLES[missing[0]]}\` is not set, and there is no option \`${missing[0]}\``,
      );
    return new PledgeClient({ ...Object.fromEntries(found), ...options });
  }

  with(options) {
    return new PledgeClient({ ...this.#options, ...options });
  }

  createPledgeTransaction(request, options) {
    return withResponse(
      this.#call(
        true,
        () => snapshot(request),
        () => createOptions(options),
      ),
    );
  }

  getPledgeTransaction(id, options) {
    return withResponse(
      this.#call(
        false,
        () => idText(id),
        () => getOptions(options),
      ),
    );
  }

  async #call(isCreate, readSubject, readOptions) {
    const subject = readSubject(),
      own = readOptions();
    const options = {
      ...this.#options,
      ...own,
      headers: { ...this.#options.headers, ...own.headers, ...userAgent(this.#options) },
    };
    const limit = newLimit(own.signal, options.deadlineMs),
      report = reporter(options);
    try {
      const call = newCall({ ...options, apiKey: await apiKeyOf(options, limit) }, limit, report);
      return conclude(
        { ...call, limit, ownSignal: own.signal },
        await core().send(call, isCreate, subject),
        isCreate ? CREATE_HINT : "",
      );
    } catch (error) {
      if (error instanceof PledgeError) report("failure", () => error.toJSON());
      throw error;
    } finally {
      limit.clear();
    }
  }
}

const VARIABLES = {
  apiKey: "PLEDGE_API_KEY",
  baseUrl: "PLEDGE_BASE_URL",
  unitId: "PLEDGE_UNIT_ID",
};
const environment = () => globalThis.process?.env ?? {};

/** A key of no mode, until a function gives the real one. */
const UNKNOWN_KEY = "unknown";

function checkCredentials(
  apiKey,
  unitId,
  { baseUrl, dangerouslyAllowBrowser, dangerouslyAllowHttp },
) {
  const { checkCredentials, isLiveKey } = core();
  const problem = checkCredentials(apiKey, unitId);
  if (problem !== undefined) throw invalid(problem);
  if (!isLiveKey(apiKey)) return;
  if (!dangerouslyAllowBrowser && inBrowserPage())
    throw new PledgeError("live_key_in_browser", IN_BROWSER);
  if (!dangerouslyAllowHttp && isOpenHttp(baseUrl))
    throw new PledgeError("live_key_over_http", OVER_HTTP);
}

/** The key of one call: a function is asked each time, so that a key can be replaced while the program runs. */
async function apiKeyOf(options, limit) {
  const { apiKey: source, unitId, timeoutMs } = options;
  if (typeof source === "string") return source;
  const apiKey = await within(async () => source(), timeoutMs, limit.signal).catch((thrown) => {
    if (limit.isOver())
      throw new TimeoutError(
        "timeout",
        `the service was not asked within ${options.deadlineMs} ms: the function \`apiKey\` took too long`,
      );
    if (limit.signal?.aborted) throw abortReason(options.signal);
    throw new PledgeError(
      "api_key_failed",
      `the function \`apiKey\` gave no key: ${describe(thrown)}`,
      { cause: thrown },
    );
  });
  if (typeof apiKey !== "string")
    throw new PledgeError("api_key_failed", "the function `apiKey` must give a string");
  checkCredentials(apiKey, unitId, options);
  return apiKey;
}

/** Not in a page: browsers name themselves, and some would ask the service's permission for it first. */
function userAgent({ appInfo }) {
  if (inBrowserPage()) return {};
  const { name, version, url } = appInfo ?? {};
  const parts = [
    `impact-pledge/${VERSION}`,
    name && name + (version ? `/${version}` : ""),
    url && `(${url})`,
  ];
  return { "user-agent": parts.filter(Boolean).join(" ") };
}

/** The call's promise, and what came with its transaction. */
function withResponse(call) {
  const value = async () => {
    const data = await call;
    return { data, response: responseOf(data) };
  };
  return Object.defineProperty(call, "withResponse", { value });
}

const CREATE_HINT = "; the transaction may have been recorded";
const IN_BROWSER =
  "a live key in a browser page is readable by everyone: call the service from a server, or set `dangerouslyAllowBrowser`";
const OVER_HTTP =
  "a live key over http is readable by everyone on its way: use an https address as `baseUrl`, or set `dangerouslyAllowHttp`";

/** Whether what is sent there leaves this machine, and in clear text. */
function isOpenHttp(baseUrl) {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === "http:" && !/^((.+\.)?localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/** A window with a document, or its worker: only browsers name themselves Mozilla. */
function inBrowserPage() {
  const { window, navigator, WorkerGlobalScope } = globalThis;
  return (
    window?.document !== undefined ||
    (WorkerGlobalScope !== undefined && String(navigator?.userAgent).startsWith("Mozilla/"))
  );
}

function idText(id) {
  if (typeof id !== "string")
    throw invalid("`id` must be the ID of a pledge transaction, a string");
  return id;
}

/** The request as JSON text: what was checked is what is sent, however the value changes. */
function snapshot(request) {
  refuse(validate(request));
  const text = quietly(() => String(JSON.stringify(request)));
  if (text === undefined)
    refuse([{ path: [], pointer: "", code: "unreadable", message: "could not be read" }]);
  refuse(validateBytes(new TextEncoder().encode(text)));
  return text;
}

function refuse(issues) {
  if (issues.length > 0) throw new ValidationError(issues);
}

/** Returns the transaction of a call's conclusion, which `src/client/call.rs` makes, or throws its error. */
function conclude(call, conclusion, hint) {
  const { kind, text, idempotencyKey } = conclusion;
  if (kind === "transaction") return transaction(conclusion);
  if (kind === "aborted" && !call.limit.isOver()) throw abortReason(call.ownSignal);
  if (kind === "invalid_argument") throw invalid(text);
  const limitMs = { aborted: call.deadlineMs, timed_out: call.timeoutMs }[kind];
  if (limitMs !== undefined)
    throw new TimeoutError("timeout", `the service did not answer within ${limitMs} ms${hint}`, {
      idempotencyKey,
    });
  throw REFUSALS[kind] ? refusal(call, conclusion) : noAnswer(call, conclusion, hint);
}

const answers = new WeakMap();

function transaction({ text: amount, part: { status, headers, body }, idempotencyKey, retries }) {
  const value = JSON.parse(decode(body));
  value.charge.amount = amount;
  const idempotentReplayed = headers.get("idempotent-replayed") === "true";
  answers.set(
    value,
    Object.freeze({
      status,
      headers,
      requestId: requestId(headers),
      idempotencyKey,
      idempotentReplayed,
      retries,
    }),
  );
  return value;
}

/** What came with a transaction beside its body. */
export const responseOf = (transaction) => answers.get(transaction);

const REFUSALS = {
  authentication_failed: AuthenticationError,
  not_found: NotFoundError,
  api_error: ApiError,
};
const BY_STATUS = {
  409: [ConflictError, "conflict"],
  422: [UnprocessableEntityError, "unprocessable"],
  429: [RateLimitError, "rate_limited"],
};

function refusal(
  { apiKey },
  { kind, text, error, url, part: { status, headers, body }, idempotencyKey },
) {
  const redact = redactor(apiKey);
  const isForeign =
    kind !== "not_found" && (error === undefined || status === 404 || status >= 500);
  const message = redact(text) + (isForeign ? `; the address was ${redact(url)}` : "");
  const answer = {
    status,
    error: error && redact(error),
    body: redact(decode(body)),
    headers: redactedHeaders(headers, redact),
  };
  const [Refusal, code] = (kind === "api_error" && BY_STATUS[status]) || [REFUSALS[kind], kind];
  const retryAfter =
    Refusal === RateLimitError ? { retryAfterMs: retryAfterMs(answer.headers) } : {};
  return new Refusal(code, message, { ...answer, ...retryAfter, idempotencyKey });
}

/** `Retry-After`: seconds, or an HTTP date, which `Date.parse` alone would find in many other texts. */
function retryAfterMs(headers) {
  const text = headers.get("retry-after")?.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, Number.MAX_SAFE_INTEGER);
  const at = new Date(text);
  return at.getTime() >= 0 && at.toUTCString() === text ? Math.max(0, at - Date.now()) : undefined;
}

function noAnswer({ apiKey }, { part, idempotencyKey, retries }, hint) {
  const redact = redactor(apiKey);
  const cause = redactedCause(part, redact);
  // What an earlier attempt sent may have been recorded all the same.
  const ending =
    isUnsent(cause) && (hint === "" || retries === 0) ? "; the request was not sent" : hint;
  return new ConnectionError(
    "connection_failed",
    redact(`there is no answer from the service: ${describe(cause)}${ending}`),
    { cause, idempotencyKey },
  );
}

const UNSENT_CODE = /^(ENOTFOUND|EAI_\w+|ECONNREFUSED|ConnectionRefused|UND_ERR_CONNECT_TIMEOUT)$/;
const UNSENT_CALL = /^(connect|getaddrinfo)$/;

/** Whether there was no connection by which a request could have left. */
function isUnsent(cause) {
  if (cause?.errors?.length > 0) return cause.errors.every(isUnsent);
  return (
    UNSENT_CODE.test(cause?.code) ||
    UNSENT_CALL.test(cause?.syscall) ||
    (cause?.cause !== undefined && isUnsent(cause.cause))
  );
}

const describe = (cause) =>
  quietly(() => String(cause?.cause?.message || cause?.cause?.code || cause?.message || cause)) ??
  "an error that can't be read";

function abortReason(signal) {
  const reason = quietly(() => signal.reason);
  return reason === undefined
    ? new DOMException("The operation was aborted.", "AbortError")
    : reason;
}

/** Bytes that are no UTF-8 become U+FFFD, and a byte order mark nothing, as `Response.text` has it. */
const decode = (bytes) => new TextDecoder().decode(bytes);
