/**
 * Installs the libraries that the benchmarks compare, from the lock file in this folder. Also copies our own
 * package, as it would be published.
 */
import { cpSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { packagesReady } from "../../../scripts/lib/bootstrap.mjs";
import { UserError, log } from "../../../scripts/lib/output.mjs";
import { npm, run } from "../../../scripts/lib/run.mjs";

const HERE = import.meta.dirname;

/** @param {import("../../../scripts/setup/tools.mjs").Tools} tools */
export async function installPeers(tools) {
  if (packagesReady(HERE)) return;
  log("bench: installing the peers");
  await npm(["ci", "--loglevel=error"], { cwd: HERE, env: tools.env });
}

/** Builds everything that is measured. @param {import("../../../scripts/setup/tools.mjs").Tools} tools */
export async function build(tools) {
  log("bench: building");
  await run(process.execPath, [join(tools.root, "scripts", "run.mjs"), "build"], {
    cwd: tools.root,
    env: tools.env,
  });
}

/**
 * Copies the package, as it is published, to where the benchmarks import it from.
 * @param {import("../../../scripts/setup/tools.mjs").Tools} tools
 */
export function placePackage({ root }) {
  if (!existsSync(join(root, "pkg", "package.json")))
    throw new UserError("there is no package in `pkg`; run `npm run build`, then this again");
  const installed = join(HERE, "node_modules", "impact-pledge");
  rmSync(installed, { recursive: true, force: true });
  cpSync(join(root, "pkg"), installed, { recursive: true });
}
