/**
 * Loaded ahead of tests (and with `--import` ahead of what they start), has them test `impact-pledge/validate/js` and
 * `impact-pledge/form/js` in place of the entries with wasm, where there is no WebAssembly.
 */
import { registerHooks } from "node:module";

const WITH_WASM = /\/(pkg|impact-pledge)\/(validate|form)\.(c?js)$/;

await useOwnWasm();
Reflect.deleteProperty(globalThis, "WebAssembly");

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    return { ...found, url: found.url.replace(WITH_WASM, "/$1/$2/js.$3") };
  },
});

/** Node's own FormData comes with code that compiles wasm once, as it is loaded. */
function useOwnWasm() {
  const { instantiate } = WebAssembly;
  return new Promise((resolve) => {
    WebAssembly.instantiate = (...all) =>
      Reflect.apply(instantiate, WebAssembly, all).finally(resolve);
    new FormData();
  });
}
