/** `npm run build [part…]`: the Worker into build/, the npm package into pkg/, the demo shop into build/www/. Without a part: all. */
import { join } from "node:path";
import { ready } from "./lib/ready.mjs";
import { mustKnow, stop } from "./lib/report.mjs";
import { buildShop } from "./lib/shop.mjs";
import { buildWasm, copyChanged, sayBuilt } from "./lib/wasm.mjs";
import { buildPackage } from "./package.mjs";

const PARTS = { worker: buildWorker, package: buildPackage, shop: buildShop };

/** The `worker` crate's recovery: after any exception that leaves the wasm, the next call starts a new instance. */
const WORKER_BINDGEN = ["--no-typescript", "--force-enable-abort-handler"];
const WORKER_OPTIMISE = ["-O3", "--enable-exception-handling"]; // the abort handler catches by wasm's own instructions

async function buildWorker(tools) {
  const outFolder = join(tools.root, "build");
  const built = await buildWasm(tools, { features: ["server"], profile: "worker", outFolder, bindgen: WORKER_BINDGEN, optimise: WORKER_OPTIMISE });
  for (const name of ["worker.js", "recover.js"]) copyChanged(join(tools.root, "src", "server", name), join(outFolder, name));
  sayBuilt(tools.root, join(outFolder, "impact_pledge_bg.wasm"), built);
}

try {
  const names = process.argv.slice(2);
  mustKnow(names, Object.keys(PARTS));
  const tools = await ready();
  for (const name of names.length > 0 ? names : Object.keys(PARTS)) await PARTS[name](tools);
} catch (error) {
  stop(error);
}
