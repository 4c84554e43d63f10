/* Compiles the WebAssembly from text in the JavaScript file. */
import text from "#text";
import { find } from "../platform.ts";
import type { Rules } from "../validate/exports.ts";
import { bytesOf } from "./printable.ts";

let module: WebAssembly.Module | undefined;

export const compile = (): WebAssembly.Module => (module ??= compiled(bytesOf(text)));

function compiled(bytes: BufferSource): WebAssembly.Module {
  try {
    return new (find("WebAssembly").Module)(bytes);
  } catch (cause) {
    throw blocked(cause);
  }
}

let isAllowed = false;

/**
 * Throws if the environment forbids WebAssembly. To find out before WebAssembly is needed, compiles a
 * module that consists of padding. The module is longer than 4 KB: on a page's main thread, Chrome before
 * 114 compiles only shorter modules synchronously.
 */
export function assertAllowed(): void {
  if (isAllowed || module) return;
  const bytes = new Uint8Array(4_109);
  bytes.set([0, 97, 115, 109, 1, 0, 0, 0, 0, 130, 32]);
  compiled(bytes);
  isAllowed = true;
}

export async function compileAhead(): Promise<void> {
  try {
    module ??= await find("WebAssembly").compile(bytesOf(text));
  } catch (cause) {
    throw blocked(cause);
  }
}

/**
 * Loads the form's rules as plain JavaScript instead of WebAssembly. If the bundler writes several files,
 * these rules are in a separate one.
 */
export const loadRules = (): Promise<Rules> => import("#rules");

/** Returns the error that says that WebAssembly cannot be compiled, and what to do. */
function blocked(cause: unknown): Error {
  return new Error(`impact-pledge needs WebAssembly; ${REMEDY} (${cause})`, { cause });
}
