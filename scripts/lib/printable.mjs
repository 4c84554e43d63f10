/** Encodes bytes as printable ASCII, for a string in JavaScript; `pkg-templates/loaders/printable.ts` decodes it. */
import { swapped } from "../../pkg-templates/loaders/printable.ts";

const PAGE = 88; // byte values without a mark; each mark before a character selects the next 88 values
const FIRST = "#".charCodeAt(0);
const MARKS = ["", "{", "|"];
const characterOf = (code) =>
  MARKS[Math.floor(code / PAGE)] + String.fromCharCode(FIRST + (code % PAGE));

/**
 * Encodes bytes as characters that need no escape in double quotes. Each byte value has its own text, in most
 * cases one character. After compression with Brotli, the text is almost as small as the bytes. Hexadecimal
 * would be 8 % larger, base64 30 %.
 */
export const printable = (bytes) =>
  Array.from(bytes, (byte) => characterOf(swapped(byte)))
    .join("")
    .replaceAll("\\", "!");
