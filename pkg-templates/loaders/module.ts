/* The WebAssembly as a separate module, for platforms that forbid compiling at run time. */
import module from "#wasm";

/** In Next.js the module belongs to another realm, and wasm-bindgen would take it for bytes. */
export function compile(): WebAssembly.Module {
  if (!(module instanceof WebAssembly.Module))
    Object.setPrototypeOf(module, WebAssembly.Module.prototype);
  return module;
}

export { assertAllowed, compileAhead, loadRules } from "./plain.ts";
