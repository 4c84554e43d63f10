/**
 * The entries without wasm where a platform has nothing but the language, and what they have in its
 * place.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { createContext, runInContext } from "node:vm";
import { coder } from "../../pkg-templates/plain-platform.ts";
import { rowsScript } from "../support/rows.mjs";
import { packed } from "./packed.mjs";

const project = await packed();

/** Functions that some engines lack, and `JSON.stringify` as it was before it was well-formed: halves of surrogate pairs stay as they are. */
const OLD = `
  delete globalThis.WebAssembly;
  delete String.prototype.isWellFormed;
  delete String.prototype.toWellFormed;
  const { stringify } = JSON;
  JSON.stringify = (...all) => stringify(...all)?.replace(/\\\\(?:u(d[89a-f][0-9a-f]{2})|.)/g, (whole, hex) => (hex ? String.fromCharCode(parseInt(hex, 16)) : whole));
`;

/** How the entries are imported, and what the bundler stands for. */
const WAYS = [
  ["/js", []],
  ["/js", ["require"]],
  ["", ["react-native"]],
  ["", ["react-native", "require"]],
];

for (const [ending, conditions] of WAYS) {
  test(`every row without coders of text, well-formed JSON and WebAssembly: impact-pledge/validate${ending} by ${conditions.join(" and ") || "import"}`, async () => {
    const script = await rowsScript(
      project.folder,
      {
        validate: `impact-pledge/validate${ending}`,
        form: `impact-pledge/form${ending}`,
        report: "globalThis.report",
      },
      { conditions },
    );
    const globals = createContext();
    runInContext(OLD, globals);
    assert.deepEqual(
      [
        ...runInContext(
          "[typeof TextEncoder, typeof TextDecoder, typeof WebAssembly, typeof ''.isWellFormed, JSON.stringify('\\ud800\\\\ud800')]",
          globals,
        ),
      ],
      ["undefined", "undefined", "undefined", "undefined", '"\ud800\\\\ud800"'],
    );
    const { wrong, count } = JSON.parse(
      await new Promise((report) => {
        globals.report = report;
        runInContext(script, globals);
      }),
    );
    assert.deepEqual(wrong, []);
    assert.ok(count.bytes > 900 && count.values > 1_800 && count.forms > 50, JSON.stringify(count));
  });
}

// ---- The coders of text, against the platform's ----

const { encode, encodeInto } = coder("TextEncoder");
const { decode } = coder("TextDecoder");
const platform = {
  encoder: new TextEncoder(),
  decoder: new TextDecoder("utf-8", { ignoreBOM: true }),
};
const json = (text) => JSON.stringify(text).slice(1, -1); // halves of surrogate pairs as their escapes
const HALVES = /[\ud800-\udfff]/u;

function assertSame(text) {
  const expected = platform.encoder.encode(HALVES.test(text) ? json(text) : text);
  assert.deepEqual(encode(text), expected);
  const room = new Uint8Array(expected.length + 2).fill(1);
  assert.equal(encodeInto(text, room).written, expected.length);
  assert.deepEqual(room.subarray(0, expected.length), expected);
  assert.deepEqual([...room.subarray(expected.length)], [1, 1]);
  if (expected.length > 0)
    assert.ok(
      encodeInto(text, new Uint8Array(expected.length - 1)).written >= expected.length,
      "where there is less room",
    );
}

test("every code point, halves of surrogate pairs and the byte order mark among them", () => {
  for (let first = 0; first <= 0x10ffff; first += 256) {
    const chars = Array.from({ length: 256 }, (_, i) => String.fromCodePoint(first + i));
    if (first >> 11 === 0xd800 >> 11)
      for (const half of chars) assert.equal(decode(encode(half)), json(half));
    else {
      const text = chars.join(""),
        bytes = encode(text);
      assert.ok(Buffer.from(text).equals(bytes), text);
      assert.equal(decode(bytes), text);
    }
  }
});

test("texts of several, and halves beside each other", () => {
  const parts = [
    "",
    "a",
    "é",
    "\ufeff",
    "\u20ac",
    "\ud83c\udf33",
    "\ud800",
    "\udbff",
    "\udc00",
    "\udfff",
  ];
  for (const a of parts) for (const b of parts) for (const c of parts) assertSame(a + b + c);
  assertSame("x".repeat(100_000));
  assertSame("\u20ac".repeat(100_000));
});

/** Every sequence of so many of these values. */
function* sequences(values, length) {
  if (length === 0) yield [];
  else
    for (const first of sequences(values, length - 1))
      for (const last of values) yield [...first, last];
}

test("bytes of every kind, well-formed or not", () => {
  const edges = [
    0x00, 0x22, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbb, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1,
    0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff,
  ];
  const all = Array.from({ length: 256 }, (_, byte) => byte);
  const assertDecodes = (bytes) => assert.equal(decode(bytes), platform.decoder.decode(bytes));
  for (const length of [1, 2, 3, 4])
    for (const bytes of sequences(edges, length)) assertDecodes(Uint8Array.from(bytes));
  for (const bytes of sequences(all, 2)) assertDecodes(Uint8Array.from(bytes));
});
