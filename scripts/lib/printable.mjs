/** Bytes as printable ASCII, to stand in JavaScript; `pkg-templates/loaders/printable.ts` reads it. */
import { swapped } from "../../pkg-templates/loaders/printable.ts";

const PAGE = 88; // so many bytes are one character each; a mark in front of the character stands for so many more
const FIRST = "#".charCodeAt(0);
const MARKS = ["", "{", "|"];
const characterOf = (code) =>
  MARKS[Math.floor(code / PAGE)] + String.fromCharCode(FIRST + (code % PAGE));

/**
 * Between double quotes, no character has to be escaped; and most bytes are one character, the same one everywhere:
 * Brotli packs that almost as well as the bytes themselves. Hexadecimal costs 8 % more, base64 30 %.
 */
export const printable = (bytes) =>
  Array.from(bytes, (byte) => characterOf(swapped(byte)))
    .join("")
    .replaceAll("\\", "!");
