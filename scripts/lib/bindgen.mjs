/** The wasm-bindgen command line, in exactly the version of the crate in Cargo.lock: they share a private format. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { entry } from "./cache.mjs";
import { ask, find, run } from "./run.mjs";

const BINSTALL_MS = 120_000;

/** @param {string} root */
export const bindgenVersion = (root) => readFileSync(join(root, "Cargo.lock"), "utf8").match(/^name = "wasm-bindgen"\r?\nversion = "(.+)"/m)[1];

const cached = ({ root, cache }) => join(cache, `wasm-bindgen-${bindgenVersion(root)}`);
const complete = (folder) => ["wasm-bindgen", "wasm-bindgen-test-runner"].every((name) => find(name, folder));

/** The folder of `wasm-bindgen` and `wasm-bindgen-test-runner`, or null. @param {import("./ready.mjs").Place} place */
export function bindgenFolder(place) {
  const cachedFolder = join(cached(place), "bin");
  if (complete(cachedFolder)) return cachedFolder;
  const own = find("wasm-bindgen");
  return own && complete(dirname(own)) && ask(own, ["--version"]) === `wasm-bindgen ${bindgenVersion(place.root)}` ? dirname(own) : null;
}

/** @param {import("./ready.mjs").Place} place @param {{cargo: string, env: NodeJS.ProcessEnv}} native */
export async function installBindgen(place, { cargo, env }) {
  const version = bindgenVersion(place.root);
  await entry(cached(place), async (folder) => {
    const install = (args, timeout) => run(cargo, [...args, "--root", folder], { env, timeout, show: true });
    const compile = (...more) => install(["install", "wasm-bindgen-cli", "--version", version, ...more]);
    if (find("cargo-binstall", env.PATH)) await install(["binstall", "--no-confirm", "--disable-strategies", "compile", `wasm-bindgen-cli@${version}`], BINSTALL_MS).catch(() => {});
    // With the lock file of its own where the registry has all of it, else with what it has.
    if (!complete(join(folder, "bin"))) await compile("--locked").catch(() => compile());
  });
}
