/**
 * Installs the npm packages, and makes sure that Node is new enough, before any command runs. This file imports
 * only Node's own modules, because a fresh clone has no packages, and the system's Node may be version 20. Node
 * 22 is one of the packages, and npm puts it first in PATH for every npm script.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { UserError, log } from "./output.mjs";

export const root = join(import.meta.dirname, "..", ".."); // the clone
const OLDEST = [22, 18]; // the first that runs TypeScript without a build
export async function bootstrap() {
  if (!packagesReady(root)) await installPackages(join(root, "build", "npm-ci.lock"));
  if (!nodeIsNewEnough()) await handOver();
}

/** Returns whether a version of Node can run the scripts. @param {string} [version] as in process.version */
export function nodeIsNewEnough(version = process.version) {
  const [major, minor] = version.slice(1).split(".").map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

/**
 * Whether the installed packages match the lock file. Compares the lock file with npm's own list of installed
 * packages. npm writes this list last, so it is missing after an interrupted install.
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
 * Installs the npm packages. If several commands run at the same time, only one of them installs. The lock is
 * made here, because the package for locks is not installed yet.
 */
async function installPackages(lock) {
  mkdirSync(dirname(lock), { recursive: true });
  while (!takes(lock)) await sleep(250);
  try {
    if (packagesReady(root)) return;
    log("set-up: installing the npm packages, about 30 seconds");
    const script = npmScript();
    const [command, before] = script ? [process.execPath, [script]] : ["npm", []];
    const how = await ended(
      spawn(
        command,
        [...before, "ci", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"],
        {
          cwd: root,
          stdio: ["ignore", 2, 2],
        },
      ),
    );
    if (how !== 0)
      throw new UserError(
        `the npm packages could not be installed: \`npm ci\` ended with ${how}; see the lines above`,
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

/**
 * Returns the path of npm's own script, which Node runs without a shell. On Windows, `npm.cmd` would need a
 * shell. Returns undefined if npm neither runs this process nor came with this Node.
 */
export function npmScript() {
  const places = [
    process.env.npm_execpath,
    join(dirname(process.execPath), "node_modules", "npm", "bin", "npm-cli.js"),
  ];
  return places.find((path) => path?.endsWith("npm-cli.js") && existsSync(path));
}

const WATCH_MS = 250;

/**
 * Calls `work` once the npm process that started this process has ended. This is necessary because npm and its
 * shell do not forward every signal. Does nothing if npm did not start this process: such a process may outlive
 * the shell that started it.
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

/** Returns the process ID of npm if `parent` is a shell that npm started; otherwise null. @param {number} parent */
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

/** Runs the same command with the Node that is one of the npm packages, and exits with its exit code. */
async function handOver() {
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const program = join("bin", process.platform === "win32" ? "node.exe" : "node");
  const node = Object.keys(optionalDependencies)
    .map((name) => join(root, "node_modules", name, program))
    .find(existsSync);
  if (!node)
    throw new UserError(
      `Node ${OLDEST.join(".")} or newer is needed, but this is ${process.version}: install Node 22, then run this again`,
    );
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], { stdio: "inherit" });
  // A terminal sends Ctrl-C to both processes.
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]))
    process.on(signal, () => {
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    });
  whenNpmEnds(() => child.kill("SIGTERM"));
  const how = await ended(child);
  process.exit(typeof how === "number" ? how : 128 + (constants.signals[how] ?? 0));
}
