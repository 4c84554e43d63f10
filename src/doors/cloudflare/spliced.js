/**
 * Returns the bytes of `stream`, with the first occurrence of `old` replaced by `fresh`. Reads bytes only as
 * fast as the caller takes them. So no bytes pile up in memory while a caller does not read. If `stream`
 * breaks off, the returned stream does, too.
 * @param {ReadableStream} stream
 * @param {string} old ASCII
 * @param {string} fresh
 * @returns {ReadableStream}
 */
export function spliced(stream, old, fresh) {
  const { IdentityTransformStream } = /** @type {any} */ (globalThis); // an addition of workerd, which copies natively
  const { readable, writable } = new IdentityTransformStream();
  copy(stream, writable, old, fresh).catch(() => {}); // the caller hung up, or Workers KV broke off
  return readable;
}

const PIECE_BYTES = 16 * 1024;

async function copy(stream, writable, old, fresh) {
  const reader = stream.getReader({ mode: "byob" });
  const writer = writable.getWriter();
  try {
    await replaceFirst(reader, writer, old, fresh);
  } catch (error) {
    await writer.abort(error);
    throw error;
  }
  reader.releaseLock();
  writer.releaseLock();
  await stream.pipeTo(writable);
}

/**
 * Copies the stream piece by piece until `old` is found, and writes `fresh` instead of `old`. Stops after the
 * piece in which `old` ends.
 */
async function replaceFirst(reader, writer, old, fresh) {
  let held = ""; // possibly the beginning of `old`, with one character for each byte
  for (let done = false; !done; ) {
    const { value } = await reader.readAtLeast(PIECE_BYTES, new Uint8Array(PIECE_BYTES));
    done = !value || value.length < PIECE_BYTES;
    const text = held + characters(value ?? new Uint8Array());
    const at = text.indexOf(old);
    const end = at >= 0 || done ? text.length : text.length - old.length + 1;
    const known = text.slice(0, end);
    await writer.write(bytes(at < 0 ? known : known.replace(old, () => fresh)));
    if (at >= 0) return;
    held = text.slice(end);
  }
}

const characters = (piece) => {
  let text = "";
  for (let at = 0; at < piece.length; at += 4096)
    text += String.fromCharCode(...piece.subarray(at, at + 4096));
  return text;
};

const bytes = (text) => Uint8Array.from(text, (character) => character.charCodeAt(0));
