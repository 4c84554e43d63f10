/**
 * Runs Workers on this machine with `wrangler dev`, and stops child processes with all processes that they have
 * started.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import getPort, { portNumbers } from "get-port";
import { whenNpmEnds } from "./bootstrap.mjs";
import { UserError, tail } from "./output.mjs";
import { stateFolder } from "./runtime.mjs";

const HOST = "127.0.0.1";
const [POLL_MS, SETTLE_MS, GRACE_MS, ANSWER_MS] = [100, 200, 5_000, 15_000];
const ATTEMPTS = 5;
const FIRST_ANSWER_MS = 120_000; // includes a build of the sources
const CRON_MS = 5 * 60_000; // as in wrangler.dashboard.toml
/**
 * Matches the error of a runtime that could not start. Another runtime that uses the same folder had locked a
 * database there.
 */
const IS_LOCKED = /SQLITE_BUSY|database is locked/;
const windows = process.platform === "win32";

/**
 * Parses a port number, and checks that nothing uses the port.
 * @param {string | undefined} text the number as a text, as in the variable `PORT`
 * @param {string} command the command that needs the port
 * @returns {Promise<number>} the port, which nothing else uses
 */
export async function freePort(text, command) {
  const port = Number(text || 8787);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new UserError(`\`${text}\` is not a port: set PORT to a number from 1 to 65535`);
  const free =
    port < 1024 ? await getPort({ host: HOST, port: [port, 8788] }) : await portFrom(port);
  if (free === port) return port;
  throw new UserError(
    `port ${port} is in use: stop the program that uses it, or choose another port, such as PORT=${free} ${command}`,
  );
}

/**
 * Returns the first free port, counting up from `port`.
 * @param {number} port from 1024 on
 * @returns {Promise<number>}
 */
export const portFrom = (port) =>
  getPort({ host: HOST, port: port < 65_535 ? portNumbers(port, 65_535) : port });

/**
 * A running server. `end` shuts it down cleanly, `kill` stops it at once.
 * @typedef {{origin: string, ended: Promise<string | 0>, end: () => Promise<void>, kill: () => Promise<void>, show: () => void}} Server
 */

/**
 * Starts a Worker and waits until it answers. All Workers with the same state share queues, so each can
 * send messages to the others. The Worker's output is printed after `show` is called. Earlier output is
 * shown only if the start fails.
 * @param {{root: string, project?: string, env: NodeJS.ProcessEnv, wrangler: string}} tools
 * @param {{what: string, config: string, port: number, persistTo?: string, options?: string[]}} worker `what`: the Worker's
 *   name in messages; `options`: the options for `wrangler dev`
 * @returns {Promise<Server>}
 */
export async function serve(tools, worker) {
  for (let attempt = 1; ; attempt += 1) {
    const { server, how, output } = await startOnce(tools, worker);
    if (server) return server;
    if (attempt === ATTEMPTS || !IS_LOCKED.test(output))
      throw new UserError(
        `${worker.what} did not start: wrangler ${how || "ended"}\n${tail(output, 20)}`,
      );
    await sleep(POLL_MS * 2 ** attempt);
  }
}

/**
 * Tries once to start a Worker.
 * @param {{root: string, project?: string, env: NodeJS.ProcessEnv, wrangler: string}} tools
 * @param {{config: string, port: number, persistTo?: string, options?: string[]}} worker
 * @returns {Promise<{server?: Server, how?: string | 0, output: string}>} the server. If the Worker did not start, `how`
 *   says how wrangler ended before the Worker's first answer.
 */
async function startOnce(tools, { config, port, persistTo, options = [] }) {
  const { root, project = root, env, wrangler } = tools;
  const state = stateFolder(project, persistTo);
  const secrets = [".dev.vars", ".env"].map((name) => join(project, name)).find(existsSync);
  const args = [
    "--config",
    config,
    "--ip",
    HOST,
    "--port",
    String(port),
    "--inspector-port",
    "0",
    "--show-interactive-dev-session=false",
    "--persist-to",
    state,
    ...(secrets ? ["--env-file", secrets] : []), // wrangler looks for them only beside the configuration
    ...options,
  ];
  const { child, ended, end, kill } = startGroup([wrangler, "dev", ...args], {
    cwd: project,
    env: { ...env, WRANGLER_REGISTRY_PATH: join(state, "registry") },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let isShown = false;
  let output = "";
  let how;
  for (const name of ["stdout", "stderr"]) {
    child[name].setEncoding("utf8").on("data", (text) => {
      if (isShown) process[name].write(text);
      else output += text;
    });
  }
  ended.then((text) => {
    how = text;
  });
  const origin = `http://${HOST}:${port}`;
  const deadline = Date.now() + FIRST_ANSWER_MS;
  while (!(await answers(origin))) {
    if (how !== undefined) return { how, output };
    if (Date.now() > deadline) {
      await kill();
      return { how: `gave no answer within ${FIRST_ANSWER_MS / 1_000} s`, output };
    }
    await sleep(POLL_MS);
  }
  await sleep(SETTLE_MS); // until wrangler has printed its lines about the start, and about the requests that waited for it
  const show = () => {
    isShown = true;
  };
  const endQuietly = () => {
    isShown = false; // messages of wrangler's helpers about their end are of no use
    return end();
  };
  return { server: { origin, ended, end: endQuietly, kill, show }, output };
}

/** Whether a Worker answers with any status below 500. */
const answers = (origin) =>
  fetch(`${origin}/healthz`, { signal: AbortSignal.timeout(ANSWER_MS) }).then(
    ({ status }) => status < 500,
    () => false,
  );

/**
 * Runs the cron of a Worker now and every five minutes until the Worker ends: `wrangler dev` runs it only on request.
 * @param {Server} server
 */
export function runCron({ origin, ended }) {
  const run = () =>
    fetch(`${origin}/cdn-cgi/handler/scheduled`, { signal: AbortSignal.timeout(CRON_MS) }).then(
      (answer) => answer.body?.cancel(),
      () => {}, // the next run repeats its work
    );
  run();
  const timer = setInterval(run, CRON_MS);
  timer.unref();
  ended.then(() => clearInterval(timer));
}

/**
 * Starts servers, and shows their output until a signal stops this process.
 * @param {() => Promise<Server[]>} start
 * @returns {Promise<never>} ends this process
 */
export async function serveUntilAsked(start) {
  const asked = new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
      process.on(signal, () => resolve(undefined));
    whenNpmEnds(() => resolve(undefined));
  });
  const servers = await Promise.race([start(), asked]);
  if (!servers) process.exit(130); // asked to stop before the servers had started
  for (const server of servers) server.show();
  const how = await Promise.race([...servers.map(({ ended }) => ended), asked]);
  if (how !== undefined)
    throw new UserError(`a server stopped unexpectedly: wrangler ${how || "ended"}`);
  await Promise.all(servers.map((server) => server.end()));
  process.exit(0);
}

/**
 * Starts a Node script in its own process group, and kills the group when this process exits. Ctrl-C reaches
 * only this process, which then shuts the group down cleanly. `ended` resolves to 0 if the script succeeded,
 * otherwise to a text such as `exited with 1`.
 * @returns {{child: import("node:child_process").ChildProcess, ended: Promise<string | 0>, end: () => Promise<void>, kill: () => Promise<void>}}
 */
export function startGroup(args, options) {
  const child = spawn(process.execPath, args, { ...options, detached: !windows });
  const ended = new Promise((resolve) => {
    child.on("error", (error) => resolve(error.message));
    child.on("exit", (code, signal) => {
      if (signal) resolve(`was ended by ${signal}`);
      else resolve(code === 0 ? 0 : `exited with ${code}`);
    });
  });
  const killAll = () => child.pid && killGroup(child.pid);
  process.on("exit", killAll);
  const kill = async () => {
    killAll();
    process.off("exit", killAll);
    await ended;
  };
  const end = async () => {
    child.kill("SIGTERM");
    await Promise.race([ended, sleep(GRACE_MS, undefined, { ref: false })]);
    await kill();
  };
  return { child, ended, end, kill };
}

/**
 * Kills a process group. Does so synchronously, because this process may be exiting. The npm packages that
 * kill process trees are asynchronous, so none of them is used.
 */
function killGroup(pid) {
  if (windows) return spawnSync("taskkill", ["/pid", String(pid), "/t", "/f"], { stdio: "ignore" });
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") throw error; // all have ended
  }
}
