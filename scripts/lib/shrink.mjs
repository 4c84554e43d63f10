/**
 * Makes a wasm of wasm-bindgen's smaller where wasm-opt can't: it takes out what describes a panic, and the long names
 * of imports. For builds that abort on a panic and that no hook looks at: what is left of a panic is the trap.
 */
import { Stop } from "./report.mjs";

/** Rust's functions that make a panic's message; a trap follows all of them. */
const PANICS =
  /\bcore(\[[0-9a-f]+\])?::(panicking::|cell::panic_|option::(unwrap|expect)_failed|result::unwrap_failed|slice::index::slice_index_fail|str::slice_error_fail)|\balloc(\[[0-9a-f]+\])?::(raw_vec::(handle_error|capacity_overflow)|alloc::handle_alloc_error)|\bstd(\[[0-9a-f]+\])?::panicking::|::(rust_begin_unwind|rust_panic|__rust_start_panic|__rust_alloc_error_handler)$/;
/** Where a panic happened, as text in the data: the machine's own folders among it. */
const SOURCES = /(?:\/[\w.@+-]+)+\.rs/g;

/** What rustc emits; with more, binaryen would write what not every engine reads. */
const FEATURES = ["BulkMemory", "BulkMemoryOpt", "Multivalue", "MutableGlobals", "NontrappingFPToInt", "ReferenceTypes", "SignExt"];

/**
 * @param {Uint8Array} wasm with the names of its functions
 * @returns {Promise<Uint8Array>}
 */
export async function withoutPanics(wasm) {
  const { default: binaryen } = await import("binaryen");
  const module = binaryen.readBinary(blankSources(wasm));
  module.setFeatures(FEATURES.reduce((all, name) => all | binaryen.Features[name], 0));
  const panics = definedFunctions(binaryen, module).filter((name) => PANICS.test(name));
  if (!panics.some((name) => name.endsWith("rust_begin_unwind"))) throw new Stop("the wasm has no panic handler by its known name; see PANICS in scripts/lib/shrink.mjs");
  for (const name of panics) binaryen.Function.setBody(module.getFunction(name), module.unreachable());
  const result = module.emitBinary();
  module.dispose();
  return result;
}

function definedFunctions(binaryen, module) {
  const all = Array.from({ length: module.getNumFunctions() }, (_, index) => binaryen.getFunctionInfo(module.getFunctionByIndex(index)));
  return all.filter(({ base }) => !base).map(({ name }) => name);
}

/** Nothing reads these texts any more, but wasm-opt can't know: zeros of the same length cost nothing. */
function blankSources(wasm) {
  const bytes = Buffer.from(wasm);
  for (const { index, 0: path } of bytes.toString("latin1").matchAll(SOURCES)) bytes.fill(0, index, index + path.length);
  return bytes;
}

/**
 * Gives the imports of a wasm names of a letter or two, in the wasm and in its JavaScript.
 * @param {Uint8Array} wasm
 * @param {string} glue wasm-bindgen's JavaScript
 * @returns {{wasm: Uint8Array, glue: string}}
 */
export function withShortImports(wasm, glue) {
  const short = new Map();
  const rename = (name) => {
    if (!short.has(name)) short.set(name, `_${short.size.toString(36)}`);
    return short.get(name);
  };
  const renamed = renameImports(Buffer.from(wasm), rename);
  const names = /\b__wb(?:g|indgen)_\w+(?=: function)|"\.\/\w+_bg\.js"/g;
  const shortened = glue.replace(names, (name) => short.get(name.replaceAll('"', "")) ?? name);
  return { wasm: renamed, glue: shortened };
}

const IMPORTS = 2;
const HEADER = 8;

function renameImports(wasm, rename) {
  const parts = [wasm.subarray(0, HEADER)];
  for (let at = HEADER; at < wasm.length; ) {
    const section = new Cursor(wasm, at + 1);
    const end = section.number() + section.at;
    const content = wasm[at] === IMPORTS ? renamedSection(section, end, rename) : wasm.subarray(section.at, end);
    parts.push(wasm.subarray(at, at + 1), number(content.length), content);
    at = end;
  }
  return Buffer.concat(parts);
}

function renamedSection(cursor, end, rename) {
  const parts = [number(cursor.number())];
  while (cursor.at < end) {
    for (const name of [cursor.text(), cursor.text()]) parts.push(text(rename(name)));
    const start = cursor.at;
    cursor.descriptor();
    parts.push(cursor.bytes.subarray(start, cursor.at));
  }
  return Buffer.concat(parts);
}

/** Reads the binary format of wasm. */
class Cursor {
  constructor(bytes, at) {
    this.bytes = bytes;
    this.at = at;
  }

  number() {
    for (let value = 0, shift = 0; ; shift += 7) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  }

  text() {
    const length = this.number();
    this.at += length;
    return this.bytes.toString("utf8", this.at - length, this.at);
  }

  /** What is imported: a function of some type; wasm-bindgen's own memory and tables are the module's. */
  descriptor() {
    if (this.number() !== 0) throw new Stop("the wasm imports something that is no function; see scripts/lib/shrink.mjs");
    this.number();
  }
}

function number(value) {
  const bytes = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest & 127) | 128);
  }
}

const text = (value) => Buffer.concat([number(Buffer.byteLength(value)), Buffer.from(value)]);
