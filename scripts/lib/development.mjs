/**
 * Runs the service, the dashboard, and a demo shop that uses the service, on this machine. Uses development
 * data.
 */
import { log, table } from "./output.mjs";
import { seed } from "./seed.mjs";
import { portFrom, runCron, serve } from "./serve.mjs";

/** @typedef {"operator" | "support" | "accounts" | "manager" | "viewer"} Role */
/** @typedef {import("./places.mjs").OperatorTools} Tools */

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
    ["  the shop's requests, e-mails and messages", `${origin}/developer`],
    ["  create a transaction", `POST ${url}`],
    ["  read a transaction", `GET ${url}/{id}`],
    ["  the dashboard", `${dashboard}/`],
  ];
  return `
Ready. Open the demo shop in a browser, or call the API:

${table(["  WHAT", "WHERE"], places)}

${table(["  DEVELOPMENT KEY", "ACTS AS (with a team's key, send the unit in X-Service-Unit-Id)"], rows)}

Create a pledge transaction, then open its timelineUrl in a browser:

curl -s ${url} \\
  -H 'Authorization: Bearer ${keys[0].key}' -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(PAYLOAD)}'

Press Ctrl-C to stop.
`;
}

/**
 * Writes the development data that is missing, and starts the service and the dashboard.
 * @param {Tools} tools
 * @param {{port: number, persistTo?: string, configs: {service: string, dashboard: string}}} options
 *   `configs`: wrangler's configuration files
 */
export async function startDevelopment(tools, { port, persistTo, configs }) {
  const origin = `http://127.0.0.1:${port}`;
  const keys = await seed(tools, { persistTo, origin });
  log("starting the service and the dashboard …");
  const service = serve(tools, { what: "the service", port, config: configs.service, persistTo });
  const dashboard = serveDashboard(tools, {
    config: configs.dashboard,
    port: await portFrom(port + 1),
    persistTo,
    service: origin,
  });
  const servers = await Promise.all([service, dashboard]);
  runCron(servers[1]);
  console.log(greeting(origin, servers[1].origin, keys));
  return servers;
}

/**
 * Starts the dashboard.
 * @param {Tools} tools
 * @param {{config: string, port: number, persistTo?: string, role?: Role, service: string}} options `role`:
 *   the role of the dashboard's user; undefined for the dashboard of `npm start`, which also receives the
 *   service's messages to the ledger. `service`: the service's origin
 */
export const serveDashboard = (tools, { config, port, persistTo, role, service }) =>
  serve(tools, {
    what: "the dashboard",
    config,
    port,
    persistTo,
    options: ["--env", role ?? "", "--var", `SERVICE_ORIGIN:${service}`],
  });
