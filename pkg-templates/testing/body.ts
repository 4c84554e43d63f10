/* The body of a request: a stream for the service, and the received bytes for `requests()`. */
import { MAX_BODY_BYTES } from "../generated/service.ts";
import { coder } from "../platform.ts";

/** Returns the next chunk of a body; `undefined` at its end. */
export type Next = () => Promise<Uint8Array | undefined>;

export type Body = ReturnType<typeof newBody>;

export function newBody(next: Next) {
  const seen: Uint8Array[] = [];
  let length = 0,
    hasEnded = false;

  async function pull() {
    const piece = hasEnded ? undefined : await next();
    hasEnded = piece === undefined;
    length += piece?.length ?? 0;
    if (piece && length <= MAX_BODY_BYTES) seen.push(piece);
    return piece;
  }

  async function readAtLeast(bytes: number): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    let size = 0;
    while (size < bytes) {
      const piece = await pull();
      if (!piece) break;
      pieces.push(piece);
      size += piece.length;
    }
    return joined(pieces);
  }

  return {
    arrayBuffer: () => readAtLeast(Infinity), // bounded by the `content-length`, which the service has checked
    stream: streamOf(async (bytes: number) => ({ value: await readAtLeast(bytes) })),
    /** Reads the rest of the body, up to the size limit of the service. */
    async finish() {
      while (!hasEnded && length <= MAX_BODY_BYTES) await pull();
    },
    /** Returns the text of the whole body; undefined if it was not read to the end. */
    text: () =>
      hasEnded && length <= MAX_BODY_BYTES ? coder("TextDecoder").decode(joined(seen)) : undefined,
    /** Whether reading stopped before the end. */
    isCut: () => length > 0 && !hasEnded,
  };
}

/**
 * Returns a stand-in for workerd's body stream, with a reader of bytes. The reader ignores the buffer that
 * its caller passes.
 */
function streamOf(readAtLeast: (bytes: number) => Promise<{ value: Uint8Array }>) {
  const stream = {
    locked: false,
    getReader(): object {
      stream.locked = true;
      return reader;
    },
  };
  const reader = {
    readAtLeast,
    cancel: async () => {},
    releaseLock() {
      stream.locked = false;
    },
  };
  return stream;
}

export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** Returns bytes as a body of one chunk. */
export function once(bytes: Uint8Array): Next {
  let rest: Uint8Array | undefined = bytes.length > 0 ? bytes : undefined;
  return async () => {
    const piece = rest;
    rest = undefined;
    return piece;
  };
}
