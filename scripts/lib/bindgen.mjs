/** The wasm-bindgen command line, in exactly the version of the crate in Cargo.lock: they share a private format. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { entry } from "./cache.mjs";
import { Unavailable, say, tail } from "./report.mjs";
import { ask, run, runnable, which } from "./run.mjs";

const BINSTALL_MS = 120_000;

/** @param {string} root */
export function bindgenVersion(root) {
  const version = lockFile(root).match(/^name = "wasm-bindgen"\nversion = "([^"]+)"/m)?.[1];
  if (version) return version;
  throw new Unavailable("wasm-bindgen", "Cargo.lock names no version of it", "restore the committed Cargo.lock");
}

function lockFile(root) {
  try {
    return readFileSync(join(root, "Cargo.lock"), "utf8").replaceAll("\r\n", "\n");
  } catch {
    throw new Unavailable("wasm-bindgen", "there is no Cargo.lock to name its version", "restore the committed Cargo.lock");
  }
}

/** The folder of `wasm-bindgen` and `wasm-bindgen-test-runner`, or null. @param {{root: string, cache: string}} place */
export function bindgenFolder({ root, cache }) {
  const version = bindgenVersion(root);
  const cached = join(cacheEntry(cache, version), "bin");
  if (complete(cached)) return cached;
  const own = which("wasm-bindgen");
  const matches = own && complete(dirname(own)) && ask(own, ["--version"]) === `wasm-bindgen ${version}`;
  return matches ? dirname(own) : null;
}

const cacheEntry = (cache, version) => join(cache, `wasm-bindgen-${version}`);
const complete = (folder) => ["wasm-bindgen", "wasm-bindgen-test-runner"].every((name) => which(name, folder));

/**
 * @param {{root: string, cache: string}} place
 * @param {{cargo: string, env: NodeJS.ProcessEnv}} native
 */
export async function installBindgen({ root, cache }, native) {
  const version = bindgenVersion(root);
  await entry(cacheEntry(cache, version), async (folder) => {
    if (await prebuilt(version, folder, native)) return;
    await compile(version, folder, native);
  });
}

async function prebuilt(version, folder, { cargo, env }) {
  if (!runnable(join(dirname(cargo), "cargo-binstall")) && !which("cargo-binstall", env.PATH)) return false;
  const args = ["binstall", "--no-confirm", "--disable-strategies", "compile", "--root", folder, `wasm-bindgen-cli@${version}`];
  const { ok } = await run(cargo, args, { env, timeout: BINSTALL_MS, name: "cargo binstall" });
  return ok && complete(join(folder, "bin"));
}

/** With the crate's own lock file where the registry has all of it, else with what it has. */
async function compile(version, folder, { cargo, env }) {
  say("    compiling it, 3 to 5 minutes on two cores");
  const args = ["install", "wasm-bindgen-cli", "--version", version, "--root", folder];
  const first = await run(cargo, [...args, "--locked"], { env, name: "cargo install" });
  if (first.ok) return;
  const { ok, why, output } = await run(cargo, args, { env, name: "cargo install" });
  if (!ok) throw new Unavailable(`wasm-bindgen ${version}`, `${why}: ${tail(output, 3)}`, `run \`cargo install wasm-bindgen-cli --version ${version}\` to see more`);
}
