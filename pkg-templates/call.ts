/*
 * The JavaScript side of a call; `src/client/call.rs` is the Rust side, and `src/client/js.rs` declares this one to it. A
 * caller's `fetch` can return anything: each property is read only once, here, into plain values that do not change.
 */
import type { Limit, Signal } from "./deadline.ts";
import { PledgeError, requestId } from "./errors.ts";
import type { Report } from "./events.ts";
import type { CallSettings } from "./options.ts";
import { REDACTED, type Redact, quietly, redactedHeaders, redactor } from "./redact.ts";
import type { Fetch, FetchInit } from "./types.ts";

const MAX_TRANSACTION_BYTES = 64 * 1024 * 1024; // far more than the service accepts
const MAX_REFUSAL_BYTES = 64 * 1024; // of any other response, which may be an error page of a proxy
/** The number of pieces after which timers may run: a stream whose pieces are always ready would block them. */
const PIECES_AT_ONCE = 1_000;

/** The input of `fetch`: a URL, with plain values as options, or a `Request`. */
type Input = string | Request;

/** A response as the Rust side reads it. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly retryAfter: string | undefined;
  readonly body: Uint8Array;
}

/** A call: its options, and the functions that the Rust side calls. */
export interface Outgoing extends Omit<CallSettings, "fetch" | "headers"> {
  /** Aborts the call, including retries. */
  readonly signal: Signal | undefined;
  readonly hasOwnFetch: boolean;
  readonly takesSignal: boolean;
  readonly exchange: (
    input: Input,
    init: FetchInit | undefined,
    signal: AbortSignal,
  ) => Promise<Answer>;
  /** Returns whether there is time for another attempt after the wait, and reports it. */
  readonly retries: (waitMs: number) => boolean;
}

/** Makes a call. @param options those of the client, overridden by those of the call; `headers` are the additional ones */
export function newCall(
  { fetch, headers, ...options }: CallSettings,
  limit: Limit,
  report: Report,
): Outgoing {
  /** Returns the details of an event; made only if somebody listens. */
  function shown({ method, url }: Sent, number: number, headers: SentHeaders) {
    const redact = redactor(options.apiKey);
    return { method, url: redact(url), attempt: number, headers: shownHeaders(headers, redact) };
  }
  let attempt = 0,
    reason: string;
  return {
    ...options,
    signal: limit.signal,
    hasOwnFetch: Boolean(fetch),
    takesSignal: takesSignal(fetch, options.baseUrl),
    exchange: async (input, init, signal) => {
      const request = (init ? { url: input, ...init } : input) as Sent;
      for (const [name, value] of Object.entries(headers))
        if (init) init.headers[name] = value;
        else (input as Request).headers.set(name, value);
      attempt += 1;
      const number = attempt,
        startedAt = Date.now();
      report("request", () => shown(request, number, request.headers));
      reason = "there was no answer in time";
      try {
        const answer = await exchange(fetch ?? globalThis.fetch, input, init, signal);
        reason = `the answer was ${answer.status}`;
        report("response", () => ({
          ...shown(request, number, answer.headers),
          status: answer.status,
          durationMs: Date.now() - startedAt,
          requestId: requestId(answer.headers),
        }));
        return answer;
      } catch (error) {
        reason = "the connection failed";
        throw error;
      }
    },
    retries: (waitMs) => {
      if (waitMs >= limit.leftMs()) return false;
      report("retry", () => ({ attempt: attempt + 1, waitMs, reason }));
      return true;
    },
  };
}

type SentHeaders = Headers | Readonly<Record<string, string>>;

/** A request as an event shows it. */
interface Sent {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: SentHeaders;
}

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
 * Whether `fetch` accepts the signals of `AbortController`. Under jsdom it does not: jsdom replaces `AbortController`, but
 * not Node's `fetch`. Without a signal, a call still ends in time, but its connection stays open.
 */
function takesSignal(ownFetch: Fetch | undefined, url: string): boolean {
  const { fetch, Request, AbortController } = globalThis as Platform;
  if (!ownFetch && !(fetch && Request))
    throw new PledgeError("no_fetch", "there is no `fetch` here: give one as the option `fetch`");
  return (
    !Request || Boolean(quietly(() => new Request(url, { signal: new AbortController().signal })))
  );
}

/**
 * Sends a request and reads its response to the end, or to the limit for its status.
 * @param signal the signal of the attempt, even if `fetch` does not accept it
 */
async function exchange(
  fetch: Fetch | typeof globalThis.fetch,
  input: Input,
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
