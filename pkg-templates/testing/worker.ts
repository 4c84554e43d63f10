/* The Worker of `src/doors/api_worker`, and the consumer of its queue in `src/doors/delivery_worker`. `scripts/lib/package.mjs` replaces its globals by members of `platform`. */
import { deliver, fetch, initSync } from "#glue";

initSync({ module: platform.module });

export { deliver, fetch };
