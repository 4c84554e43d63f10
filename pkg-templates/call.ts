/*
 * Sends the request of a call. The Rust side, `src/doors/client`, builds the requests, interprets the responses, and decides whether
 * to retry. Everything asynchronous is in this file.
 */
import { type Cause, isUnsent } from "./cause.ts";
import { core } from "./core.ts";
import { type Limit, waited, within } from "./deadline.ts";
import { PledgeError, requestId } from "./errors.ts";
import type { Report } from "./events.ts";
import { type CallSettings, invalid } from "./options.ts";
import { REDACTED, type Redact, tryOrUndefined, redactedCause, redactedHeaders } from "./redact.ts";
import type { Fetch, FetchInit, RequestErrorEvent, RequestEvent } from "./types.ts";

const MAX_TRANSACTION_BYTES = 64 * 1024 * 1024; // far more than the service accepts
const MAX_REFUSAL_BYTES = 64 * 1024; // of any other response, such as the error page of a proxy
/**
 * The number of chunks to read before timers may run. Without this pause, a stream whose chunks are always
 * ready would block the timers.
 */
const PIECES_AT_ONCE = 1_000;

/** A call with its options. `src/doors/client/js.rs` declares the members that the Rust code reads. */
export interface Outgoing extends CallSettings {
  readonly callId: string;
  readonly isCreate: boolean;
  /** The JSON body of a create request, or the ID of the transaction to get. */
  readonly subject: string;
  readonly idempotencyKey: string | undefined;
  /** The signal that the caller passed. */
  readonly signal?: AbortSignal;
  readonly limit: Limit;
  readonly redact: Redact;
  readonly report: Report;
}

/** The arguments of `fetch`: a URL, with plain values as options, or a `Request`. */
export type FetchArguments =
  | { readonly input: string; readonly init: FetchInit }
  | { readonly input: Request; readonly init?: undefined };

/** A response in the form that the Rust code reads. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly retryAfter: string | undefined;
  readonly date: string | undefined;
  readonly body: Uint8Array;
}

/** The decision after an attempt: whether to retry it or to end the call. See `src/pledges/retry.rs`. */
export interface Next {
  /** How long to wait before the retry, in milliseconds; undefined if this was the last attempt. */
  readonly waitMs: number | undefined;
  /** How long the service asks the client to wait, in milliseconds; absent if it does not ask. */
  readonly retryAfterMs?: number | undefined;
  /** Whether the client would retry the attempt if the call's options allowed it. */
  readonly isWithheld: boolean;
  /**
   * Whether a transaction may have been recorded: by this attempt or, at the end of a call, by any attempt.
   */
  readonly mayBeRecorded: boolean;
}

/**
 * The Rust code's result for an attempt: the response's kind, text and error (see {@link Answered}), and the
 * decision in {@link Next}. Without a response, `kind` is undefined.
 */
export type Conclusion = readonly [
  kind: Answered["kind"] | undefined,
  text: string,
  error: string | undefined,
  next: readonly [
    waitMs: number | undefined,
    retryAfterMs: number | undefined,
    isWithheld: boolean,
    mayBeRecorded: boolean,
  ],
];

/** The result of a call that got a response. */
export interface Answered extends Next {
  readonly kind:
    | "transaction"
    | "authentication_failed"
    | "not_found"
    | "idempotency_key_reused"
    | "api_error";
  /** The charge's amount if the response is a transaction; the message if it is an error. */
  readonly text: string;
  /** The member `error` in the body of an error response. */
  readonly error: string | undefined;
  readonly answer: Answer;
  readonly url: string;
  readonly retries: number;
}

/** The result of an attempt that got no response. */
interface Failed {
  readonly kind: RequestErrorEvent["reason"];
  /** A copy of the value that `fetch` threw, without API keys. Absent if `fetch` did not throw. */
  readonly cause?: Cause;
  /** Whether it is certain that the request was not sent, because there was no connection. */
  readonly isUnsent?: boolean;
}

/** The result of a call that got no response. */
export interface Unanswered extends Next, Failed {
  readonly retries: number;
}

/** The result of an attempt. */
type Attempted = Partial<Failed> & Partial<Pick<Answered, "answer" | "url">>;

/**
 * Sends the request of a call, and retries it if the Rust code decides so. Awaits only its own promises. This
 * keeps `fetch` and the hooks in the caller's async context, which tracing libraries need.
 *
 * @throws {PledgeError} if an argument can't be sent, or there is no `fetch`
 */
export async function send(call: Outgoing): Promise<Answered | Unanswered> {
  const { checkCall, conclude } = core(),
    { callId, limit, report } = call;
  const problem = checkCall(call);
  if (problem !== undefined) throw invalid(problem);
  const hasSignal = takesSignal(call.fetch, call.baseUrl);
  let mayBeRecorded = false;
  for (let retries = 0; ; retries += 1) {
    const attempt = retries + 1;
    const ended = await attempted(call, { callId, attempt }, hasSignal);
    const conclusion = conclude(call, ended.answer, Boolean(ended.isUnsent), retries);
    const [kind = ended.kind, text, error, next] = conclusion;
    const [waitMs, retryAfterMs, isWithheld, recorded] = next;
    mayBeRecorded ||= recorded;
    const aborted = { ...ABORTED, mayBeRecorded, retries };
    if (ended.kind === "aborted") return aborted;
    if (waitMs === undefined || waitMs >= limit.leftMs()) {
      const meaning = { kind, text, error, waitMs, retryAfterMs, isWithheld };
      return { ...ended, ...meaning, mayBeRecorded, retries } as Answered | Unanswered;
    }
    const reason = reasonOf(ended);
    report("retry", () => ({ callId, attempt: attempt + 1, waitMs, reason }));
    if (await waited(waitMs, limit.signal)) return aborted;
  }
}

const ABORTED = { kind: "aborted", isWithheld: false, waitMs: undefined } as const;

/** Sends the request once, reads the response, and calls the hooks for both. Closes the connection if the attempt fails. */
async function attempted(
  call: Outgoing,
  ids: Pick<RequestEvent, "callId" | "attempt">,
  hasSignal: boolean,
): Promise<Attempted> {
  const { limit, redact, report } = call;
  if (limit.signal.aborted) return { kind: "aborted", isUnsent: true };
  const controller = new AbortController(),
    { signal } = controller;
  const request = prepared(call, hasSignal ? signal : undefined);
  report("request", () => ({ ...ids, ...request.shown() }));
  const startedAt = Date.now();
  const ended = await answered(call, request, signal);
  const shown = () => ({ ...ids, ...request.shown(), durationMs: Date.now() - startedAt });
  const { answer, kind, cause } = ended;
  if (answer) report("response", () => ({ ...shown(), ...answerShown(answer, redact) }));
  else {
    controller.abort();
    const reason = kind === "aborted" && limit.isOver() ? "timeout" : kind!;
    // A copy of the cause, so that a hook can't change the error of the call.
    report("error", () => ({ ...shown(), reason, error: redactedCause(cause, redact) }));
  }
  return ended;
}

/** Waits for a response until a time limit ends the attempt. Never rejects. */
async function answered(
  { fetch, limit, redact, timeoutMs }: Outgoing,
  { input, init, url }: Prepared,
  signal: AbortSignal,
): Promise<Attempted> {
  const answering = () => answerTo(fetch ?? globalThis.fetch, input, init, signal);
  try {
    const ended = await within(answering, timeoutMs, limit.signal);
    return ended.kind === "done" ? { answer: ended.value, url } : ended;
  } catch (thrown) {
    const cause = redactedCause(thrown, redact) as Cause;
    return { kind: "connection_failed", cause, isUnsent: isUnsent(cause) };
  }
}

function reasonOf({ answer, kind }: Attempted): string {
  if (answer) return `the answer was ${answer.status}`;
  return kind === "timeout" ? "there was no answer in time" : "the connection failed";
}

/** An attempt's request, ready to be sent. */
interface Prepared {
  readonly input: string | Request;
  readonly init: FetchInit | undefined;
  readonly url: string;
  /** Returns the members of an event that describe this request. */
  readonly shown: () => Pick<RequestEvent, "method" | "url" | "requestHeaders">;
}

function prepared(call: Outgoing, signal: AbortSignal | undefined): Prepared {
  const { input, init } = fetchArguments(call, signal);
  const { method, headers } = init ?? input,
    url = init ? input : input.url;
  const shown = () => ({
    method: method as RequestEvent["method"],
    url: call.redact(url),
    requestHeaders: shownHeaders(headers, call.redact),
  });
  return { input, init, url, shown };
}

/**
 * Returns the arguments of `fetch` for an attempt.
 * @throws {PledgeError} if the platform's `Request` refuses an option, although our own checks have accepted it
 */
function fetchArguments(call: Outgoing, signal: AbortSignal | undefined): FetchArguments {
  try {
    const request = core().fetchArguments(call, signal);
    for (const [name, value] of Object.entries(call.headers))
      if (request.init) request.init.headers[name] = value;
      else request.input.headers.set(name, value);
    return request;
  } catch (thrown) {
    throw invalid("the request can't be built", redactedCause(thrown, call.redact));
  }
}

function answerShown({ status, headers }: Answer, redact: Redact) {
  const responseHeaders = shownHeaders(headers, redact);
  return {
    status,
    responseHeaders,
    requestId: requestId({ get: (name) => responseHeaders[name] }),
  };
}

type SentHeaders = Headers | Readonly<Record<string, string>>;

function shownHeaders(headers: SentHeaders, redact: Redact): Record<string, string> {
  const shown = Object.fromEntries(
    redactedHeaders(
      typeof headers.get === "function"
        ? (headers as Headers)
        : Object.entries(headers as Record<string, string>),
      redact,
    ),
  );
  if ("authorization" in shown) shown.authorization = REDACTED;
  return shown;
}

type Platform = Pick<typeof globalThis, "AbortController"> &
  Partial<Pick<typeof globalThis, "fetch" | "Request">>;

/**
 * The last result of {@link takesSignal}, and the classes `Request` and `AbortController` for which the result
 * is valid. The result is cached because the check takes a tenth of a call's time.
 */
let found: { Request: unknown; AbortController: unknown; takes: boolean } | undefined;

/**
 * Whether `fetch` accepts the signals of `AbortController`. Under jsdom it does not, because jsdom replaces `AbortController`,
 * but not Node's `fetch`. Without a signal, a call still ends in time, but its connection stays open.
 */
function takesSignal(ownFetch: Fetch | undefined, url: string): boolean {
  const { fetch, Request, AbortController } = globalThis as Platform;
  if (!ownFetch && !(fetch && Request))
    throw new PledgeError(
      "no_fetch",
      "this runtime has no `fetch`: pass a function as the option `fetch`",
    );
  if (!found || found.Request !== Request || found.AbortController !== AbortController) {
    const probe = () => !Request || new Request(url, { signal: new AbortController().signal });
    found = { Request, AbortController, takes: Boolean(tryOrUndefined(probe)) };
  }
  return found.takes;
}

/**
 * Sends a request and reads its response to the end, or up to the maximum length for its status.
 * @param signal the signal of the attempt, even if `fetch` does not accept it
 */
async function answerTo(
  fetch: Fetch | typeof globalThis.fetch,
  input: string | Request,
  init: FetchInit | undefined,
  signal: AbortSignal,
): Promise<Answer> {
  const response = await (fetch as typeof globalThis.fetch)(input, init as RequestInit);
  const { status, headers } = response;
  if (!Number.isInteger(status) || status < 0 || status > 999 || typeof headers?.get !== "function")
    throw new TypeError("`fetch` must return a Response");
  const limit = status >= 200 && status < 300 ? MAX_TRANSACTION_BYTES : MAX_REFUSAL_BYTES;
  const header = (name: string) => {
    const value: unknown = headers.get(name);
    return typeof value === "string" ? value : undefined;
  };
  return {
    status,
    headers,
    retryAfter: header("retry-after"),
    date: header("date"),
    body: await read(response, limit, signal),
  };
}

async function read(response: Response, limit: number, signal: AbortSignal): Promise<Uint8Array> {
  const { body } = response;
  if (body === null) return new Uint8Array(0);
  // A response of the caller's own `fetch` may have no stream.
  if (typeof body?.getReader !== "function")
    return wholeBody(await response.arrayBuffer()).subarray(0, limit);
  const reader = body.getReader();
  try {
    return await readStream(reader, limit, signal);
  } finally {
    (async () => reader.cancel())().catch(() => {}); // the rest of the body is not needed, and its errors do not matter
  }
}

async function readStream(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  limit: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  let bytes = new Uint8Array(0),
    length = 0;
  for (let pieces = 1; length < limit && !signal.aborted; pieces += 1) {
    const { done, value } = await reader.read();
    if (done) break;
    if (kindOf(value) !== "Uint8Array")
      throw new TypeError("the body of a Response must be a stream of Uint8Arrays");
    const piece = new Uint8Array(value!).subarray(0, limit - length);
    if (length + piece.length > bytes.length) {
      const longer = new Uint8Array(Math.min(limit, 2 * length + piece.length)); // doubled, so that all copies together take linear time
      longer.set(bytes);
      bytes = longer;
    }
    bytes.set(piece, length);
    length += piece.length;
    if (pieces % PIECES_AT_ONCE === 0) await new Promise((resolve) => setTimeout(resolve));
  }
  return bytes.subarray(0, length);
}

/** Returns the type name of a typed array. The name is the same in every realm and cannot be faked. */
const { get: typedArrayName } = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype),
  Symbol.toStringTag,
)!;
const kindOf = (value: unknown) => typedArrayName!.call(value);

const { get: bufferLength } = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, "byteLength")!;

/**
 * Returns the bytes of an ArrayBuffer or a Uint8Array. Refuses other objects, because `new Uint8Array` would
 * turn an object with a `length` into zeros.
 */
function wholeBody(value: ArrayBuffer): Uint8Array {
  const isBuffer = tryOrUndefined(() => bufferLength!.call(value)) !== undefined;
  if (!isBuffer && kindOf(value) !== "Uint8Array")
    throw new TypeError("`arrayBuffer` of a Response must return an ArrayBuffer");
  return new Uint8Array(value);
}
