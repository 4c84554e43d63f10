/** `npm run build -- [part…]`: builds the service, the dashboard, the npm packages, the operator's commands, the demo shop and the site. */
import { Argument, command } from "./lib/command.mjs";
import { buildOperator } from "./lib/operator-build.mjs";
import { buildSite } from "./lib/site.mjs";
import { packService } from "./lib/service-package.mjs";
import { prepareTools } from "./setup/tools.mjs";
import { buildLocal } from "./lib/local.mjs";
import { compileBehind } from "./lib/local-wasm.mjs";
import { buildPackage } from "./lib/package.mjs";
import { root } from "./lib/places.mjs";
import { bundlePlayground } from "./lib/playground.mjs";
import { bundleShop } from "./lib/shop.mjs";
import { buildDashboard, buildWorker } from "./lib/worker.mjs";

const PARTS = {
  worker: buildWorker,
  dashboard: buildDashboard,
  package: buildPackage,
  operator: (tools) => buildOperator(tools),
  shop: ({ root }) => bundleShop(root),
  playground: ({ root }) => bundlePlayground(root),
  service: buildService,
  site: ({ root }) => buildSite(root),
};
/** The parts that are built only if they are named. */
const NAMED = ["playground", "service", "site"];

/** Builds all other parts, and packs them into the npm package `impact-pledge-service`. */
async function buildService(tools) {
  for (const name of ["worker", "dashboard", "package", "operator", "shop"])
    await PARTS[name](tools);
  await packService(tools);
}

await command(
  "npm run build --",
  "Builds the service into build/, the dashboard into build/dashboard/, the npm package into pkg/, the operator's commands into build/operator/, and the demo shop into build/www/. Only if they are named, puts the npm package impact-pledge-service into build/ (`service`), the playground into playground-build/ (`playground`), and the site into build/site/ (`site`).",
)
  .addArgument(
    new Argument("[parts...]", "parts to build (default: all but the last three)").choices(
      Object.keys(PARTS),
    ),
  )
  .option(
    "--local",
    "build what `npm start` serves, into build/local/: a fast build, only for this machine",
  )
  .option(
    "--compile-behind",
    "only compile the sources, so that the next build with --local is faster",
  )
  .action(async (names, { local, compileBehind: behind }) => {
    if (names.join() === "site") return buildSite(root); // needs neither Rust nor the other parts
    const tools = await prepareTools();
    if (behind) return compileBehind(tools);
    // In the order of the table, whatever the order on the command line: the site has a copy of the playground.
    const wanted = Object.keys(PARTS).filter((name) =>
      names.length > 0 ? names.includes(name) : !NAMED.includes(name),
    );
    if (local) await buildLocal(tools, wanted);
    else for (const name of wanted) await PARTS[name](tools);
  })
  .parseAsync();
