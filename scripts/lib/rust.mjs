/**
 * Rust for native code and for wasm32. The usual way is rustup, which adds what rust-toolchain.toml names; where it
 * cannot, and where there is none, ./closed.mjs takes Debian's.
 */
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { debianRust, installDebianRust } from "./closed.mjs";
import { Stop, say } from "./report.mjs";
import { ask, find, run } from "./run.mjs";

export const WASM = "wasm32-unknown-unknown";
const RUSTUP_MS = 90_000; // on a network that swallows packets rustup alone would go on for many minutes
const cargoHome = join(process.env.CARGO_HOME || join(homedir(), ".cargo"), "bin");

/**
 * @typedef {object} Rust
 * @property {string} bin folder of `cargo` and `rustc`
 * @property {string} cargo
 * @property {string} sysroot
 * @property {string} release as in `1.95.0`
 * @property {string} identity what `rustc -vV` prints
 * @property {NodeJS.ProcessEnv} [env] what `cargo --target wasm32-unknown-unknown` needs besides
 */

/**
 * The toolchain of a `rustc`, or null where it is not there or too old for the crate. Its own `cargo` is used, not
 * rustup's: that would look for all that rust-toolchain.toml names, and stop where it can't fetch what is missing.
 * @param {string | null} rustc @param {string} root @returns {Rust | null}
 */
export function rustOf(rustc, root) {
  const sysroot = rustc && ask(rustc, ["--print", "sysroot"], { cwd: root, env: { RUSTUP_AUTO_INSTALL: "0" } });
  const cargo = sysroot && find("cargo", join(sysroot, "bin"), dirname(rustc));
  const identity = cargo && ask(find("rustc", dirname(cargo)) ?? rustc, ["-vV"]);
  const release = identity?.match(/^release: ([\d.]+)/m)?.[1];
  return release && minor(release) >= minor(oldest(root)) ? { bin: dirname(cargo), cargo, sysroot, release, identity } : null;
}

const minor = (version) => Number(version.split(".")[1]);
const oldest = (root) => readFileSync(join(root, "Cargo.toml"), "utf8").match(/^rust-version = "(.+)"/m)[1];

/** @param {import("./ready.mjs").Place} place @returns {{native: Rust | null, wasm: Rust | null}} */
export function findRust({ root, cache }) {
  const own = rustOf(find("rustc", process.env.PATH, cargoHome), root);
  if (own && existsSync(stdFolder(own.sysroot))) return { native: own, wasm: own };
  return { native: own ?? rustOf(find("rustc", "/usr/bin"), root), wasm: debianRust({ root, cache }) };
}

export const stdFolder = (sysroot) => join(sysroot, "lib", "rustlib", WASM, "lib");

/** @param {import("./ready.mjs").Place} place @param {{lint?: boolean}} needs */
export function rustReady(place, { lint }) {
  const canLint = ({ bin, sysroot }) => ["cargo-fmt", "cargo-clippy"].every((name) => find(name, bin, join(sysroot, "bin")));
  const { native, wasm } = findRust(place);
  return Boolean(native && wasm && (!lint || [native, wasm].every(canLint)));
}

/** @param {import("./ready.mjs").Place} place @param {{lint?: boolean}} needs */
export async function installRust(place, needs) {
  const refusal = await byRustup(place);
  if (rustReady(place, needs)) return;
  say(`    ${refusal}; trying Debian's Rust`);
  const remedy = `${refusal}; install Rust ${oldest(place.root)} or newer as https://rustup.rs says, with the target ${WASM}, clippy and rustfmt, then run this again`;
  await installDebianRust(place, remedy);
  if (!rustReady(place, needs)) throw new Stop(`Rust can't be had: ${remedy}`);
}

/** @returns {Promise<string>} why what it added is not enough */
async function byRustup({ root }) {
  const rustup = find("rustup", process.env.PATH, cargoHome);
  if (!rustup) return "there is no rustup";
  const isThere = rustOf(find("rustc", dirname(rustup)), root) !== null;
  const wanted = isThere ? [["target", "add", WASM], ["component", "add", "clippy", "rustfmt"]] : [["toolchain", "install", "stable", "--target", WASM]];
  try {
    for (const args of wanted) await run(rustup, args, { cwd: root, env: { ...process.env, RUSTUP_AUTO_INSTALL: "0", RUST_BACKTRACE: "0" }, timeout: RUSTUP_MS, show: true });
    return "what rustup has is not enough";
  } catch ({ message }) {
    return `rustup failed (${message})`;
  }
}
