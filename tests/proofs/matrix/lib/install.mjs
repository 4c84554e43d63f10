/**
 * Installs the environments' tools, which this folder's lock file lists, into `build/matrix`. Then installs
 * the packed package into `build/matrix/projects` with npm, as users do.
 */
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { UserError, log } from "../../../../scripts/lib/output.mjs";
import { entry } from "../../../../scripts/lib/cache.mjs";
import { npm, run } from "../../../../scripts/lib/run.mjs";
import { Skipped } from "./browser.mjs";

const HERE = join(import.meta.dirname, "..");
const FILES = ["package.json", "package-lock.json", ".npmrc"];

/**
 * @param {import("../../../../scripts/setup/tools.mjs").Tools} tools
 * @param {{build: boolean}} wish
 * @returns {Promise<string>} the folder
 */
export async function install(tools, { build }) {
  const home = join(tools.root, "build", "matrix");
  if (build) await buildPackage(tools);
  await installTools(tools, home);
  await installPackage(tools, home);
  return home;
}

async function buildPackage({ root, env }) {
  log("matrix: building the package");
  await run(process.execPath, [join(root, "scripts", "run.mjs"), "build", "package"], {
    cwd: root,
    env,
  });
}

/**
 * Installs the tools with `npm install`, because `npm ci` needs a complete lock file. The lock file is
 * incomplete if the registry lacks a tool's newest version for some platform.
 */
async function installTools({ env }, home) {
  const wanted = createHash("sha256");
  for (const name of FILES) wanted.update(readFileSync(join(HERE, name)));
  const stamp = join(home, "installed");
  const print = wanted.digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === print) return;
  log("matrix: installing the tools, about a minute and a gigabyte");
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  for (const name of FILES) copyFileSync(join(HERE, name), join(home, name));
  await npm(["install", "--loglevel=error"], { cwd: home, env });
  writeFileSync(stamp, print);
}

async function installPackage({ root, env }, home) {
  const pkg = join(root, "pkg");
  if (!existsSync(join(pkg, "package.json")))
    throw new UserError("there is no package in `pkg`; run `npm run build` first");
  const projects = join(home, "projects");
  rmSync(projects, { recursive: true, force: true });
  mkdirSync(projects);
  writeFileSync(
    join(projects, "package.json"),
    JSON.stringify({ name: "projects", private: true }),
  );
  writeFileSync(join(projects, "jsconfig.json"), "{}"); // otherwise Turbopack finds the clone's, with its paths
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  await npm(["pack", pkg, "--pack-destination", projects, ...flags], { cwd: projects, env });
  const tarball = readdirSync(projects).find((name) => name.endsWith(".tgz"));
  await npm(["install", `./${tarball}`, "--offline", ...flags], { cwd: projects, env });
}

/**
 * Installs packages that are not among the matrix's own tools. The folder is kept for later runs.
 * @param {string} folder
 * @param {...string} packages names with versions
 * @returns {Promise<string>} the path at which the packages are installed
 */
export async function packagesIn(folder, ...packages) {
  const flags = ["--ignore-scripts", "--loglevel=error"];
  await entry(folder, (fresh) =>
    npm(["install", "--prefix", fresh, ...flags, ...packages], { cwd: fresh }),
  ).catch(({ message }) => {
    throw new Skipped(message);
  });
  return join(folder, "node_modules");
}
