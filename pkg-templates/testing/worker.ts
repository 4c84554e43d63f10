/* The Worker of `src/server`, whose globals `scripts/package.mjs` makes members of `platform`. */
import { fetch, initSync } from "#glue";

initSync({ module: platform.module });

export { fetch };
