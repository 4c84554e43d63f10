/** `npm start`: the service on this machine, with development data, a demo shop that uses it, and the dashboard. */
import { command } from "./lib/command.mjs";
import { startDevelopment } from "./lib/development.mjs";
import { prepareTools } from "./setup/tools.mjs";
import { DASHBOARD_CONFIG, buildFirst, localConfig } from "./lib/local.mjs";
import { compileAhead } from "./lib/local-wasm.mjs";
import { freePort, serveUntilAsked } from "./lib/serve.mjs";

const ABOUT = [
  "The service on this machine, with development data, and a demo shop that uses it: on http://127.0.0.1:8787, or on another port by PORT=9000 npm start. The dashboard is on the next free port.",
  "The sources are watched: a change is built and served. The package is built at the start, and whenever you run `npm run build -- --local package`. State survives a restart, but for e-mails that wait in the queue; what is missing of the development data is written again, and what you changed stays. Ctrl-C ends it.",
].join("\n\n"); // commander wraps it

const CONFIG = "wrangler.dev.toml"; // the service and the demo shop; a deploy takes wrangler.toml, which has no shop
async function start(port, persistTo) {
  const tools = await prepareTools({ meanwhile: compileAhead });
  await buildFirst(tools, "the service, the dashboard, the package and the demo shop");
  const configs = {
    service: localConfig(tools, CONFIG),
    dashboard: localConfig(tools, DASHBOARD_CONFIG),
  };
  return startDevelopment(tools, { port, persistTo, configs });
}

async function run({ persistTo }, { terminal }) {
  const port = await freePort(terminal.env.PORT, "npm start");
  await serveUntilAsked(() => start(port, persistTo));
}

export default command("npm start --", ABOUT)
  .option("--persist-to <dir>", "folder of the local state")
  .action(run);
