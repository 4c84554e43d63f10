/** The wasm as text in the JavaScript. */
import text from "#text";
import { find } from "../platform.js";
import { blocked } from "./blocked.js";
import { bytesOf } from "./printable.js";

let module;

export function compile() {
  const { Module } = find("WebAssembly");
  try {
    return (module ??= new Module(bytesOf(text)));
  } catch (cause) {
    throw blocked(cause);
  }
}

export async function compileAhead() {
  const platform = find("WebAssembly");
  try {
    module ??= await platform.compile(bytesOf(text));
  } catch (cause) {
    throw blocked(cause);
  }
}
