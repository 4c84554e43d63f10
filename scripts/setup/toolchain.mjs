/** Finds Rust toolchains on this machine. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ask, find } from "../lib/run.mjs";

/** Environment in which cargo prints errors and warnings of the code only: a first build downloads and compiles 120 crates. */
export const QUIET_CARGO = { CARGO_TERM_QUIET: "true" };

export const WASM = "wasm32-unknown-unknown";

/** `identity`: what `rustc -vV` prints. @typedef {{bin: string, cargo: string, sysroot: string, release: string, identity: string, env?: NodeJS.ProcessEnv}} Rust */

/**
 * Returns the toolchain to which a `rustc` belongs. Returns null if there is no `rustc`, or if its release is
 * too old for the crate. Uses the toolchain's own `cargo`. rustup's `cargo` would search for everything that
 * rust-toolchain.toml names, and fail if it can't download what is missing.
 * @param {string | null} rustc @param {string} root @returns {Rust | null}
 */
export function rustOf(rustc, root) {
  if (!rustc) return null;
  const sysroot = ask(rustc, ["--print", "sysroot"], {
    cwd: root,
    env: { RUSTUP_AUTO_INSTALL: "0" },
  });
  const cargo = sysroot && find("cargo", join(sysroot, "bin"), dirname(rustc));
  const identity = (cargo && ask(find("rustc", dirname(cargo)) ?? rustc, ["-vV"])) || "";
  const release = identity.match(/^release: ([\d.]+)/m)?.[1];
  return sysroot && cargo && release && minor(release) >= minor(oldest(root))
    ? { bin: dirname(cargo), cargo, sysroot, release, identity }
    : null;
}

const minor = (version) => Number(version.split(".")[1]);

/** Returns the version of the oldest Rust that compiles the crate. */
export const oldest = (root) =>
  readFileSync(join(root, "Cargo.toml"), "utf8").match(/^rust-version = "(.+)"/m)?.[1] ?? "";

export const stdFolder = (sysroot) => join(sysroot, "lib", "rustlib", WASM, "lib");
