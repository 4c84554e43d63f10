/* The WebAssembly as a separate module, for platforms that forbid compiling at run time. */
import module from "#wasm";

/**
 * Returns the module as a `WebAssembly.Module` of this realm (JavaScript context). In Next.js it belongs to
 * another realm, and wasm-bindgen would mistake it for bytes.
 */
export function compile(): WebAssembly.Module {
  if (!(module instanceof WebAssembly.Module))
    Object.setPrototypeOf(module, WebAssembly.Module.prototype);
  return module;
}

export { assertAllowed, compileAhead, loadRules } from "./plain.ts";
