/** `npm run build -- [part…]`: the Worker into build/, the dashboard into build/dashboard/, the npm package into pkg/, the operator's commands into build/operator/, the demo shop into build/www/. */
import { Argument, command } from "./lib/command.mjs";
import { buildOperator } from "./lib/operator-build.mjs";
import { packService } from "./lib/service-package.mjs";
import { prepareTools } from "./setup/tools.mjs";
import { buildLocal } from "./lib/local.mjs";
import { buildPackage } from "./lib/package.mjs";
import { bundleShop } from "./lib/shop.mjs";
import { buildDashboard, buildWorker } from "./lib/worker.mjs";

const PARTS = {
  worker: buildWorker,
  dashboard: buildDashboard,
  package: buildPackage,
  operator: (tools) => buildOperator(tools),
  shop: ({ root }) => bundleShop(root),
  service: buildService,
};

/** The package of the service, of all other parts. */
async function buildService(tools) {
  for (const name of ["worker", "dashboard", "package", "operator", "shop"])
    await PARTS[name](tools);
  await packService(tools);
}

await command(
  "npm run build --",
  "The Worker into build/, the dashboard into build/dashboard/, the npm package into pkg/, the operator's commands into build/operator/, the demo shop into build/www/; and with the part `service`, which is not among all, the package impact-pledge-service into build/.",
)
  .addArgument(
    new Argument("[parts...]", "what to build; none means all").choices(Object.keys(PARTS)),
  )
  .option(
    "--local",
    "what `npm start` serves: compiled quickly, into build/local/, for this machine",
  )
  .action(async (names, { local }) => {
    const tools = await prepareTools();
    const all = Object.keys(PARTS).filter((name) => name !== "service");
    const wanted = names.length > 0 ? names : all;
    if (local) await buildLocal(tools, wanted);
    else for (const name of wanted) await PARTS[name](tools);
  })
  .parseAsync();
