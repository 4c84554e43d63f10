/* The Worker of `src/doors/api_worker`. `scripts/lib/package.mjs` replaces its globals by members of `platform`. */
import { fetch, initSync } from "#glue";

initSync({ module: platform.module });

export { fetch };
