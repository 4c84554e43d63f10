/** The same as in other files where there is a `document`: texts are copied in other ways there. */
globalThis.document = {};

await import("./validate.test.mjs");
await import("./validate-fuzz.test.mjs");
await import("./validate-nested.test.mjs");
