/** `npm run dashboard`: the dashboard on this machine, for a person of a role. */
import { Option, command } from "./lib/command.mjs";
import { serveDashboard } from "./lib/development.mjs";
import { DASHBOARD_CONFIG, buildFirst, localConfig } from "./lib/local.mjs";
import { log } from "./lib/output.mjs";
import { seed } from "./lib/seed.mjs";
import { freePort, portFrom, serveUntilAsked } from "./lib/serve.mjs";
import { prepareTools } from "./setup/tools.mjs";

const ABOUT = [
  "The dashboard on this machine, on the records of `npm start`: on http://127.0.0.1:8788, or on the next free port; or on the one of PORT=9000 npm run dashboard.",
  "Each one is for one person. Run several side by side, also beside `npm start`, to see what people of other roles see: `npm run dashboard -- --as support`. E-mails that are sent again go out, and the ledger gets new orders, while `npm start` runs.",
].join("\n\n"); // commander wraps it

const ROLES = /** @type {import("./lib/development.mjs").Role[]} */ ([
  "operator",
  "support",
  "accounts",
]);

async function start({ port, persistTo, as: role, origin: service }) {
  const tools = await prepareTools();
  await buildFirst(tools, "the dashboard", "dashboard", "operator");
  await seed(tools, { persistTo, origin: service });
  log("starting the dashboard …");
  const config = localConfig(tools, DASHBOARD_CONFIG);
  const dashboard = await serveDashboard(tools, { config, port, persistTo, role, service });
  console.log(`\nReady, for who has the role ${role}: ${dashboard.origin}/\n\nCtrl-C ends it.\n`);
  return [dashboard];
}

async function run(options, { terminal }) {
  const { PORT } = terminal.env;
  const port = PORT ? await freePort(PORT, "npm run dashboard") : await portFrom(8788);
  await serveUntilAsked(() => start({ port, ...options }));
}

export default command("npm run dashboard --", ABOUT)
  .addOption(new Option("--as <role>", "the role of the person").choices(ROLES).default(ROLES[0]))
  .option("--origin <url>", "where `npm start` serves", "http://127.0.0.1:8787")
  .option("--persist-to <dir>", "folder of the local state")
  .action(run);
