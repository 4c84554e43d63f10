/**
 * Installs what is measured: the peers of this folder's lock file, and the package as it would be
 * published.
 */
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { packagesReady } from "../../scripts/lib/bootstrap.mjs";
import { UserError, log } from "../../scripts/lib/output.mjs";
import { npm, run } from "../../scripts/lib/run.mjs";

const HERE = import.meta.dirname;

/** @param {import("../../scripts/lib/tools.mjs").Tools} tools */
export async function installPeers(tools) {
  if (packagesReady(HERE)) return;
  log("bench: installing the peers");
  await npm(["ci", "--loglevel=error"], { cwd: HERE, env: tools.env });
}

/** Builds everything that is measured. @param {import("../../scripts/lib/tools.mjs").Tools} tools */
export async function build(tools) {
  log("bench: building");
  await run(process.execPath, [join(tools.root, "scripts", "run.mjs"), "build"], {
    cwd: tools.root,
    env: tools.env,
  });
}

/** Packs `pkg/` and unpacks the tarball where the benchmarks import from. @param {import("../../scripts/lib/tools.mjs").Tools} tools */
export async function unpackPackage(tools, folder) {
  if (!existsSync(join(tools.root, "pkg", "package.json")))
    throw new UserError("there is no package in `pkg`; run `npm run build`, then this again");
  const installed = join(HERE, "node_modules", "impact-pledge");
  const packed = join(folder, "packed");
  for (const fresh of [installed, packed]) {
    rmSync(fresh, { recursive: true, force: true });
    mkdirSync(fresh, { recursive: true });
  }
  await npm(["pack", join(tools.root, "pkg"), "--pack-destination", packed, "--loglevel=error"], {
    cwd: folder,
    env: tools.env,
  });
  const [tarball] = readdirSync(packed);
  await run("tar", ["-xzf", join(packed, tarball), "-C", installed, "--strip-components", "1"]);
}
