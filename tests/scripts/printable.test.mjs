/**
 * Tests the encoding of WebAssembly as text. Decoding returns the original bytes, and no character of the
 * text needs an escape.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOf } from "../../pkg-templates/loaders/printable.ts";
import { printable } from "../../scripts/lib/printable.mjs";

const ALL = Uint8Array.from({ length: 256 }, (_, byte) => byte);

/** Each byte, and each pair of bytes. */
const ROWS = [
  ["nothing", new Uint8Array()],
  ["every byte", ALL],
  [
    "every pair of bytes",
    Uint8Array.from([...ALL].flatMap((first) => [...ALL].flatMap((second) => [first, second]))),
  ],
];

for (const [what, bytes] of ROWS) {
  test(`${what}, there and back`, () => {
    const text = printable(bytes);
    assert.match(text, /^[!#-[\]-|]*$/);
    assert.deepEqual(bytesOf(text), bytes);
  });
}
