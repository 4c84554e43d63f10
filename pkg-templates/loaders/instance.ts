/* An instance of the validator's own wasm, which imports nothing. */
import { compile } from "#module";
import type { Exports } from "../validate/wasm.ts";

export function instantiate(): Exports {
  const module = compile(); // first: it says what to do where there is no WebAssembly
  return new WebAssembly.Instance(module).exports as unknown as Exports;
}
