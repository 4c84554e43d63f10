/** `PledgeClient`: the two operations of the service. Attempts, waits and the check of answers are compiled Rust. */
import { newCall } from "./call.js";
import { core } from "./core.js";
import { ApiError, AuthenticationError, ConnectionError, NotFoundError, PledgeError, TimeoutError, ValidationError, requestId } from "./errors.js";
import { clientOptions, createOptions, getOptions, invalid } from "./options.js";
import { quietly, redactedCause, redactedHeaders, redactor } from "./redact.js";
import { validate, validateBytes } from "./validate/index.js";

export class PledgeClient {
  #options;

  constructor(options) {
    const { dangerouslyAllowBrowser, dangerouslyAllowHttp, ...rest } = clientOptions(options);
    const { checkCredentials, isLiveKey } = core();
    const problem = checkCredentials(rest.apiKey, rest.unitId);
    if (problem !== undefined) throw invalid(problem);
    if (isLiveKey(rest.apiKey)) {
      if (!dangerouslyAllowBrowser && inBrowserPage()) throw new PledgeError("live_key_in_browser", IN_BROWSER);
      if (!dangerouslyAllowHttp && isOpenHttp(rest.baseUrl)) throw new PledgeError("live_key_over_http", OVER_HTTP);
    }
    this.#options = rest;
  }

  async createPledgeTransaction(request, options) {
    const body = snapshot(request);
    const call = newCall({ ...this.#options, ...createOptions(options) });
    return conclude(call, await core().send(call, true, body), CREATE_HINT);
  }

  async getPledgeTransaction(id, options) {
    if (typeof id !== "string") throw invalid("`id` must be the ID of a pledge transaction, a string");
    const call = newCall({ ...this.#options, ...getOptions(options) });
    return conclude(call, await core().send(call, false, id), "");
  }
}

const CREATE_HINT = "; the transaction may have been recorded";
const IN_BROWSER = "a live key in a browser page is readable by everyone: call the service from a server, or set `dangerouslyAllowBrowser`";
const OVER_HTTP = "a live key over http is readable by everyone on its way: use an https address as `baseUrl`, or set `dangerouslyAllowHttp`";

/** Whether what is sent there leaves this machine, and in clear text. */
function isOpenHttp(baseUrl) {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === "http:" && !/^((.+\.)?localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/** A window with a document, or its worker: only browsers name themselves Mozilla. */
function inBrowserPage() {
  const { window, navigator, WorkerGlobalScope } = globalThis;
  return window?.document !== undefined || (WorkerGlobalScope !== undefined && String(navigator?.userAgent).startsWith("Mozilla/"));
}

/** The request as JSON text: what was checked is what is sent, however the value changes. */
function snapshot(request) {
  refuse(validate(request));
  const text = quietly(() => String(JSON.stringify(request)));
  if (text === undefined) refuse([{ path: [], pointer: "", code: "unreadable", message: "could not be read" }]);
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
  if (kind === "aborted") throw abortReason(call.signal);
  if (kind === "invalid_argument") throw invalid(text);
  if (kind === "timed_out") throw new TimeoutError("timeout", `the service did not answer within ${call.timeoutMs} ms${hint}`, { idempotencyKey });
  throw REFUSALS[kind] ? refusal(call, conclusion) : noAnswer(call, conclusion, hint);
}

const answers = new WeakMap();

function transaction({ text: amount, part: { status, headers, body }, idempotencyKey, retries }) {
  const value = JSON.parse(decode(body));
  value.charge.amount = amount;
  const idempotentReplayed = headers.get("idempotent-replayed") === "true";
  answers.set(value, Object.freeze({ status, headers, requestId: requestId(headers), idempotencyKey, idempotentReplayed, retries }));
  return value;
}

/** What came with a transaction beside its body. */
export const responseOf = (transaction) => answers.get(transaction);

const REFUSALS = { authentication_failed: AuthenticationError, not_found: NotFoundError, api_error: ApiError };

function refusal({ apiKey }, { kind, text, error, url, part: { status, headers, body }, idempotencyKey }) {
  const redact = redactor(apiKey);
  const isForeign = kind !== "not_found" && (error === undefined || status === 404 || status >= 500);
  const message = redact(text) + (isForeign ? `; the address was ${redact(url)}` : "");
  const answer = { status, error: error && redact(error), body: redact(decode(body)), headers: redactedHeaders(headers, redact) };
  return new REFUSALS[kind](kind, message, { ...answer, idempotencyKey });
}

function noAnswer({ apiKey }, { part, idempotencyKey, retries }, hint) {
  const redact = redactor(apiKey);
  const cause = redactedCause(part, redact);
  // What an earlier attempt sent may have been recorded all the same.
  const ending = isUnsent(cause) && (hint === "" || retries === 0) ? "; the request was not sent" : hint;
  return new ConnectionError("connection_failed", redact(`there is no answer from the service: ${describe(cause)}${ending}`), { cause, idempotencyKey });
}

const UNSENT_CODE = /^(ENOTFOUND|EAI_\w+|ECONNREFUSED|ConnectionRefused|UND_ERR_CONNECT_TIMEOUT)$/;
const UNSENT_CALL = /^(connect|getaddrinfo)$/;

/** Whether there was no connection by which a request could have left. */
function isUnsent(cause) {
  if (cause?.errors?.length > 0) return cause.errors.every(isUnsent);
  return UNSENT_CODE.test(cause?.code) || UNSENT_CALL.test(cause?.syscall) || (cause?.cause !== undefined && isUnsent(cause.cause));
}

const describe = (cause) => quietly(() => String(cause?.cause?.message || cause?.cause?.code || cause?.message || cause)) ?? "an error that can't be read";

function abortReason(signal) {
  const reason = quietly(() => signal.reason);
  return reason === undefined ? new DOMException("The operation was aborted.", "AbortError") : reason;
}

/** Bytes that are no UTF-8 become U+FFFD, and a byte order mark nothing, as `Response.text` has it. */
const decode = (bytes) => new TextDecoder().decode(bytes);
