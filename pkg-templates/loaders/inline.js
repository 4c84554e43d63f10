/** The wasm as text in the JavaScript. */
import text from "#text";
import { blocked } from "./blocked.js";
import { bytesOf } from "./printable.js";

let module;

export function compile() {
  try {
    return (module ??= new WebAssembly.Module(bytesOf(text)));
  } catch (cause) {
    throw blocked(cause);
  }
}

export async function compileAhead() {
  try {
    module ??= await WebAssembly.compile(bytesOf(text));
  } catch (cause) {
    throw blocked(cause);
  }
}
