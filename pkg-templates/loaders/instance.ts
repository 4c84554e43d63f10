/* Makes an instance of the validator's WebAssembly, which imports nothing. */
import { compile } from "#module";
import type { Exports } from "../validate/wasm.ts";

export function instantiate(): Exports {
  const module = compile(); // first, because its error explains what to do without WebAssembly
  return new WebAssembly.Instance(module).exports as unknown as Exports;
}
