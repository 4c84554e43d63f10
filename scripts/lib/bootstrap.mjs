/**
 * The npm packages, and a Node that is new enough: what every command needs first. A fresh clone has no packages and
 * the system's Node may be 20, so this file uses Node's own modules alone. The packages bring Node 22 along, and npm
 * puts it first in PATH for every npm script.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Stop, say } from "./report.mjs";

/** The clone. */
export const root = join(import.meta.dirname, "..", "..");

const OLDEST = [22, 12]; // for wrangler
const LONGEST_INSTALL_MS = 10 * 60_000;

export async function bootstrap() {
  if (!packagesReady(root)) await alone(join(root, "build", "npm-ci.lock"), installPackages);
  if (!nodeIsNewEnough()) await handOver();
}

/** @param {string} [version] as in process.version */
export function nodeIsNewEnough(version = process.version) {
  const [major, minor] = version.slice(1).split(".").map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

/** Are the installed packages those of the lock file? npm writes its own list last: a broken-off install has none. */
export function packagesReady(folder) {
  const wanted = lockedPackages(join(folder, "package-lock.json"));
  const installed = lockedPackages(join(folder, "node_modules", ".package-lock.json"));
  if (!wanted || !installed) return false;
  const missing = Object.keys(wanted).some((path) => !(path in installed) && !wanted[path].optional);
  return !missing && Object.keys(installed).every((path) => installed[path].integrity === wanted[path]?.integrity);
}

function lockedPackages(file) {
  try {
    const { "": _workspace, ...packages } = JSON.parse(readFileSync(file, "utf8")).packages;
    return packages;
  } catch {
    return null;
  }
}

/** Of several commands at once, one installs. The package that locks elsewhere is not there yet. */
async function alone(lock, work) {
  mkdirSync(dirname(lock), { recursive: true });
  while (!takes(lock)) await sleep(250);
  await work().finally(() => rmSync(lock, { recursive: true, force: true }));
}

function takes(lock) {
  const { mtimeMs = Date.now() } = statSync(lock, { throwIfNoEntry: false }) ?? {};
  if (Date.now() - mtimeMs > LONGEST_INSTALL_MS) rmSync(lock, { recursive: true, force: true }); // a killed one left it
  try {
    mkdirSync(lock);
    return true;
  } catch {
    return false;
  }
}

async function installPackages() {
  if (packagesReady(root)) return;
  say("set-up: getting the npm packages, about 30 seconds");
  const [command, ...before] = npmScript() ? [process.execPath, npmScript()] : ["npm"];
  const how = await ended(spawn(command, [...before, "ci", "--loglevel=error"], { cwd: root, stdio: ["ignore", 2, 2] }));
  if (how !== 0) throw new Stop(`the npm packages can't be had: \`npm ci\` ended with ${how}; see the lines above`);
}

const ended = (child) => new Promise((resolve) => child.on("error", ({ message }) => resolve(message)).on("close", (code, signal) => resolve(code ?? signal)));

/** npm as a script for Node, if it runs us or came with this Node: Windows runs `npm.cmd` only by a shell. */
export function npmScript() {
  const places = [process.env.npm_execpath, join(dirname(process.execPath), "node_modules", "npm", "bin", "npm-cli.js")];
  return places.find((path) => path?.endsWith("npm-cli.js") && existsSync(path));
}

/** Runs this very command again under the packages' Node, and ends with it as it ends. */
async function handOver() {
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const program = join("bin", process.platform === "win32" ? "node.exe" : "node");
  const node = Object.keys(optionalDependencies).map((name) => join(root, "node_modules", name, program)).find(existsSync);
  if (!node) throw new Stop(`Node ${OLDEST.join(".")} or newer is needed, and this is ${process.version}: install Node 22, then run this again`);
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], { stdio: "inherit" });
  // A terminal sends Ctrl-C to both processes by itself.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => (signal !== "SIGINT" || !process.stdin.isTTY) && child.kill(signal));
  const how = await ended(child);
  process.exit(typeof how === "number" ? how : 128 + (constants.signals[how] ?? 0));
}
