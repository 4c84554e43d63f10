// The Worker's entry: loads the compiled service.
import module from "./impact_pledge_bg.wasm";
import { __wbg_reset_state, fetch, initSync, onPanic } from "./impact_pledge.js";
import { recovering } from "./recover.js";

initSync({ module });

/** A module without memory traps, and says nothing: when a promise called it, the promise is left with the error. */
function onTrap(callback) {
  addEventListener("unhandledrejection", ({ reason }) => {
    if (reason instanceof WebAssembly.RuntimeError || reason instanceof RangeError) callback(reason);
  });
}

export default { fetch: recovering({ fetch, onPanic, onTrap, restart: __wbg_reset_state }) };
