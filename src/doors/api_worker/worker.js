// The entry point of the service's Worker. It loads the compiled module.
import "./no-registry.js"; // before wasm-bindgen's modules, which check for the constructor
import module from "./impact_pledge_bg.wasm";
import * as service from "./impact_pledge.js";
import * as consumer from "./consumer/impact_pledge.js"; // a second copy, for a separate instance
import { broken } from "./broken.js";
import { recovering } from "./recover.js";

service.initSync({ module });

export default recovering(
  {
    name: "service",
    fetch: service.fetch,
    instance: () => service.__worker_init_state().instanceId,
    broken,
  },
  () => {
    consumer.initSync({ module });
    return { deliver: consumer.deliver, instance: () => consumer.__worker_init_state().instanceId };
  },
);
