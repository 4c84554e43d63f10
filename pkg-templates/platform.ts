/* The platform's TextEncoder and TextDecoder, created on first use. jsdom under Jest has neither, so Node's are used there. */
const made = {} as Coders;

interface Coders {
  TextDecoder: TextDecoder;
  TextEncoder: TextEncoder;
}

export const coder = <Name extends keyof Coders>(name: Name): Coders[Name] =>
  (made[name] ??= new (find(name))() as never);

/**
 * Whether the code runs in a page. In a page, a regular expression finds halves of surrogate pairs faster
 * than the language's `isWellFormed`. In Node, `isWellFormed` is faster.
 */
export const IS_PAGE = typeof document === "object";

/**
 * Returns a global of the platform, and throws if the global is missing. Importing this module therefore always
 * succeeds, because the search happens only at the call.
 */
export function find<Name extends "TextDecoder" | "TextEncoder" | "WebAssembly">(
  name: Name,
): (typeof globalThis)[Name] {
  const found =
    globalThis[name] ?? globalThis.process?.getBuiltinModule?.("node:util")[name as never];
  if (found) return found;
  throw new Error(`impact-pledge needs ${name} or a polyfill`);
}

/**
 * An encoder that needs the platform's `TextEncoder` only at its first use. Code such as wasm-bindgen's
 * creates an encoder as soon as it is loaded.
 */
class LazyTextEncoder {
  encode = (text: string) => coder("TextEncoder").encode(text);
  encodeInto = (text: string, bytes: Uint8Array) => coder("TextEncoder").encodeInto(text, bytes);
}

class LazyTextDecoder {
  declare decode: (bytes?: Uint8Array) => string;

  constructor(...options: ConstructorParameters<typeof TextDecoder>) {
    let made: TextDecoder | undefined;
    // On load, wasm-bindgen calls the decoder without bytes.
    this.decode = (bytes) => {
      if (!bytes) return "";
      made ??= new (find("TextDecoder"))(...options);
      return made.decode(bytes);
    };
  }
}

// Renamed on export, because in a top-level script a class of this name would replace the platform's.
export { LazyTextDecoder as TextDecoder, LazyTextEncoder as TextEncoder };
