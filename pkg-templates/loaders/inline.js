/** The wasm as text in the JavaScript: hexadecimal, because that compresses far better than base64. */
import hex from "#hex";
import { blocked } from "./blocked.js";

let module;

export function compile() {
  try {
    return (module ??= new WebAssembly.Module(bytes()));
  } catch (cause) {
    throw blocked(cause);
  }
}

export async function compileAhead() {
  try {
    module ??= await WebAssembly.compile(bytes());
  } catch (cause) {
    throw blocked(cause);
  }
}

function bytes() {
  const bytes = new Uint8Array(hex.length / 2);
  const digit = (at) => (hex.charCodeAt(at) & 15) + (hex.charCodeAt(at) >> 6) * 9;
  for (let i = 0; i < bytes.length; i++) bytes[i] = digit(2 * i) * 16 + digit(2 * i + 1);
  return bytes;
}
