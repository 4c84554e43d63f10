/**
 * The validator's wasm and the memory that it shares with us; `src/client/values.rs` is the other half of this file.
 *
 * The area, one stretch of that memory, is ours: problems come first in it, then what is to be checked.
 */
import { importsOf } from "#imports";
import { compile, compileAhead } from "#module";
import { TEXTS } from "../generated/tables.js";

/** In bytes. Memory never shrinks: above this, the instance is dropped after the call that needed it. */
const KEPT = 1 << 24;
const PAGE = 1 << 16;
/** How many characters of text the engine takes well in one call of the encoder's; one more text is no trouble. */
export const MANY = PAGE;

/** What runs, and views of its area: `bytes` and `words` are of all, `text` is of what follows the encoder's words. */
let engine;

/** The engine, made on first use. */
export const running = () => (engine ??= start());

function start() {
  const module = compile();
  const { memory, ...run } = new WebAssembly.Instance(module, importsOf(module)).exports;
  return look({ memory, run, area: memory.grow(3) * PAGE });
}

/** Looks at the memory anew: growing it takes the earlier views away. */
function look(engine) {
  const { area, memory: { buffer } } = engine;
  engine.bytes = new Uint8Array(buffer, area);
  engine.words = new Uint32Array(buffer, area);
  engine.text = new Uint8Array(buffer, area + TEXTS * 4);
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
