import { join } from "node:path";

// The packages lie two folders above.
const root = join(import.meta.dirname, "..", "..");

export default { turbopack: { root }, outputFileTracingRoot: root };
