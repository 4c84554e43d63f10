/** `npm run dashboard`: runs the dashboard on this machine, signed in as a person with one role. */
import { Option, command } from "./lib/command.mjs";
import { serveDashboard } from "./lib/development.mjs";
import { DASHBOARD_CONFIG, buildFirst, localConfig } from "./lib/local.mjs";
import { log } from "./lib/output.mjs";
import { seed } from "./lib/seed.mjs";
import { freePort, portFrom, serveUntilAsked } from "./lib/serve.mjs";
import { prepareTools } from "./setup/tools.mjs";

const ABOUT = [
  "Runs the dashboard on this machine, with the records of `npm start`. The address is http://127.0.0.1:8788. If this port is taken, the next free port is used. Choose another port with PORT=9000 npm run dashboard.",
  "Each dashboard is signed in as one person. To compare roles, run several dashboards at the same time, for example `npm run dashboard -- --as support` beside `npm start`. While `npm start` runs, resent e-mails are delivered, and new transactions reach the ledger.",
].join("\n\n"); // commander wraps the lines

const ROLES = /** @type {import("./lib/development.mjs").Role[]} */ ([
  "operator",
  "support",
  "accounts",
  "manager",
  "viewer",
]);

async function start({ port, persistTo, as: role, origin: service }) {
  const tools = await prepareTools();
  await buildFirst(tools, "the dashboard", "dashboard", "operator");
  await seed(tools, { persistTo, origin: service });
  log("starting the dashboard …");
  const config = localConfig(tools, DASHBOARD_CONFIG);
  const dashboard = await serveDashboard(tools, { config, port, persistTo, role, service });
  console.log(`\nReady, with the role ${role}: ${dashboard.origin}/\n\nPress Ctrl-C to stop.\n`);
  return [dashboard];
}

async function run(options, { terminal }) {
  const { PORT } = terminal.env;
  const port = PORT ? await freePort(PORT, "npm run dashboard") : await portFrom(8788);
  await serveUntilAsked(() => start({ port, ...options }));
}

export default command("npm run dashboard --", ABOUT)
  .addOption(new Option("--as <role>", "the role to sign in with").choices(ROLES).default(ROLES[0]))
  .option("--origin <url>", "address of the service that `npm start` runs", "http://127.0.0.1:8787")
  .option("--persist-to <dir>", "folder of the local state")
  .action(run);
