// The Worker's entry: loads the compiled service.
import module from "./impact_pledge_bg.wasm";
import { __wbg_reset_state, fetch, initSync, onPanic } from "./impact_pledge.js";
import { recovering } from "./recover.js";

initSync({ module });

export default { fetch: recovering({ fetch, onPanic, restart: __wbg_reset_state }) };
