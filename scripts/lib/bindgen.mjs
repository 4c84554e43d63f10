/** The wasm-bindgen command line, in exactly the version of the crate in Cargo.lock: they share a private format. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { entry } from "./cache.mjs";
import { Stop } from "./report.mjs";
import { ask, find, run } from "./run.mjs";

const BINSTALL_MS = 120_000;

/** @param {string} root */
export function bindgenVersion(root) {
  const version = readFileSync(join(root, "Cargo.lock"), "utf8").match(/^name = "wasm-bindgen"\r?\nversion = "(.+)"/m)?.[1];
  if (!version) throw new Stop("Cargo.lock names no version of wasm-bindgen: restore the committed one");
  return version;
}

const cached = ({ root, cache }) => join(cache, `wasm-bindgen-${bindgenVersion(root)}`);
const complete = (folder) => ["wasm-bindgen", "wasm-bindgen-test-runner"].every((name) => find(name, folder));

/** The folder of `wasm-bindgen` and `wasm-bindgen-test-runner`, or null. @param {import("./ready.mjs").Place} place */
export function bindgenFolder(place) {
  const own = find("wasm-bindgen");
  const folders = [join(cached(place), "bin"), ...(own ? [dirname(own)] : [])];
  return folders.find((folder) => complete(folder) && ask(join(folder, "wasm-bindgen"), ["--version"]) === `wasm-bindgen ${bindgenVersion(place.root)}`) ?? null;
}

/** @param {import("./ready.mjs").Place} place @param {import("./rust.mjs").Rust} rust @param {(line: string) => void} tell */
export async function installBindgen(place, { cargo, bin }, env, tell) {
  const version = bindgenVersion(place.root);
  await entry(cached(place), async (folder) => {
    const cargoRun = (args, timeout) => run(cargo, [...args, "--root", folder], { env, timeout, tell });
    const prebuilt = () => cargoRun(["binstall", "--no-confirm", "--disable-strategies", "compile", `wasm-bindgen-cli@${version}`], BINSTALL_MS);
    const compiled = (...more) => cargoRun(["install", "wasm-bindgen-cli", "--version", version, ...more]);
    if (find("cargo-binstall", bin, env.PATH)) await prebuilt().catch(() => {});
    // With the lock file of its own where the registry has all of it, else with what it has.
    if (!complete(join(folder, "bin"))) await compiled("--locked").catch(() => compiled());
  });
}
