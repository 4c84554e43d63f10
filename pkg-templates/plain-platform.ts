/*
 * Replaces `platform.ts` in the entries of plain JavaScript. Hermes, the engine of React Native, long had neither TextEncoder nor
 * TextDecoder. These coders are used on all platforms, because polyfills differ.
 */

/**
 * Makes the rules look for lone surrogates in texts with a regular expression, as they do in a web page. The
 * engine Hermes needs this, because it has no `isWellFormed`.
 */
export const IS_PAGE = true;

const CODERS = { TextEncoder: { encode, encodeInto }, TextDecoder: { decode } };

export const coder = <Name extends keyof typeof CODERS>(name: Name) => CODERS[name];

/** The marker bits of the first byte of a UTF-8 character, by the number of bytes that follow it. */
const FIRST = [0, 0xc0, 0xe0, 0xf0];
const REPLACEMENT = "\ufffd";

function encode(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  const { written } = encodeInto(text, bytes);
  if (written <= bytes.length) return bytes.subarray(0, written);
  const all = new Uint8Array(written);
  encodeInto(text, all);
  return all;
}

/**
 * Writes JSON as UTF-8, as much as fits. Returns the number of bytes that the complete JSON needs. Escapes
 * lone surrogates, so that the rules report them. `JSON.stringify` of old engines leaves them unescaped.
 */
function encodeInto(text: string, bytes: Uint8Array): { written: number } {
  let written = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.codePointAt(i)!;
    const more = bytesBehind(code);
    if (code >> 11 === 0xd800 >> 11) {
      for (const char of `\\u${code.toString(16)}`) bytes[written++] = char.charCodeAt(0);
      continue;
    }
    bytes[written++] = FIRST[more]! | (code >> (6 * more));
    for (let rest = more; rest--; ) bytes[written++] = 0x80 | ((code >> (6 * rest)) & 0x3f);
    if (more === 3) i++; // skip the second half of the pair
  }
  return { written };
}

/** Returns how many bytes follow the first byte of a character in UTF-8. */
function bytesBehind(code: number): number {
  if (code < 0x80) return 0;
  if (code < 0x800) return 1;
  return code < 0x10000 ? 2 : 3;
}

/** Returns how many bytes follow this first byte; 0 for a byte that cannot be first. */
function bytesBehindFirst(byte: number): number {
  if (byte < 0xc2 || byte > 0xf4) return 0;
  if (byte < 0xe0) return 1;
  return byte < 0xf0 ? 2 : 3;
}

/**
 * The lowest and the highest value of a continuation byte: any byte of a UTF-8 character except its first.
 * After some first bytes, the range of the second byte is narrower.
 */
type Bounds = [least: number, most: number];
const FOLLOWING: Bounds = [0x80, 0xbf];
const SECOND = new Map<number, Bounds>([
  [0xe0, [0xa0, 0xbf]],
  [0xed, [0x80, 0x9f]],
  [0xf0, [0x90, 0xbf]],
  [0xf4, [0x80, 0x8f]],
]);

/**
 * Decodes a byte that is not part of a longer sequence. Returns its ASCII character, or else the replacement
 * character.
 */
const alone = (byte: number) => (byte < 0x80 ? String.fromCharCode(byte) : REPLACEMENT);

/**
 * Decodes UTF-8 with replacement characters as the Encoding Standard does, except that a byte order mark is
 * kept.
 */
function decode(bytes: Uint8Array): string {
  const chars: string[] = [];
  let code = 0,
    left = 0;
  let [least, most] = FOLLOWING;
  for (const byte of bytes) {
    if (left && byte >= least && byte <= most) {
      code = (code << 6) | (byte & 0x3f);
      left -= 1;
      if (left === 0) chars.push(String.fromCodePoint(code));
      [least, most] = FOLLOWING;
      continue;
    }
    if (left) chars.push(REPLACEMENT); // and this byte starts a character
    left = bytesBehindFirst(byte);
    code = byte & (0x3f >> left);
    [least, most] = SECOND.get(byte) ?? FOLLOWING;
    if (!left) chars.push(alone(byte));
  }
  if (left) chars.push(REPLACEMENT);
  return chars.join("");
}
