/** `npm start`: runs the service, a demo shop that uses it and the dashboard on this machine, with development data. */
import { command } from "./lib/command.mjs";
import { startDevelopment } from "./lib/development.mjs";
import { prepareTools } from "./setup/tools.mjs";
import { DASHBOARD_CONFIG, buildFirst, compileInBackground, localConfig } from "./lib/local.mjs";
import { compileAhead } from "./lib/local-wasm.mjs";
import { freePort, serveUntilAsked } from "./lib/serve.mjs";

const ABOUT = [
  "Runs the service and a demo shop on this machine, with development data. The address is http://127.0.0.1:8787. Choose another port with PORT=9000 npm start. The dashboard is on the next free port.",
  "When the sources change, they are built and served again. The package is built at the start, and whenever you run `npm run build -- --local package`. Data survives a restart, except e-mails that wait in the queue. Missing development data is written again, and your changes stay. Press Ctrl-C to stop.",
].join("\n\n"); // commander wraps the lines

const CONFIG = "www/wrangler.dev.toml"; // the service and the demo shop; a deploy uses wrangler.toml, which has no shop
async function start(port, persistTo) {
  const tools = await prepareTools({ meanwhile: compileAhead });
  await buildFirst(tools, "the service, the dashboard, the package and the demo shop");
  const configs = {
    service: localConfig(tools, CONFIG),
    dashboard: localConfig(tools, DASHBOARD_CONFIG),
  };
  const servers = await startDevelopment(tools, { port, persistTo, configs });
  compileInBackground(tools);
  return servers;
}

async function run({ persistTo }, { terminal }) {
  const port = await freePort(terminal.env.PORT, "npm start");
  await serveUntilAsked(() => start(port, persistTo));
}

export default command("npm start --", ABOUT)
  .option("--persist-to <dir>", "folder of the local state")
  .action(run);
