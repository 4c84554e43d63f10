/**
 * Tests the entries that need no WebAssembly, and the package's replacements for missing platform functions.
 * The tests run in a JavaScript engine without platform functions.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { createContext, runInContext } from "node:vm";
import { coder } from "../../pkg-templates/plain-platform.ts";
import { rowsScript } from "../support/rows.mjs";
import { packed } from "./packed.mjs";

const project = await packed();

/**
 * Code that makes a JavaScript engine look old. It removes functions, and replaces `JSON.stringify` with a
 * version that does not escape lone surrogates.
 */
const OLD = `
  delete globalThis.WebAssembly;
  delete String.prototype.isWellFormed;
  delete String.prototype.toWellFormed;
  const { stringify } = JSON;
  JSON.stringify = (...all) => stringify(...all)?.replace(/\\\\(?:u(d[89a-f][0-9a-f]{2})|.)/g, (whole, hex) => (hex ? String.fromCharCode(parseInt(hex, 16)) : whole));
`;
const SHOWN =
  "[typeof TextEncoder, typeof TextDecoder, typeof WebAssembly, typeof ''.isWellFormed, JSON.stringify('\\ud800\\\\ud800')].join()";

/**
 * The ways to import the entry `validate`. Each has the suffix of the entry's name, and the conditions with
 * which a bundler resolves it.
 */
const WAYS = [
  ["/js", ["react-native", "import"]],
  ["", ["react-native", "require"]],
];

for (const [ending, conditions] of WAYS) {
  test(`every row without coders of text, well-formed JSON and WebAssembly: impact-pledge/validate${ending} by ${conditions.join(" and ")}`, async () => {
    const entries = {
      validate: `impact-pledge/validate${ending}`,
      form: "impact-pledge/form",
      report: "globalThis.report",
    };
    const script = await rowsScript(project.folder, entries, { conditions });
    const globals = createContext();
    runInContext(OLD, globals);
    assert.equal(runInContext(SHOWN, globals), `${"undefined,".repeat(4)}"\ud800\\\\ud800"`);
    const reported = new Promise((report) => {
      globals.report = report;
      runInContext(script, globals);
    });
    const { wrong, count } = JSON.parse(await reported);
    assert.deepEqual(wrong, []);
    assert.ok(count.bytes > 900 && count.values > 1_800 && count.forms > 50, JSON.stringify(count));
  });
}

// ---- Text encoder and decoder, compared with the platform's ----------------------------------------

const { encode, encodeInto } = coder("TextEncoder");
const { decode } = coder("TextDecoder");
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const json = (text) => JSON.stringify(text).slice(1, -1); // lone surrogates as their escapes

test("every code point is encoded and decoded, lone surrogates as their escapes", () => {
  for (let first = 0; first <= 0x10ffff; first += 256) {
    const chars = Array.from({ length: 256 }, (_, i) => String.fromCodePoint(first + i));
    const isHalf = first >> 11 === 0xd800 >> 11;
    const text = isHalf ? chars.join("x") : chars.join("");
    const bytes = encode(text);
    assert.ok(Buffer.from(isHalf ? json(text) : text).equals(bytes), text);
    assert.equal(decode(bytes), isHalf ? json(text) : text);
  }
});

test("texts of several parts, and adjacent lone surrogates, are encoded into the available space", () => {
  const parts = ["", "a", "é", "\ufeff", "\u20ac", "\ud83c\udf33"];
  parts.push("\ud800", "\udbff", "\udc00", "\udfff");
  const texts = parts.flatMap((a) => parts.flatMap((b) => parts.map((c) => a + b + c)));
  for (const text of [...texts, "x".repeat(100_000), "\u20ac".repeat(100_000)]) {
    const expected = Buffer.from(/[\ud800-\udfff]/u.test(text) ? json(text) : text);
    assert.ok(expected.equals(encode(text)));
    const room = new Uint8Array(expected.length + 2).fill(1);
    assert.equal(encodeInto(text, room).written, expected.length);
    assert.ok(Buffer.concat([expected, Buffer.of(1, 1)]).equals(room));
    if (expected.length === 0) continue;
    const less = new Uint8Array(expected.length - 1);
    assert.ok(encodeInto(text, less).written > less.length, "where there is less room");
  }
});

/** Bytes at the limits of the ranges that UTF-8 allows. */
const EDGES = [
  0x00, 0x22, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbb, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1,
  0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff,
];

test("all bytes are decoded, well-formed or not", () => {
  const sequences = (length) =>
    length === 0
      ? [[]]
      : sequences(length - 1).flatMap((before) => EDGES.map((last) => [...before, last]));
  const all = Array.from({ length: 65_536 }, (_, pair) => [pair >> 8, pair & 255]);
  for (const bytes of [...all, ...sequences(3), ...sequences(4)]) {
    const array = Uint8Array.from(bytes);
    if (decode(array) !== decoder.decode(array)) assert.fail(`${bytes}`);
  }
});
