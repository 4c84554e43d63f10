/* The Worker of `src/server`. `scripts/lib/package.mjs` replaces its globals by members of `platform`. */
import { fetch, initSync } from "#glue";

initSync({ module: platform.module });

export { fetch };
