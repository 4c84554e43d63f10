// The Worker's entry: loads the compiled service.
import module from "./impact_pledge_bg.wasm";
import { __worker_init_state, fetch, initSync, queue } from "./impact_pledge.js";
import { recovering } from "./recover.js";

initSync({ module });

export default recovering({ fetch, queue }, () => __worker_init_state().instanceId);
