/** An instance of the validator's own wasm, which imports nothing. */
import { compile } from "#module";

export function instantiate() {
  const module = compile();
  return new WebAssembly.Instance(module).exports;
}
