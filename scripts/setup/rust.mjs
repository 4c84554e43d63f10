/**
 * Rust for native code and for wasm32. The usual way is rustup, which adds what rust-toolchain.toml names; where it cannot,
 * and where there is none, ./debian.mjs takes Debian's.
 */
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { entry } from "../lib/cache.mjs";
import { debianRust, installDebianRust } from "./debian.mjs";
import { log } from "../lib/output.mjs";
import { ask, find, run } from "../lib/run.mjs";
import { WASM, oldest, rustOf, stdFolder } from "./toolchain.mjs";

const BINSTALL_MS = 120_000;
const RUSTUP_MS = 90_000; // on a network that swallows packets rustup alone would go on for many minutes
const cargoHome = join(process.env.CARGO_HOME || join(homedir(), ".cargo"), "bin");

/**
 * @param {import("./tools.mjs").Place} place
 * @returns {{native: import("./toolchain.mjs").Rust | null, wasm: import("./toolchain.mjs").Rust | null}}
 */
export function findRust(place) {
  const own = rustOf(find("rustc", process.env.PATH, cargoHome), place.root);
  if (own && existsSync(stdFolder(own.sysroot))) return { native: own, wasm: own };
  return { native: own ?? rustOf(find("rustc", "/usr/bin"), place.root), wasm: debianRust(place) };
}

/**
 * Is what {@link findRust} found enough?
 * @param {ReturnType<typeof findRust>} found
 * @param {{lint?: boolean}} needs
 */
export function rustReady(found, { lint = false }) {
  const canLint = ({ bin, sysroot }) =>
    ["cargo-fmt", "cargo-clippy"].every((name) => find(name, bin, join(sysroot, "bin")));
  return Object.values(found).every((rust) => rust && (!lint || canLint(rust)));
}

/** @param {import("./tools.mjs").Place} place @param {{lint?: boolean}} needs */
export async function installRust(place, needs) {
  const refusal = await byRustup(place);
  if (rustReady(findRust(place), needs)) return;
  log(`    ${refusal}; trying Debian's Rust`);
  const remedy = `${refusal}; install Rust ${oldest(place.root)} or newer as https://rustup.rs says, with the target ${WASM}, clippy and rustfmt, then run this again`;
  await installDebianRust(place, remedy);
}

/** @returns {Promise<string>} why what it added is not enough */
async function byRustup({ root }) {
  const rustup = find("rustup", process.env.PATH, cargoHome);
  if (!rustup) return "there is no rustup";
  const wanted = rustOf(find("rustc", dirname(rustup)), root)
    ? [
        ["target", "add", WASM],
        ["component", "add", "clippy", "rustfmt"],
      ]
    : [["toolchain", "install", "stable", "--target", WASM]];
  const options = {
    cwd: root,
    env: { ...process.env, RUSTUP_AUTO_INSTALL: "0", RUST_BACKTRACE: "0" },
    timeout: RUSTUP_MS,
    show: true,
  };
  try {
    for (const args of wanted) await run(rustup, args, options);
    return "what rustup has is not enough";
  } catch ({ message }) {
    return `rustup failed (${message})`;
  }
}

/**
 * wasm-bindgen comes in exactly the version of the crate in Cargo.lock: they share a private
 * format.
 */
export const bindgenVersion = (root) =>
  readFileSync(join(root, "Cargo.lock"), "utf8").match(
    /^name = "wasm-bindgen"\r?\nversion = "(.+)"/m,
  )?.[1] ?? "";
const cached = ({ root, cache }) => join(cache, `wasm-bindgen-${bindgenVersion(root)}`);
const complete = (folder) =>
  ["wasm-bindgen", "wasm-bindgen-test-runner"].every((name) => find(name, folder));

/** The folder of `wasm-bindgen` and `wasm-bindgen-test-runner`, or null. @param {import("./tools.mjs").Place} place */
export function bindgenFolder(place) {
  const cachedFolder = join(cached(place), "bin");
  if (complete(cachedFolder)) return cachedFolder;
  const own = find("wasm-bindgen");
  return own &&
    complete(dirname(own)) &&
    ask(own, ["--version"]) === `wasm-bindgen ${bindgenVersion(place.root)}`
    ? dirname(own)
    : null;
}

/**
 * @param {import("./tools.mjs").Place} place
 * @param {{cargo: string, env: NodeJS.ProcessEnv}} native
 */
export async function installBindgen(place, { cargo, env }) {
  const version = bindgenVersion(place.root);
  await entry(cached(place), async (folder) => {
    const install = (args, timeout) =>
      run(cargo, [...args, "--root", folder], { env, timeout, show: true });
    const compile = (...more) =>
      install(["install", "wasm-bindgen-cli", "--version", version, ...more]);
    if (find("cargo-binstall", env.PATH))
      await install(
        [
          "binstall",
          "--no-confirm",
          "--disable-strategies",
          "compile",
          `wasm-bindgen-cli@${version}`,
        ],
        BINSTALL_MS,
      ).catch(() => {});
    // With the lock file of its own where the registry has all of it, else with what it has.
    if (!complete(join(folder, "bin"))) await compile("--locked").catch(() => compile());
  });
}
