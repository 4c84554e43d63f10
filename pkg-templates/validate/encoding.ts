/* Names what bytes are that cannot be JSON in UTF-8. `src/pledges/validate/encoding.rs` does the same for the service. */

/**
 * The encodings. Each has a pattern for the hexadecimal digits of its first bytes, and the words for the
 * message.
 */
const ENCODINGS: readonly (readonly [RegExp, string])[] = [
  [/^efbbbf/, " without a byte order mark"],
  [/^(fffe0000|0000feff)/, ", not UTF-32"],
  [/^(fffe|feff)/, ", not UTF-16"],
  [/^00000000/, ", not compressed or other binary data"],
  [/^(..000000|000000..)/, ", not UTF-32"],
  [/^(..00..00|00..00..)/, ", not UTF-16"],
  [/^1f8b/, ", not compressed by gzip"],
  [/^78(01|5e|9c|da)/, ", not compressed by deflate"],
  [/^28b52ffd/, ", not compressed by zstd"],
  [/^(0[0-8bef]|1|7f|[89ab]|c[01]|f[5-9a-f])/, ", not compressed or other binary data"],
];

/**
 * Returns the words that the message has for bytes in another encoding. Returns `undefined` if the bytes may be
 * the beginning of a text in UTF-8.
 */
export function encodingOf(bytes: Uint8Array): string | undefined {
  const start = Array.from(bytes.subarray(0, 4), (byte) => byte.toString(16).padStart(2, "0"));
  return ENCODINGS.find(([begins]) => begins.test(start.join("")))?.[1];
}
