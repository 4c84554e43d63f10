/* The WebAssembly as text in the JavaScript. */
import text from "#text";
import { find } from "../platform.ts";
import type { Rules } from "../validate/wasm.ts";
import { bytesOf } from "./printable.ts";

let module: WebAssembly.Module | undefined;

export function compile(): WebAssembly.Module {
  try {
    module ??= new (find("WebAssembly").Module)(bytesOf(text));
    return module;
  } catch (cause) {
    throw blocked(cause);
  }
}

export async function compileAhead(): Promise<void> {
  try {
    module ??= await find("WebAssembly").compile(bytesOf(text));
  } catch (cause) {
    throw blocked(cause);
  }
}

/** Loads the same rules without WebAssembly: a file of their own, where the bundler makes several. */
export const loadRules = (): Promise<Rules> => import("#rules");

/** Returns the error if WebAssembly cannot be compiled. */
function blocked(cause: unknown): Error {
  return new Error(`impact-pledge needs WebAssembly; ${REMEDY} (${cause})`, { cause });
}
