/** The same as in validate.test.mjs and validate-fuzz.test.mjs where there is a `document`: texts take other ways there. */
globalThis.document = {};

await import("./validate.test.mjs");
await import("./validate-fuzz.test.mjs");
