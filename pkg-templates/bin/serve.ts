/* The command `serve`: runs the service in memory, on a port of this machine. */
import { once } from "node:events";
import {
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  createServer,
} from "node:http";
import type { AddressInfo } from "node:net";
import { keys, teams } from "../../src/office/demo/development.json";
import { refusalOf } from "./loopback.ts";
import { Stop, printable, settings } from "./output.ts";
import { starterEnded } from "./starter.ts";

/** The API keys for local development, with their stored records. */
const KEYS = keys as unknown as readonly [
  key: string,
  record: { unit?: string; team?: "team_dev" },
][];
const HOST = "127.0.0.1";
const ORDER = {
  reference: "order-1",
  recipient: { email: "ada@example.org" },
  pledges: [{ impact: { amount: 3, offeringId: "tree" } }],
};

/** Runs the service until Ctrl-C, or until the npm that started it has ended. */
export async function serve(options: { port?: string }): Promise<0> {
  const port = portOf(options.port, process.env.PORT || "8787");
  const starterHasEnded = starterEnded(); // asked before the greeting: npm may end as soon as it is printed
  const { createTestService } = await import("impact-pledge/testing");
  const server = createServer(forThisMachine(createTestService().handler));
  server.on("request", log);
  await listening(server, port);
  console.log(greeting(`http://${HOST}:${(server.address() as AddressInfo).port}`));
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"].map((signal) => once(process, signal));
  await Promise.race([starterHasEnded, ...signals]);
  server.close();
  server.closeAllConnections();
  return 0;
}

/** Returns a listener that passes requests to `handler`, but refuses requests whose host is not this machine. */
function forThisMachine(handler: RequestListener): RequestListener {
  return (request, response) => {
    const refusal = refusalOf(request.headers.host);
    if (refusal === undefined) return handler(request, response);
    const headers = { "content-type": "text/plain; charset=utf-8", connection: "close" };
    response.writeHead(403, headers).end(refusal);
  };
}

/** Returns the port from the option or, if that is not set, from the environment variable. */
function portOf(option: string | undefined, variable: string): number {
  const text = option ?? variable,
    port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  const name = option === undefined ? `PORT=${printable(text)}` : "--port";
  throw new Stop(`\`${name}\` must be a number from 0 to 65535; 0 chooses a free port`);
}

/** Logs a request without its query, which may contain the edit key of a timeline. */
function log({ method, url }: IncomingMessage, response: ServerResponse): void {
  response.on("close", () =>
    console.log(
      `${method} ${printable(url!.split("?")[0]!)} ${response.writableFinished ? response.statusCode : "connection closed"}`,
    ),
  );
}

async function listening(server: Server, port: number): Promise<void> {
  try {
    await once(server.listen(port, HOST), "listening");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = REASONS[code!] ?? message;
    throw new Stop(
      `port ${port} can't be used: ${reason}. Choose another port, for example with \`impact-pledge serve --port ${port === 8788 ? 8789 : 8788}\``,
    );
  }
}

const REASONS: Partial<Record<string, string>> = {
  EADDRINUSE: "another program uses it",
  EACCES: "permission denied",
};

function greeting(origin: string): string {
  const url = `${origin}/v2/pledge-transaction`,
    order = JSON.stringify(ORDER);
  const header = `-H 'Authorization: Bearer ${KEYS[0]![0]}'`;
  const rows = KEYS.map(
    ([key, { unit, team }]) =>
      `  ${key.padEnd(30)}  ${unit ?? `${team}, with PLEDGE_UNIT_ID or X-Service-Unit-Id: ${teams[team!].join(", ")}`}`,
  );
  return `The service runs on ${origin}. Its data is in memory, and is lost when you stop it.

${[`  ${"DEVELOPMENT KEY".padEnd(30)}  ACTS AS`, ...rows].join("\n")}

In another terminal:

${settings(origin)}
  echo '${order}' | npx impact-pledge create
  npx impact-pledge get ptran_…

Or by HTTP:

  curl -s ${url} ${header} -H 'Content-Type: application/json' -d '${order}'
  curl -s ${url}/ptran_… ${header}

Ctrl-C ends it.`;
}
