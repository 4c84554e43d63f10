/**
 * The validator's wasm and the memory that it shares with us; `src/client/values.rs` is the other half of this file.
 *
 * The area, one stretch of that memory, is ours: problems come first in it, then what is to be checked.
 */
import { compile, compileAhead } from "#module";
import { NUMBERS, ROOM, TEXTS, WORDS } from "../generated/tables.js";

/** In bytes. Memory never shrinks: above this, the instance is dropped after the call that needed it. */
const KEPT = 1 << 24;
const PAGE = 1 << 16;
/** How many bytes a problem has. */
export const PROBLEM = 24;
const NUMBERS_AT = ROOM * PROBLEM;
const WORDS_AT = NUMBERS_AT + NUMBERS * 8;
const TEXTS_AT = WORDS_AT + WORDS * 4;
/** Where the text of an encoded value lies in the area. */
export const TEXT_AT = TEXTS_AT + TEXTS * 4;

/** What runs, and views of its area: `bytes` of all, `problems`, and `numbers`, `words`, `texts`, `text` for the encoder. */
let engine;

/** The engine, made on first use. */
export const running = () => (engine ??= start());

function start() {
  const module = compile();
  const { memory, ...run } = new WebAssembly.Instance(module, noImports(module)).exports;
  return look({ memory, run, area: memory.grow(1) * PAGE });
}

/** In the package's main entry, the module also holds the client, whose imports the validator never calls. */
function noImports(module) {
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) (imports[from] ??= {})[name] = () => {};
  return imports;
}

/** Looks at the memory anew: growing it takes the earlier views away. */
function look(engine) {
  const { area, memory: { buffer } } = engine;
  engine.bytes = new Uint8Array(buffer, area);
  engine.problems = new Uint32Array(buffer, area);
  engine.orders = new Float64Array(buffer, area);
  engine.numbers = new Float64Array(buffer, area + NUMBERS_AT, NUMBERS);
  engine.words = new Uint32Array(buffer, area + WORDS_AT, WORDS);
  engine.texts = new Uint32Array(buffer, area + TEXTS_AT, TEXTS);
  engine.text = new Uint8Array(buffer, area + TEXT_AT);
  return engine;
}

/** Makes the area at least as large. @returns the engine */
export function atLeast(size) {
  const missing = size - running().bytes.length;
  if (missing > 0) {
    engine.memory.grow(Math.ceil(missing / PAGE));
    look(engine);
  }
  return engine;
}

/** Drops an instance that has grown too large, or that an exception has left in an unknown state. */
export function tidy(isBroken = false) {
  if (isBroken || engine?.bytes.length > KEPT) engine = undefined;
}

/** Compiles ahead of the first call. Never needed: whoever does not call this has it done on first use. */
export async function ready() {
  await compileAhead();
  running();
}
