// wasm-bindgen enters each closure into a registry, in case JavaScript drops one that Rust has given away. The service
// gives none away, and the entries take a third of a get's own time: without this constructor it makes none.
globalThis.FinalizationRegistry = undefined;
