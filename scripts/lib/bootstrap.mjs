/**
 * The npm packages, and a Node that is new enough: what every command needs first. A fresh clone has no packages and
 * the system's Node may be 20, so this file uses Node's own modules alone. The packages bring Node 22 along, and npm
 * puts it first in PATH for every npm script.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { UserError, log } from "./output.mjs";

export const root = join(import.meta.dirname, "..", ".."); // the clone
const OLDEST = [22, 18]; // runs TypeScript as it is
export async function bootstrap() {
  if (!packagesReady(root)) await installPackages(join(root, "build", "npm-ci.lock"));
  if (!nodeIsNewEnough()) await handOver();
}

/** @param {string} [version] as in process.version */
export function nodeIsNewEnough(version = process.version) {
  const [major, minor] = version.slice(1).split(".").map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

/**
 * Whether the installed packages are those of the lock file. npm writes its own list last, so an
 * interrupted install has none.
 */
export function packagesReady(folder) {
  const files = ["package-lock.json", join("node_modules", ".package-lock.json")].map((name) =>
    join(folder, name),
  );
  if (!files.every((file) => existsSync(file))) return false;
  const [{ "": _clone, ...wanted }, installed] = files.map(
    (file) => JSON.parse(readFileSync(file, "utf8")).packages,
  );
  const missing = Object.keys(wanted).some(
    (path) => !(path in installed) && !wanted[path].optional,
  );
  return (
    !missing &&
    Object.keys(installed).every((path) => installed[path].integrity === wanted[path]?.integrity)
  );
}

/**
 * Of several commands at once, only one installs. The package that locks elsewhere is not installed
 * yet.
 */
async function installPackages(lock) {
  mkdirSync(dirname(lock), { recursive: true });
  while (!takes(lock)) await sleep(250);
  try {
    if (packagesReady(root)) return;
    log("set-up: getting the npm packages, about 30 seconds");
    const script = npmScript();
    const [command, before] = script ? [process.execPath, [script]] : ["npm", []];
    const how = await ended(
      spawn(command, [...before, "ci", "--loglevel=error"], { cwd: root, stdio: ["ignore", 2, 2] }),
    );
    if (how !== 0)
      throw new UserError(
        `the npm packages can't be had: \`npm ci\` ended with ${how}; see the lines above`,
      );
  } finally {
    rmSync(lock, { force: true });
  }
}

function takes(lock) {
  try {
    if (existsSync(lock)) return !process.kill(Number(readFileSync(lock, "utf8")), 0);
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code === "ESRCH") rmSync(lock, { force: true }); // the process that took it has ended
    return false;
  }
}

const ended = (child) =>
  new Promise((resolve) =>
    child
      .on("error", ({ message }) => resolve(message))
      .on("close", (code, signal) => resolve(code ?? signal)),
  );

/** npm as a script for Node, if it runs us or came with this Node: Windows runs `npm.cmd` only by a shell. */
export function npmScript() {
  const places = [
    process.env.npm_execpath,
    join(dirname(process.execPath), "node_modules", "npm", "bin", "npm-cli.js"),
  ];
  return places.find((path) => path?.endsWith("npm-cli.js") && existsSync(path));
}

const WATCH_MS = 250;

/**
 * Calls `work` when npm has ended while it ran this process: npm and its shell pass not every signal on. Else nothing is watched:
 * what a shell started in the background may outlive it.
 */
export function whenNpmEnds(work) {
  if (!process.env.npm_lifecycle_event) return;
  const [parent, npm] = [process.ppid, npmAboveShell(process.ppid)];
  const timer = setInterval(() => {
    if (process.ppid === parent && (npm === null || lives(npm))) return;
    clearInterval(timer);
    work();
  }, WATCH_MS);
  timer.unref();
}

/** npm's process, where this one is of a shell that npm started; else null. @param {number} parent */
function npmAboveShell(parent) {
  const { stdout } = spawnSync("ps", ["-o", "ppid=,comm=", "-p", String(parent)], {
    encoding: "utf8",
    timeout: 2_000,
  });
  const [, pid, program = ""] = stdout?.trim().match(/^(\d+)\s+(\S+)/) ?? [];
  return /(^|\/)(da|ba|z)?sh$/.test(program) ? Number(pid) : null;
}

function lives(pid) {
  try {
    return process.kill(pid, 0);
  } catch ({ code }) {
    return code === "EPERM";
  }
}

/** Runs this very command again under the packages' Node, and ends with it as it ends. */
async function handOver() {
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const program = join("bin", process.platform === "win32" ? "node.exe" : "node");
  const node = Object.keys(optionalDependencies)
    .map((name) => join(root, "node_modules", name, program))
    .find(existsSync);
  if (!node)
    throw new UserError(
      `Node ${OLDEST.join(".")} or newer is needed, and this is ${process.version}: install Node 22, then run this again`,
    );
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], { stdio: "inherit" });
  // A terminal sends Ctrl-C to both processes by itself.
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]))
    process.on(signal, () => {
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    });
  whenNpmEnds(() => child.kill("SIGTERM"));
  const how = await ended(child);
  process.exit(typeof how === "number" ? how : 128 + (constants.signals[how] ?? 0));
}
