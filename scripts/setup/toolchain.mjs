/** Finds Rust toolchains on this machine. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ask, find } from "../lib/run.mjs";

/**
 * Makes cargo print only the errors and warnings of the code. Otherwise, a first build would also list the 120
 * crates that it downloads and compiles.
 */
export const QUIET_CARGO = { CARGO_TERM_QUIET: "true" };

export const WASM = "wasm32-unknown-unknown";

/** `identity`: what `rustc -vV` prints. @typedef {{bin: string, cargo: string, sysroot: string, release: string, identity: string, env?: NodeJS.ProcessEnv}} Rust */

/**
 * Returns the toolchain to which a `rustc` belongs. Returns null if there is no `rustc`, or if its release is
 * too old for the crate. Uses the toolchain's own `cargo`, because rustup's `cargo` searches for everything
 * that rust-toolchain.toml names, and fails if it can't download what is missing.
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
