/** `PledgeClient`: the two operations of the service. Attempts, waits and the judgement of answers are compiled Rust. */
import { newCall } from "./call.js";
import { core } from "./core.js";
import { ApiError, AuthenticationError, ConnectionError, NotFoundError, PledgeError, TimeoutError, ValidationError, requestId } from "./errors.js";
import { clientOptions, createOptions, getOptions, invalid } from "./options.js";
import { validate, validateBytes } from "./validate/index.js";

export class PledgeClient {
  #options;

  constructor(options) {
    const { dangerouslyAllowBrowser, ...rest } = clientOptions(options);
    checkCaller(rest.apiKey, rest.unitId);
    if (!dangerouslyAllowBrowser && inBrowserPage() && core().isLiveKey(rest.apiKey)) {
      throw new PledgeError("live_key_in_browser", "a live key in a browser page is readable by everyone: call the service from a server, or set `dangerouslyAllowBrowser`");
    }
    this.#options = rest;
  }

  async createPledgeTransaction(request, options) {
    const body = snapshot(request);
    const call = newCall({ ...this.#options, ...createOptions(options) });
    return conclude(call, await core().ask(call, true, body), CREATE_HINT);
  }

  async getPledgeTransaction(id, options) {
    if (typeof id !== "string") throw invalid("`id` must be the ID of a pledge transaction, a string");
    const call = newCall({ ...this.#options, ...getOptions(options) });
    return conclude(call, await core().ask(call, false, id), "");
  }
}

const CREATE_HINT = "; the transaction may have been recorded";

function checkCaller(apiKey, unitId) {
  const problem = core().checkCaller(apiKey, unitId);
  if (problem !== undefined) throw invalid(problem);
}

/** A window with a document, or a worker of one: nobody else calls itself Mozilla. */
function inBrowserPage() {
  const { window, navigator, WorkerGlobalScope } = globalThis;
  if (window?.document !== undefined) return true;
  return WorkerGlobalScope !== undefined && String(navigator?.userAgent).startsWith("Mozilla/");
}

/** The request as JSON text: what is judged valid is what is sent, however the value changes. */
function snapshot(request) {
  refuse(validate(request));
  const text = stringify(request);
  refuse(validateBytes(new TextEncoder().encode(text)));
  return text;
}

function refuse(issues) {
  if (issues.length > 0) throw new ValidationError(issues);
}

function stringify(value) {
  try {
    return String(JSON.stringify(value));
  } catch {
    throw new ValidationError([{ path: [], pointer: "", code: "unreadable", message: "could not be read" }]);
  }
}

/** Of the outcome that the Rust side tells, makes what the caller gets. */
function conclude(call, outcome, hint) {
  const { kind } = outcome;
  if (kind === "transaction") return transaction(outcome);
  if (kind === "aborted") throw abortReason(call.signal);
  if (kind === "unfit") throw invalid(outcome.text);
  throw REFUSALS[kind] ? refusal(call, outcome) : noAnswer(call, outcome, hint);
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

const REFUSALS = {
  authentication: [AuthenticationError, "authentication_failed"],
  not_found: [NotFoundError, "not_found"],
  api: [ApiError, "api_error"],
};

function refusal({ apiKey }, { kind, text, error, part: { status, headers, body }, idempotencyKey }) {
  const [Refusal, code] = REFUSALS[kind];
  const blot = blotter(apiKey);
  const answer = { status, error: error && blot(error), body: blot(decode(body)), headers: blotHeaders(headers, blot), idempotencyKey };
  return new Refusal(code, blot(text), answer);
}

function noAnswer({ apiKey, timeoutMs }, { kind, part: cause, idempotencyKey }, hint) {
  if (kind === "timeout") return new TimeoutError("timeout", `the service did not answer within ${timeoutMs} ms${hint}`, { idempotencyKey });
  const blot = blotter(apiKey);
  const message = blot(`there is no answer from the service: ${describe(cause)}${hint}`);
  return new ConnectionError("connection_failed", message, { cause: blotCause(cause, blot), idempotencyKey });
}

/** Shorter than any key, and likely to be a part of some word. */
const NO_SECRET = 8;

/** A service may show in its answer what it was sent; the key is nobody's business but the caller's. */
const blotter = (apiKey) => (text) => (apiKey.length < NO_SECRET ? text : text.split(apiKey).join("[API key]"));

function blotHeaders(headers, blot) {
  const blotted = (quietly(() => [...headers]) ?? []).map(([name, value]) => [name, blot(value)]);
  return blotted.some(([name, value]) => value !== headers.get(name)) ? new Headers(blotted) : headers;
}

function blotCause(cause, blot) {
  const text = quietly(() => `${cause?.message}\n${cause?.stack}`) ?? "";
  return blot(text) === text ? cause : new Error(blot(describe(cause)));
}

const describe = (cause) => quietly(() => String(cause?.cause?.message || cause?.message || cause)) ?? "an error that can't be read";

function quietly(get) {
  try {
    return get();
  } catch {
    return undefined;
  }
}

function abortReason(signal) {
  const reason = quietly(() => signal.reason);
  return reason === undefined ? new DOMException("The operation was aborted.", "AbortError") : reason;
}

/** Bytes that are no UTF-8 become U+FFFD, and a byte order mark nothing, as `Response.text` has it. */
const decode = (bytes) => new TextDecoder().decode(bytes);
