/* The WebAssembly as a separate module, for platforms that forbid compiling at run time. */
import module from "#wasm";

/**
 * Returns the imported module as a `WebAssembly.Module` of this realm (JavaScript context). In Next.js, the
 * imported module comes from another realm. Without the conversion, wasm-bindgen would mistake it for bytes.
 */
export function compile(): WebAssembly.Module {
  if (!(module instanceof WebAssembly.Module))
    Object.setPrototypeOf(module, WebAssembly.Module.prototype);
  return module;
}

export { assertAllowed, compileAhead, loadRules } from "./plain.ts";
