/** An instance of the validator's own wasm, which imports nothing. */
import { compile } from "#module";

export function instantiate() {
  const module = compile(); // first: it says what to do where there is no WebAssembly
  return new WebAssembly.Instance(module).exports;
}
