/** `npm start`: the service on this machine, with development data, and a demo shop that uses it. */
import { join } from "node:path";
import { command } from "./lib/command.mjs";
import { prepareTools } from "./lib/tools.mjs";
import { UserError, log, table } from "./lib/output.mjs";
import { seed } from "./lib/seed.mjs";
import { freePort, serve, startGroup } from "./lib/serve.mjs";

const ABOUT = [
  "The service on this machine, with development data, and a demo shop that uses it: on http://127.0.0.1:8787, or on another port by PORT=9000 npm start.",
  "The sources of the service and of the shop are watched: a change is built and served. The package is built at the start, and whenever you run `npm run build -- package`. State survives a restart, but for e-mails that wait in the queue; what is missing of the development data is written again, and what you changed stays. Ctrl-C ends it.",
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

function greeting(origin, keys) {
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
  log("building the service, the package and the demo shop …"); // before wrangler does, so that a failure ends the start
  const { ended } = startGroup([join(tools.root, "scripts", "run.mjs"), "build"], {
    cwd: tools.root,
    env: tools.env,
    stdio: ["ignore", "inherit", "inherit"],
  });
  if ((await ended) !== 0) process.exit(1); // it has printed why
  const keys = await seed(tools, { persistTo });
  log("starting the service …");
  const service = await serve(tools, { port, config: CONFIG, persistTo });
  console.log(greeting(service.origin, keys));
  service.show();
  return service;
}

async function run({ persistTo }, { terminal }) {
  const port = await freePort(terminal.env.PORT);
  const asked = new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
      process.on(signal, () => resolve(undefined));
  });
  const service = await Promise.race([start(port, persistTo), asked]);
  if (!service) process.exit(130); // asked to end before it had begun
  const how = await Promise.race([service.ended, asked]);
  if (how !== undefined)
    throw new UserError(`the service ended by itself: wrangler ${how || "ended"}`);
  await service.end();
  process.exit(0);
}

export default command("npm start --", ABOUT)
  .option("--persist-to <dir>", "folder of the local state")
  .action(run);
