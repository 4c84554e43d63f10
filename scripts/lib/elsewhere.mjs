/** The same commit built a second time, where nothing of the first build can be found: every byte must be the same. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { sha256 } from "./pack.mjs";
import { UserError, log } from "./output.mjs";
import { run } from "./run.mjs";

/** Packs HEAD in a fresh clone. @param {import("./tools.mjs").Tools} tools @param {string} dist what the first build packed @throws {UserError} that names the files that differ */
export async function packElsewhere({ root, cache, native }, dist) {
  const place = mkdtempSync(join(tmpdir(), "impact-pledge-a-second-build-"));
  try {
    const clone = join(place, "clone");
    await run("git", ["clone", "--quiet", root, clone]);
    const env = {
      ...native.env,
      CARGO_HOME: cargoHome(place),
      IMPACT_PLEDGE_CACHE: toolsAlone(cache, place),
      CARGO_TARGET_DIR: undefined,
    };
    await run(process.execPath, [join("scripts", "run.mjs"), "release", "pack"], {
      cwd: clone,
      env,
      show: true,
    });
    compare(dist, join(clone, "dist"));
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** @throws {UserError} unless both folders have the same files with the same bytes, and any at all */
export function compare(first, second) {
  const sums = [first, second].map((folder) =>
    Object.fromEntries(
      readdirSync(folder)
        .sort()
        .map((name) => [name, sha256(join(folder, name))]),
    ),
  );
  const names = [...new Set(sums.flatMap(Object.keys))];
  const differing = names.filter((name) => sums[0][name] !== sums[1][name]);
  if (differing.length > 0 || names.length === 0)
    throw new UserError(
      `two builds of one commit differ: ${differing.join(", ") || "they made nothing"}`,
    );
  for (const name of names) log(`    ${sums[0][name]} = ${sums[1][name]}  ${name}`);
}

/** Another folder for cargo, which unpacks its crates there. What it has downloaded is not fetched twice. */
function cargoHome(place) {
  const [own, home] = [process.env.CARGO_HOME || join(homedir(), ".cargo"), join(place, "cargo")];
  mkdirSync(join(home, "registry"), { recursive: true });
  for (const name of ["cache", "index"].filter((name) => existsSync(join(own, "registry", name))))
    symlinkSync(join(own, "registry", name), join(home, "registry", name), "junction");
  if (existsSync(join(own, "config.toml")))
    cpSync(join(own, "config.toml"), join(home, "config.toml"));
  return home;
}

/** The cache without what was built of the project itself. */
function toolsAlone(cache, place) {
  const fresh = join(place, "cache");
  mkdirSync(fresh);
  for (const name of readdirSync(cache).filter((name) => !["crate", "wasm"].includes(name)))
    symlinkSync(join(cache, name), join(fresh, name), "junction");
  return fresh;
}
