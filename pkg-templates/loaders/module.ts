/* The WebAssembly as a separate module, for platforms that do not allow to compile at run time. */
import module from "#wasm";

/** Under Next.js the module is from another realm, and wasm-bindgen would read it as bytes. */
export function compile(): WebAssembly.Module {
  if (!(module instanceof WebAssembly.Module))
    Object.setPrototypeOf(module, WebAssembly.Module.prototype);
  return module;
}

export { assertAllowed, compileAhead, loadRules } from "./plain.ts";
