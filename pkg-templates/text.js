/** The platform's coders of text. jsdom under Jest brings none: Node's own serve there. */
const text = globalThis.TextDecoder ? globalThis : globalThis.process.getBuiltinModule("node:util");
const TextDecoder = text.TextDecoder, TextEncoder = text.TextEncoder;

export { TextDecoder, TextEncoder };
