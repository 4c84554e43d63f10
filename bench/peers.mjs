/** What is measured, in place: the peers of this folder's lock file, and the package as it would be published. */
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { npm, packagesReady } from "../scripts/lib/packages.mjs";
import { Stop, Unavailable, say, tail } from "../scripts/lib/report.mjs";
import { run } from "../scripts/lib/run.mjs";

const HERE = import.meta.dirname;

/** @param {import("../scripts/lib/ready.mjs").Tools} tools */
export async function installPeers(tools) {
  if (packagesReady(HERE)) return;
  say("bench: installing the peers");
  const { ok, why, output } = await npm(["ci", "--loglevel=error"], { cwd: HERE, env: tools.env, name: "npm ci", show: false });
  if (!ok) throw new Unavailable("the peers to measure against", `${why}: ${tail(output, 5)}`, "run `npm ci` in `bench` to see more");
}

/** Builds everything that is measured. @param {import("../scripts/lib/ready.mjs").Tools} tools */
export async function build(tools) {
  say("bench: building");
  const { ok, why, output } = await run(process.execPath, [join(tools.root, "scripts", "build.mjs")], { cwd: tools.root, env: tools.env, name: "build" });
  if (!ok) throw new Stop(`the build failed (${why}):\n${tail(output ?? "", 20)}`);
}

/** Packs `pkg/` and unpacks the tarball where the benchmarks import from. @param {import("../scripts/lib/ready.mjs").Tools} tools */
export async function unpackPackage(tools, folder) {
  if (!existsSync(join(tools.root, "pkg", "package.json"))) throw new Stop("there is no package in `pkg`; run `npm run build`, then this again");
  const place = join(HERE, "node_modules", "impact-pledge");
  const packed = join(folder, "packed");
  for (const fresh of [place, packed]) {
    rmSync(fresh, { recursive: true, force: true });
    mkdirSync(fresh, { recursive: true });
  }
  await must(npm(["pack", join(tools.root, "pkg"), "--pack-destination", packed, "--loglevel=error"], { cwd: folder, env: tools.env, name: "npm pack", show: false }));
  const [tarball] = readdirSync(packed);
  await must(run("tar", ["-xzf", join(packed, tarball), "-C", place, "--strip-components", "1"], { name: "tar", show: false }));
}

async function must(running) {
  const { ok, why, output } = await running;
  if (!ok) throw new Stop(`the package can't be unpacked (${why}): ${tail(output, 5)}`);
}
