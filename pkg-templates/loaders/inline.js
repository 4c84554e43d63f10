/** The wasm as text in the JavaScript. */
import text from "#text";
import { find } from "../platform.js";
import { bytesOf } from "./printable.js";

let module;

export function compile() {
  const { Module } = find("WebAssembly");
  try {
    module ??= new Module(bytesOf(text));
    return module;
  } catch (cause) {
    throw blocked(cause);
  }
}

export async function compileAhead() {
  const platform = find("WebAssembly");
  module ??= await platform.compile(bytesOf(text)).catch((cause) => Promise.reject(blocked(cause)));
}

/** What stands between a page and WebAssembly, and what to do about it. */
function blocked(cause) {
  return new Error(
    `impact-pledge needs WebAssembly; allow 'wasm-unsafe-eval' in script-src, or import impact-pledge/validate/js or form/js (${cause})`,
    { cause },
  );
}
