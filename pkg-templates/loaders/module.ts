/* The WebAssembly as a separate module, for platforms that forbid compiling at run time. */
import module from "#wasm";

/**
 * Returns the module as one of this realm. In Next.js it belongs to another realm, so wasm-bindgen would treat it as
 * bytes.
 */
export function compile(): WebAssembly.Module {
  if (!(module instanceof WebAssembly.Module))
    Object.setPrototypeOf(module, WebAssembly.Module.prototype);
  return module;
}

export { assertAllowed, compileAhead, loadRules } from "./plain.ts";
