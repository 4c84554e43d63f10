/* The WebAssembly as text in the JavaScript. */
import text from "#text";
import { find } from "../platform.ts";
import { bytesOf } from "./printable.ts";

let module: WebAssembly.Module | undefined;

export function compile(): WebAssembly.Module {
  const { Module } = find("WebAssembly");
  try {
    module ??= new Module(bytesOf(text));
    return module;
  } catch (cause) {
    throw blocked(cause);
  }
}

export async function compileAhead(): Promise<void> {
  const platform = find("WebAssembly");
  module ??= await platform.compile(bytesOf(text)).catch((cause) => Promise.reject(blocked(cause)));
}

/** Returns the error if WebAssembly cannot be compiled. */
function blocked(cause: unknown): Error {
  return new Error(
    `impact-pledge needs WebAssembly; allow 'wasm-unsafe-eval' in script-src, or import impact-pledge/validate/js or form/js (${cause})`,
    { cause },
  );
}
