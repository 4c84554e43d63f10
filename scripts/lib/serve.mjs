/** The service on this machine, by `wrangler dev`. */
import { setTimeout as sleep } from "node:timers/promises";
import getPort, { portNumbers } from "get-port";
import { startGroup } from "./group.mjs";
import { Stop, tail } from "./report.mjs";

const HOST = "127.0.0.1";
const POLL_MS = 100;
const ANSWER_MS = 15_000;
const SETTLE_MS = 200;

/** @param {string | undefined} text as in `PORT` @returns {number} */
export function readPort(text) {
  const port = Number(text || 8787);
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw new Stop(`\`${text}\` is not a port: set PORT to a number from 1 to 65535`);
}

/** @param {number} port */
export async function mustBeFree(port) {
  const free = await getPort({ host: HOST, port: port < 1024 ? [port, 8788] : portNumbers(port, 65_535) });
  if (free !== port) throw new Stop(`port ${port} is in use; end what uses it, or choose another, such as PORT=${free} npm start`);
}

/**
 * Starts the service and waits until it answers.
 * @param {import("./ready.mjs").Tools} tools @param {{port: number, config: string, persistTo?: string}} options
 * @returns {Promise<{origin: string, ended: Promise<string | 0>, end: () => Promise<void>, show: () => void}>}
 *   `ended` tells how; `show` passes on what it prints from now on: before, that only matters if the start fails
 */
export async function serve({ root, env, wrangler }, { port, config, persistTo }) {
  const place = persistTo ? ["--persist-to", persistTo] : [];
  const args = ["--config", config, "--ip", HOST, "--port", String(port), "--inspector-port", "0", "--show-interactive-dev-session=false", ...place];
  const { child, ended, end } = startGroup([wrangler, "dev", ...args], { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  let [output, shown, how] = ["", false];
  for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (shown ? process[name].write(text) : (output += text)));
  ended.then((text) => (how = text));
  const origin = `http://${HOST}:${port}`;
  while (!(await answers(origin))) {
    if (how !== undefined) throw new Stop(`the service did not start: wrangler ${how || "ended"}\n${tail(output, 20)}`);
    await sleep(POLL_MS);
  }
  await sleep(SETTLE_MS); // wrangler's lines on the start, and on the requests that waited for it
  return { origin, ended, end, show: () => (shown = true) };
}

const answers = (origin) =>
  fetch(`${origin}/v2/pledge-transaction`, { method: "OPTIONS", signal: AbortSignal.timeout(ANSWER_MS) }).then(({ status }) => status === 204, () => false);
