/* The body of a request: as the service reads it, and what of it has come, for the list of requests. */
import { coder } from "../platform.ts";

const MOST = 1024 * 1024; // what the service takes

/** Gives the pieces of a body, then `undefined`. */
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
    if (piece && length <= MOST) seen.push(piece);
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
    arrayBuffer: () => readAtLeast(Infinity), // HTTP holds it to its announced length, which is small
    stream: streamOf(async (bytes: number) => ({ value: await readAtLeast(bytes) })),
    /** Reads on to the end, or as far as the service would. */
    async finish() {
      while (!hasEnded && length <= MOST) await pull();
    },
    /** The text of all of it, if all of it has come. */
    text: () =>
      hasEnded && length <= MOST ? coder("TextDecoder").decode(joined(seen)) : undefined,
    /** Whether it was begun to be read, and given up. */
    isCut: () => length > 0 && !hasEnded,
  };
}

/** What workerd's stream of a body does for a reader of bytes; the buffer that it is given is not needed. */
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

/** Bytes as a body of one piece. */
export function once(bytes: Uint8Array): Next {
  let rest: Uint8Array | undefined = bytes.length > 0 ? bytes : undefined;
  return async () => {
    const piece = rest;
    rest = undefined;
    return piece;
  };
}
