/* The wasm as a module of its own, which the platform compiles: it forbids to compile at run time. */
import module from "#wasm";

/** Under Next.js the module is of another realm, and wasm-bindgen would take it for bytes. */
export function compile(): WebAssembly.Module {
  if (!(module instanceof WebAssembly.Module))
    Object.setPrototypeOf(module, WebAssembly.Module.prototype);
  return module;
}

export async function compileAhead(): Promise<void> {}
