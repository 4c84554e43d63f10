/**
 * Runs the tests of the entries with wasm on the entries without, in a Node that has no WebAssembly. Every row and hostile value
 * is tried, but fewer generated values and smaller hostile ones: validate-fuzz.test.mjs itself compares both kinds of entries.
 */
process.env.NODE_OPTIONS = `--import=${new URL("plain-js.mjs", import.meta.url)}`; // for what the tests start
process.env.FUZZ_COUNT ??= "2000";
process.env.NESTED_COUNT ??= "300";
process.env.HOSTILE_COUNT ??= "50000";

await import("./plain-js.mjs");
await import("./validate.test.mjs");
await import("./validate-fuzz.test.mjs");
await import("./validate-nested.test.mjs");
await import("./validate-limits.test.mjs");
await import("./form.test.mjs");
