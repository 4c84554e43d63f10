/* The platform's TextEncoder and TextDecoder, made on first use. jsdom under Jest has neither: Node's are used there. */
const made = {} as Coders;

interface Coders {
  TextDecoder: TextDecoder;
  TextEncoder: TextEncoder;
}

export const coder = <Name extends keyof Coders>(name: Name): Coders[Name] =>
  (made[name] ??= new (find(name))() as never);

/** Whether to look for halves of surrogate pairs by an expression: browsers are quicker by that, Node by its function. */
export const IS_PAGE = typeof document === "object";

/** Returns a global; throws only when it is needed and missing, so that the import itself always succeeds. */
export function find<Name extends "TextDecoder" | "TextEncoder" | "WebAssembly">(
  name: Name,
): (typeof globalThis)[Name] {
  const found =
    globalThis[name] ?? globalThis.process?.getBuiltinModule?.("node:util")[name as never];
  if (found) return found;
  throw new Error(`impact-pledge needs ${name} or a polyfill`);
}

/** For code that makes a coder on load, such as wasm-bindgen's. */
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

// Renamed, because a class of the platform's name in a top-level script would replace the platform's.
export { LazyTextDecoder as TextDecoder, LazyTextEncoder as TextEncoder };
