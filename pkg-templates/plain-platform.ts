/*
 * What `platform.js` provides, for the entries that run where a platform has little more than the language: Hermes, the
 * engine of React Native, has long had neither of the coders. They are made here for all platforms alike: polyfills
 * differ in what they leave out.
 */

/** How many characters of a call JavaScript copies itself: it has no other means here. */
export const COPIED = Infinity;

const CODERS = { TextEncoder: { encode, encodeInto }, TextDecoder: { decode } };

export const coder = <Name extends keyof typeof CODERS>(name: Name) => CODERS[name];

/** The bits of a first byte, by the number of bytes behind it. */
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
 * Writes JSON as UTF-8, as far as there is room, and returns how many bytes the whole takes. Half of a surrogate pair
 * becomes its escape: old engines' `JSON.stringify` leaves it as it is, and the rules must find it.
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
    if (more === 3) i++; // the other half of the pair
  }
  return { written };
}

/** How many bytes stand behind the first one of a character. */
function bytesBehind(code: number): number {
  if (code < 0x80) return 0;
  if (code < 0x800) return 1;
  return code < 0x10000 ? 2 : 3;
}

/** The same by the first byte; 0 also for a byte that begins no character. */
function bytesBehindFirst(byte: number): number {
  if (byte < 0xc2 || byte > 0xf4) return 0;
  if (byte < 0xe0) return 1;
  return byte < 0xf0 ? 2 : 3;
}

/** The least and the most that any byte but the first can be; and the second one, behind some first ones. */
type Bounds = [least: number, most: number];
const FOLLOWING: Bounds = [0x80, 0xbf];
const SECOND = new Map<number, Bounds>([
  [0xe0, [0xa0, 0xbf]],
  [0xed, [0x80, 0x9f]],
  [0xf0, [0x90, 0xbf]],
  [0xf4, [0x80, 0x8f]],
]);

/** The character of a byte behind which none is expected. */
const alone = (byte: number) => (byte < 0x80 ? String.fromCharCode(byte) : REPLACEMENT);

/** As a platform's decoder reads UTF-8, each longest beginning of no character replaced; but a byte order mark is text. */
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
    if (left) chars.push(REPLACEMENT); // and this byte begins anew
    left = bytesBehindFirst(byte);
    code = byte & (0x3f >> left);
    [least, most] = SECOND.get(byte) ?? FOLLOWING;
    if (!left) chars.push(alone(byte));
  }
  if (left) chars.push(REPLACEMENT);
  return chars.join("");
}
