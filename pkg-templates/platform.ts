/* The platform's coders of text, made on first use. jsdom under Jest brings none: Node's own serve there. */
const made = {} as Coders;

interface Coders {
  TextDecoder: TextDecoder;
  TextEncoder: TextEncoder;
}

export const coder = <Name extends keyof Coders>(name: Name): Coders[Name] =>
  (made[name] ??= new (find(name))() as never);

/**
 * How many characters of a call JavaScript copies itself, one by one: browsers take longer to call an encoder, or another
 * of their own functions for text, than to do the same in JavaScript; Node does not.
 */
export const COPIED = ((typeof document === "object") as unknown as number) * 2_048; // 0 elsewhere

/** @throws if it is missing: not before it is needed, so that importing the package works without */
export function find<Name extends "TextDecoder" | "TextEncoder" | "WebAssembly">(
  name: Name,
): (typeof globalThis)[Name] {
  const found =
    globalThis[name] ?? globalThis.process?.getBuiltinModule?.("node:util")[name as never];
  if (found) return found;
  throw new Error(`impact-pledge needs ${name} or a polyfill`);
}

/** For code that makes a coder as soon as it is loaded, as wasm-bindgen's does. */
class LazyTextEncoder {
  encode = (text: string) => coder("TextEncoder").encode(text);
  encodeInto = (text: string, bytes: Uint8Array) => coder("TextEncoder").encodeInto(text, bytes);
}

class LazyTextDecoder {
  declare decode: (bytes?: Uint8Array) => string;

  constructor(...options: ConstructorParameters<typeof TextDecoder>) {
    let made: TextDecoder | undefined;
    // Without bytes wasm-bindgen only tries the decoder, as soon as it is loaded.
    this.decode = (bytes) => {
      if (!bytes) return "";
      made ??= new (find("TextDecoder"))(...options);
      return made.decode(bytes);
    };
  }
}

// By other names: where a script is evaluated at the top level, a class of the platform's name would replace the platform's.
export { LazyTextDecoder as TextDecoder, LazyTextEncoder as TextEncoder };
