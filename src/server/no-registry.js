// wasm-bindgen registers each closure, so that it can free a closure that Rust has handed over and JavaScript has dropped.
// The service hands over none, and registering takes a third of a get's own time. Without this constructor, wasm-bindgen
// registers nothing.
globalThis.FinalizationRegistry = undefined;
