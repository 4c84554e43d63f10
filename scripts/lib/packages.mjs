/** The npm packages of the lock file, in the clone's own node_modules. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { locked } from "./cache.mjs";
import { Unavailable, tail } from "./report.mjs";
import { run, runnable, which } from "./run.mjs";

/**
 * Are the installed packages those of the lock file? npm writes its own list last, so an install that broke off
 * has none.
 * @param {string} root
 */
export function packagesReady(root) {
  const wanted = lockedPackages(join(root, "package-lock.json"));
  const installed = lockedPackages(join(root, "node_modules", ".package-lock.json"));
  if (!wanted || !installed) return false;
  const missing = Object.keys(wanted).some((path) => !(path in installed) && !wanted[path].optional);
  const foreign = Object.keys(installed).some((path) => installed[path].integrity !== wanted[path]?.integrity);
  return !missing && !foreign;
}

function lockedPackages(file) {
  try {
    const { "": _workspace, ...packages } = JSON.parse(readFileSync(file, "utf8")).packages;
    return packages;
  } catch {
    return null;
  }
}

/** @param {{root: string, cache: string}} place */
export async function installPackages({ root, cache }) {
  const clone = createHash("sha256").update(root).digest("hex").slice(0, 16);
  await locked(join(cache, `packages-${clone}.lock`), async () => {
    if (packagesReady(root)) return;
    const { ok, why, output } = await npm(["ci", "--loglevel=error"], { cwd: root, name: "npm ci" });
    if (!ok) throw new Unavailable("the npm packages", `${why}: ${tail(output, 5)}`, "run `npm ci` to see more");
  });
}

/** npm as a script for Node, if it runs us or came with this Node. */
export function npmScript() {
  const places = [process.env.npm_execpath, join(dirname(process.execPath), "node_modules", "npm", "bin", "npm-cli.js")];
  return places.find((path) => path?.endsWith("npm-cli.js") && runnable(path));
}

/** npm, as it came with this Node or as PATH has it. */
export function npm(args, options) {
  const script = npmScript();
  if (script) return run(process.execPath, [script, ...args], options);
  const command = which("npm");
  if (!command) throw new Unavailable("the npm packages", "`npm` is not in PATH", "install Node 22 with npm, then run this again");
  return run(command, args, options);
}
