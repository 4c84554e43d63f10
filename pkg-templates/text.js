/** The platform's coders of text. jsdom under Jest brings none: Node's own serve there. */
const { TextDecoder, TextEncoder } = globalThis.TextDecoder ? globalThis : globalThis.process.getBuiltinModule("node:util");

export { TextDecoder, TextEncoder };
