/** `npm start`: the service on this machine, with development data, a demo shop that uses it, and the dashboard. */
import { buildFirst, serveDashboard } from "./dashboard.mjs";
import { command } from "./lib/command.mjs";
import { prepareTools } from "./lib/tools.mjs";
import { log, table } from "./lib/output.mjs";
import { seed } from "./lib/seed.mjs";
import { localConfig } from "./local.mjs";
import { freePort, portFrom, serve, serveUntilAsked } from "./lib/serve.mjs";

const ABOUT = [
  "The service on this machine, with development data, and a demo shop that uses it: on http://127.0.0.1:8787, or on another port by PORT=9000 npm start. The dashboard is on the next free port.",
  "The sources are watched: a change is built and served. The package is built at the start, and whenever you run `npm run build -- --local package`. State survives a restart, but for e-mails that wait in the queue; what is missing of the development data is written again, and what you changed stays. Ctrl-C ends it.",
].join("\n\n"); // commander wraps it

const CONFIG = "wrangler.dev.toml"; // the service and the demo shop; a deploy takes wrangler.toml, which has no shop
const PAYLOAD = {
  reference: "order-1001",
  recipient: { email: "ada@example.org", firstName: "Ada" },
  pledges: [
    {
      impact: { amount: 3, offeringId: "tree" },
      detail: { name: "Trees", nounSingular: "tree", nounPlural: "trees" },
    },
  ],
};

function greeting(origin, dashboard, keys) {
  const url = `${origin}/v2/pledge-transaction`;
  const rows = keys.map(({ key, record, units }) => [
    `  ${key}`,
    record.team === undefined ? record.unit : `${record.team}: ${units.join(", ")}`,
  ]);
  const places = [
    ["  the demo shop", `${origin}/`],
    ["  what it sent, got and mailed", `${origin}/developer`],
    ["  create by the API", `POST ${url}`],
    ["  read by the API", `GET ${url}/{id}`],
    ["  the dashboard", `${dashboard}/`],
  ];
  return `
Ready. Open the demo shop in a browser, or call the API:

${table(["  WHAT", "WHERE"], places)}

${table(["  DEVELOPMENT KEY", "ACTS AS (a team's key names the unit in X-Service-Unit-Id)"], rows)}

Create a pledge transaction, then open its timelineUrl in a browser:

curl -s ${url} \\
  -H 'Authorization: Bearer ${keys[0].key}' -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(PAYLOAD)}'

Ctrl-C ends it.
`;
}

async function start(port, persistTo) {
  const tools = await prepareTools();
  await buildFirst(tools, "the service, the dashboard, the package and the demo shop");
  const origin = `http://127.0.0.1:${port}`;
  const keys = await seed(tools, { persistTo, origin });
  log("starting the service and the dashboard …");
  const config = localConfig(tools, CONFIG);
  const service = serve(tools, { what: "the service", port, config, persistTo });
  const dashboard = serveDashboard(tools, {
    port: await portFrom(port + 1),
    persistTo,
    service: origin,
  });
  const servers = await Promise.all([service, dashboard]);
  console.log(greeting(origin, servers[1].origin, keys));
  return servers;
}

async function run({ persistTo }, { terminal }) {
  const port = await freePort(terminal.env.PORT, "npm start");
  await serveUntilAsked(() => start(port, persistTo));
}

export default command("npm start --", ABOUT)
  .option("--persist-to <dir>", "folder of the local state")
  .action(run);
