/** The service on this machine, by `wrangler dev`. */
import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { startGroup } from "./group.mjs";
import { Stop, say, tail } from "./report.mjs";

const HOST = "127.0.0.1";
const POLL_MS = 100;
const HEARTBEAT_MS = 15_000;
const SETTLE_MS = 200;

/** @param {string | undefined} text as in `PORT` @returns {number} */
export function readPort(text, usual = 8787) {
  if (!text) return usual;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw new Stop(`\`${text}\` is not a port: set PORT to a number from 1 to 65535`);
}

/** @param {number} port */
export async function mustBeFree(port) {
  const server = createServer();
  try {
    server.listen({ port, host: HOST, exclusive: true });
    await once(server, "listening");
  } catch (error) {
    const why = error.code === "EADDRINUSE" ? "is in use" : `can't be had (${error.code})`;
    throw new Stop(`port ${port} ${why}; end what uses it, or choose another, such as PORT=${another(port)} npm start`);
  }
  server.close();
  await once(server, "close");
}

const another = (port) => (port < 1024 || port === 65_535 ? 8788 : port + 1);

/**
 * Starts the service and waits until it answers.
 * @param {import("./ready.mjs").Tools} tools
 * @param {{port: number, config: string, persistTo?: string}} options
 * @returns {Promise<{origin: string, ended: Promise<string | 0>, end: () => Promise<void>, show: () => void}>}
 *   `ended` tells how; `show` passes on what it says from now on
 */
export async function serve({ root, env, bin }, { port, config, persistTo }) {
  const place = persistTo ? ["--persist-to", persistTo] : [];
  const args = ["--config", config, "--ip", HOST, "--port", String(port), "--inspector-port", "0", "--show-interactive-dev-session=false", ...place];
  const { child, ended, end } = startGroup([bin("wrangler"), "dev", ...args], { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  const output = hold(child);
  const origin = `http://${HOST}:${port}`;
  await untilAnswering(origin, ended, output);
  await sleep(SETTLE_MS); // wrangler's lines on the start, and on the requests that waited for it
  return { origin, ended, end, show: output.show };
}

/** Keeps what the child says until it is to be shown: before that it only matters if the start fails. */
function hold(child) {
  const output = { text: "", shown: false, show: () => (output.shown = true) };
  for (const [stream, out] of [[child.stdout, process.stdout], [child.stderr, process.stderr]]) {
    stream.setEncoding("utf8").on("data", (text) => {
      if (output.shown) out.write(text);
      else output.text += text;
    });
  }
  return output;
}

async function untilAnswering(origin, ended, output) {
  let how;
  ended.then((text) => (how = text));
  for (let waited = POLL_MS; !(await answers(origin)); waited += POLL_MS) {
    if (how !== undefined) throw new Stop(`the service did not start: wrangler ${how || "ended"}\n${tail(output.text, 20)}`);
    if (waited % HEARTBEAT_MS === 0) say(`    still starting: ${tail(output.text, 1).trim()}`);
    await sleep(POLL_MS);
  }
}

async function answers(origin) {
  try {
    const response = await fetch(`${origin}/v2/pledge-transaction`, { method: "OPTIONS", signal: AbortSignal.timeout(HEARTBEAT_MS) });
    return response.status === 204;
  } catch {
    return false;
  }
}
