/** The tests of the entries with wasm on those without, in a Node that has no WebAssembly. */
process.env.NODE_OPTIONS = `--import=${new URL("plain-js.mjs", import.meta.url)}`; // for what the tests start
process.env.FUZZ_COUNT ??= "10000"; // validate-fuzz.test.mjs compares more of them with and without wasm

await import("./plain-js.mjs");
await import("./validate.test.mjs");
await import("./validate-fuzz.test.mjs");
await import("./validate-nested.test.mjs");
await import("./validate-limits.test.mjs");
await import("./form.test.mjs");
