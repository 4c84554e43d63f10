/*
 * Sends the request of a call. The Rust side, `src/client`, makes the requests, finds out what an answer means, and decides
 * whether to repeat; what is awaited is awaited here.
 */
import { core } from "./core.ts";
import { type Limit, waited, within } from "./deadline.ts";
import { PledgeError, requestId } from "./errors.ts";
import type { Report } from "./events.ts";
import { type CallSettings, invalid } from "./options.ts";
import { REDACTED, type Redact, quietly, redactedHeaders } from "./redact.ts";
import type { Fetch, FetchInit, RequestEvent } from "./types.ts";

const MAX_TRANSACTION_BYTES = 64 * 1024 * 1024; // far more than the service accepts
const MAX_REFUSAL_BYTES = 64 * 1024; // of any other response, which may be an error page of a proxy
/** The number of pieces after which timers may run: a stream whose pieces are always ready would block them. */
const PIECES_AT_ONCE = 1_000;

/** A call with its options. The Rust side reads most of it; `src/client/js.rs` declares what. */
export interface Outgoing extends CallSettings {
  readonly isCreate: boolean;
  /** The body of a create, or the ID of a get. */
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

/** A response as the Rust side reads it. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly retryAfter: string | undefined;
  readonly body: Uint8Array;
}

/**
 * What the Rust side makes of an attempt: what the answer is, undefined if there is none; the wait before the next attempt in
 * milliseconds, undefined if this was the last.
 */
export type Conclusion = readonly [
  kind: Answered["kind"] | undefined,
  text: string,
  error: string | undefined,
  waitMs: number | undefined,
];

/** The end of a call that was answered. */
export interface Answered {
  readonly kind: "transaction" | "authentication_failed" | "not_found" | "api_error";
  /** The amount of a transaction, or the message of an error. */
  readonly text: string;
  /** The member `error` of the body of an error. */
  readonly error: string | undefined;
  readonly answer: Answer;
  readonly url: string;
  readonly retries: number;
}

/** The end of a call that was not answered. */
export interface Unanswered {
  readonly kind: "aborted" | "timed_out" | "connection_failed";
  /** The value that `fetch` threw, if it did. */
  readonly thrown?: unknown;
  readonly retries: number;
}

/** The end of an attempt: `answer` and `url`, `thrown`, or neither. */
interface Attempted extends Partial<Pick<Answered, "answer" | "url">> {
  readonly kind?: Unanswered["kind"];
  readonly thrown?: unknown;
}

/**
 * Sends the request of a call, and repeats it as the Rust side decides. A call awaits nothing but its own promises, so that
 * `fetch` and the hooks run in the async context of its caller, which tracing reads.
 *
 * @throws {PledgeError} if an argument can't be sent, or there is no `fetch`
 */
export async function send(call: Outgoing): Promise<Answered | Unanswered> {
  const { checkCall, conclude } = core(),
    { limit, report } = call;
  const problem = checkCall(call);
  if (problem !== undefined) throw invalid(problem);
  const hasSignal = takesSignal(call.fetch, call.baseUrl);
  for (let retries = 0; ; retries += 1) {
    const ended = await attempt(call, retries + 1, hasSignal);
    if (ended.kind === "aborted") return { kind: ended.kind, retries };
    const [kind = ended.kind, text, error, waitMs] = conclude(call, ended.answer, retries);
    if (waitMs === undefined || waitMs >= limit.leftMs())
      return { ...ended, kind, text, error, retries } as Answered | Unanswered;
    report("retry", () => ({ attempt: retries + 2, waitMs, reason: reasonOf(ended) }));
    if (await waited(waitMs, limit.signal)) return { kind: "aborted", retries };
  }
}

/** Sends the request once and reads the answer. An attempt that fails also closes its connection. */
async function attempt(call: Outgoing, number: number, hasSignal: boolean): Promise<Attempted> {
  const { limit, timeoutMs } = call;
  if (limit.signal.aborted) return { kind: "aborted" };
  const controller = new AbortController(),
    { signal } = controller;
  try {
    const request = core().fetchArguments(call, hasSignal ? signal : undefined);
    const exchanged = () => exchange(call, number, request, signal);
    const ended = await within(exchanged, timeoutMs, limit.signal);
    if (ended.kind === "done") return ended.value;
    controller.abort();
    return ended;
  } catch (thrown) {
    controller.abort();
    return { kind: "connection_failed", thrown };
  }
}

function reasonOf({ answer, kind }: Attempted): string {
  if (answer) return `the answer was ${answer.status}`;
  return kind === "timed_out" ? "there was no answer in time" : "the connection failed";
}

/** Sends a request, reads its response, and reports both. */
async function exchange(
  { fetch, headers, redact, report }: Outgoing,
  attempt: number,
  { input, init }: FetchArguments,
  signal: AbortSignal,
): Promise<Attempted> {
  for (const [name, value] of Object.entries(headers))
    if (init) init.headers[name] = value;
    else input.headers.set(name, value);
  const sent = init ?? input,
    url = init ? input : input.url,
    startedAt = Date.now();
  const method = sent.method as RequestEvent["method"];
  /** Returns the details of an event; made only if somebody listens. */
  const shown = (headers: SentHeaders): RequestEvent => ({
    method,
    url: redact(url),
    attempt,
    headers: shownHeaders(headers, redact),
  });
  report("request", () => shown(sent.headers));
  const answer = await answerTo(fetch ?? globalThis.fetch, input, init, signal);
  report("response", () => {
    const event = shown(answer.headers);
    return {
      ...event,
      status: answer.status,
      durationMs: Date.now() - startedAt,
      requestId: requestId({ get: (name) => event.headers[name] }),
    };
  });
  return { answer, url };
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

/** The last result of {@link takesSignal}, and the classes that it holds for: to find out takes a tenth of a call. */
let found: { Request: unknown; AbortController: unknown; takes: boolean } | undefined;

/**
 * Whether `fetch` accepts the signals of `AbortController`. Under jsdom it does not: jsdom replaces `AbortController`, but
 * not Node's `fetch`. Without a signal, a call still ends in time, but its connection stays open.
 */
function takesSignal(ownFetch: Fetch | undefined, url: string): boolean {
  const { fetch, Request, AbortController } = globalThis as Platform;
  if (!ownFetch && !(fetch && Request))
    throw new PledgeError("no_fetch", "there is no `fetch` here: give one as the option `fetch`");
  if (!found || found.Request !== Request || found.AbortController !== AbortController) {
    const probe = () => !Request || new Request(url, { signal: new AbortController().signal });
    found = { Request, AbortController, takes: Boolean(quietly(probe)) };
  }
  return found.takes;
}

/**
 * Sends a request and reads its response to the end, or to the limit for its status.
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
    throw new TypeError("`fetch` must give a Response");
  const limit = status >= 200 && status < 300 ? MAX_TRANSACTION_BYTES : MAX_REFUSAL_BYTES;
  const retryAfter = headers.get("retry-after");
  return {
    status,
    headers,
    retryAfter: typeof retryAfter === "string" ? retryAfter : undefined,
    body: await read(response, limit, signal),
  };
}

async function read(response: Response, limit: number, signal: AbortSignal): Promise<Uint8Array> {
  const { body } = response;
  if (body === null) return new Uint8Array(0);
  // The caller's own `fetch` may not support streams.
  if (typeof body?.getReader !== "function")
    return wholeBody(await response.arrayBuffer()).subarray(0, limit);
  const reader = body.getReader();
  try {
    return await readStream(reader, limit, signal);
  } finally {
    (async () => reader.cancel())().catch(() => {}); // the rest of the body is not needed, nor is an error of it
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

/** Returns the name of a typed array's type, which is the same in every realm and cannot be faked. */
const { get: typedArrayName } = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype),
  Symbol.toStringTag,
)!;
const kindOf = (value: unknown) => typedArrayName!.call(value);

const { get: bufferLength } = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, "byteLength")!;

/** Returns the bytes of an ArrayBuffer or a Uint8Array. Any other object with a `length` would be read as zeros. */
function wholeBody(value: ArrayBuffer): Uint8Array {
  const isBuffer = quietly(() => bufferLength!.call(value)) !== undefined;
  if (!isBuffer && kindOf(value) !== "Uint8Array")
    throw new TypeError("`arrayBuffer` of a Response must give an ArrayBuffer");
  return new Uint8Array(value);
}
