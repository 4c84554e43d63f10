/** The platform's coders of text, made on first use. jsdom under Jest brings none: Node's own serve there. */
const made = {};

/** @param {"TextDecoder" | "TextEncoder"} name */
export const coder = (name) => (made[name] ??= new (find(name))());

/**
 * How many characters of a call JavaScript copies itself, one by one: browsers take longer to call an encoder, or another
 * of their own functions for text, than to do the same in JavaScript; Node does not.
 */
export const COPIED = (typeof document === "object") * 2_048; // 0 elsewhere

/** @throws if it is missing: not before it is needed, so that importing the package works without */
export function find(name) {
  const found = globalThis[name] ?? globalThis.process?.getBuiltinModule?.("node:util")[name];
  if (found) return found;
  throw new Error(`impact-pledge needs ${name} or a polyfill`);
}

/** For code that makes a coder as soon as it is loaded, as wasm-bindgen's does. */
class LazyTextEncoder {
  encode = (text) => coder("TextEncoder").encode(text);
  encodeInto = (text, bytes) => coder("TextEncoder").encodeInto(text, bytes);
}

class LazyTextDecoder {
  constructor(...options) {
    let made;
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
