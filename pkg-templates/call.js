/**
 * One call, as the Rust side sees it: `src/client/call.rs` is the other half of this file. What comes from a `fetch`
 * is anyone's: it is read here, once, into an object that keeps its word.
 */
import { PledgeError } from "./errors.js";

/** Most bytes of a transaction that are read: far more than the service takes in. */
const MAX_TRANSACTION_BYTES = 64 * 1024 * 1024;
/** Most bytes of any other answer that are read: it may be anyone's error page. */
const MAX_REFUSAL_BYTES = 64 * 1024;

/** @param {object} options of the client, and over them the call's own */
export function newCall({ fetch, ...options }) {
  return {
    ...options,
    hasOwnFetch: Boolean(fetch),
    takesSignal: takesSignal(fetch, options.baseUrl),
    exchange: (input, init) => exchange(fetch ?? globalThis.fetch, input, init),
    outcome: (kind, text, error, part) => ({ kind, text, error, part }),
  };
}

/**
 * Whether `fetch` here takes the signals that an `AbortController` here makes: not under jsdom, which brings its own
 * of the one and leaves Node's other. Without it a call still ends in time, only its connection lives on.
 */
function takesSignal(ownFetch, url) {
  const { fetch, Request, AbortController } = globalThis;
  if (!ownFetch && !(fetch && Request)) throw new PledgeError("no_fetch", "there is no `fetch` here: give one as the option `fetch`");
  try {
    return !Request || Boolean(new Request(url, { signal: new AbortController().signal }));
  } catch {
    return false;
  }
}

/** Sends a request and reads its answer to the end, or to the bound of its kind. */
async function exchange(fetch, input, init) {
  const response = await fetch(input, init);
  const { status, headers } = response;
  if (!Number.isInteger(status) || status < 0 || status > 999 || typeof headers?.get !== "function") throw new TypeError("`fetch` must give a Response");
  const most = status >= 200 && status < 300 ? MAX_TRANSACTION_BYTES : MAX_REFUSAL_BYTES;
  const retryAfter = headers.get("retry-after");
  return { status, headers, retryAfter: typeof retryAfter === "string" ? retryAfter : undefined, body: await read(response, most) };
}

async function read(response, most) {
  const { body } = response;
  if (body === null) return new Uint8Array(0);
  // A `fetch` of the caller's may know no streams.
  if (typeof body?.getReader !== "function") return new Uint8Array(await response.arrayBuffer()).subarray(0, most);
  const reader = body.getReader();
  const pieces = [];
  let length = 0;
  while (length < most) {
    const { done, value } = await reader.read();
    if (done) return joined(pieces, length);
    pieces.push(value);
    length += value.length;
  }
  reader.cancel().catch(() => {}); // nothing is left to do with what comes, so neither with how it ends
  return joined(pieces, length).subarray(0, most);
}

function joined(pieces, length) {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
