// wasm-bindgen registers each closure, so that it can free a closure that Rust has handed over and JavaScript has
// dropped. The service hands over none, and registering takes a third of the service's own time for a get request.
// Without this constructor, wasm-bindgen registers nothing.
globalThis.FinalizationRegistry = undefined;
