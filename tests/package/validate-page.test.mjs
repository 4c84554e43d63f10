/** Runs these tests where there is a `document`, as in a page: texts are copied to wasm in another way there. */
globalThis.document = {};
process.env.FUZZ_COUNT ??= "2000";
process.env.NESTED_COUNT ??= "300";

await import("./validate.test.mjs");
await import("./validate-fuzz.test.mjs");
await import("./validate-nested.test.mjs");
