/**
 * Installs Debian's packages on machines that can reach neither rustup's server nor a download of Chromium,
 * such as CI on a closed network. Debian's rustc comes without the standard library for wasm32, so the
 * library is built once from Debian's package of its source.
 */
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { entry } from "../lib/cache.mjs";
import { UserError } from "../lib/output.mjs";
import { find, run, withPath } from "../lib/run.mjs";
import { QUIET_CARGO, WASM, rustOf, stdFolder } from "./toolchain.mjs";

const BIN = "/usr/bin";
const PACKAGES = ["rustc-web", "cargo-web", "rust-web-src", "rust-web-clippy", "rustfmt-web"];
const OPTIONS = [
  "-o",
  "DPkg::Lock::Timeout=300",
  "-o",
  "Acquire::http::Timeout=20",
  "-o",
  "Acquire::Retries=2",
];

/**
 * Installs packages. Needs root, or sudo without a password.
 * @param {string} what the tool that the packages bring, for messages
 * @param {string[]} packages
 * @param {string} remedy what to do if this fails, for the message
 */
export async function installDebian(what, packages, remedy) {
  const [command, ...before] = [
    ...(process.getuid?.() === 0 ? [] : ["sudo", "-n"]),
    "apt-get",
    ...OPTIONS,
  ];
  const aptGet = (...args) =>
    run(command, [...before, ...args], {
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" },
      show: true,
    });
  await aptGet("update").catch(() => {}); // lists may be stale or not there at all: the install fails if that matters
  await aptGet("install", "--yes", "--no-install-recommends", ...packages).catch(({ message }) => {
    throw new UserError(
      `${what} is missing: ${remedy}; Debian's package failed to install: ${message}`,
    );
  });
}

/**
 * Returns Debian's Rust with the standard library that was built for it, or null.
 * @param {import("./tools.mjs").Place} place
 */
export function debianRust({ root, cache }) {
  const debian = rustOf(find("rustc", BIN), root);
  if (!debian || !linker(debian) || !existsSync(builtStd(cache, debian))) return null;
  const flags = [
    process.env.CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS,
    `--sysroot=${builtStd(cache, debian)}`,
  ]
    .filter(Boolean)
    .join(" ");
  return {
    ...debian,
    env: {
      CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER: linker(debian),
      CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS: flags,
    },
  };
}

/** Returns the linker for wasm. Debian's rustc has none, so the linker of its LLVM is used. */
const linker = (debian) => find(`wasm-ld-${llvm(debian)}`, BIN);
const llvm = ({ identity }) => identity.match(/^LLVM version: (\d+)/m)?.[1];
const builtStd = (cache, { identity, release }) =>
  join(
    cache,
    `std-${WASM}-${release}-${createHash("sha256").update(identity).digest("hex").slice(0, 12)}`,
  );

/**
 * Installs Debian's Rust, and builds the standard library for wasm32.
 * @param {import("./tools.mjs").Place} place
 * @param {string} remedy what to do if this fails, for the message
 */
export async function installDebianRust({ root, cache }, remedy) {
  /**
   * @param {import("./toolchain.mjs").Rust | null} debian
   * @returns {debian is import("./toolchain.mjs").Rust}
   */
  const hasAll = (debian) =>
    debian !== null &&
    find("cargo-clippy", BIN) !== null &&
    existsSync(join(debian.sysroot, "lib", "rustlib", "src", "rust", "library"));
  if (!hasAll(rustOf(find("rustc", BIN), root))) await installDebian("Rust", PACKAGES, remedy);
  const debian = rustOf(find("rustc", BIN), root);
  if (!hasAll(debian)) throw new UserError(`Rust is missing: ${remedy}; Debian's Rust is too old`);
  if (!linker(debian))
    await installDebian("the linker for wasm32", [`lld-${llvm(debian)}`], remedy);
  await entry(builtStd(cache, debian), (folder) => buildStd(debian, folder));
}

/**
 * Builds the standard library in an empty crate, and stores it as a separate sysroot. This takes about 80
 * seconds.
 */
async function buildStd({ cargo }, folder) {
  const crate = join(folder, "crate");
  mkdirSync(join(crate, "src"), { recursive: true });
  writeFileSync(
    join(crate, "Cargo.toml"),
    '[package]\nname = "empty"\nversion = "0.0.0"\nedition = "2024"\n\n[workspace]\n',
  );
  writeFileSync(join(crate, "src", "lib.rs"), "#![no_std]\n");
  // The user's flags, wrappers and folders must not change the build.
  const theirs = Object.keys(process.env).filter((name) =>
    /^(CARGO_(?!HOME|HTTP|NET|REGISTR)|RUSTC|RUSTFLAGS|RUSTDOC)/.test(name),
  );
  const env = {
    ...process.env,
    ...Object.fromEntries(theirs.map((name) => [name, undefined])),
    ...QUIET_CARGO,
    RUSTC_BOOTSTRAP: "1",
    CARGO_TARGET_DIR: join(crate, "target"),
  };
  await run(
    cargo,
    ["build", "--release", "--target", WASM, "-Z", "build-std=std,test,panic_abort"],
    { cwd: crate, env: withPath(env, BIN), show: true },
  );
  const built = join(crate, "target", WASM, "release", "deps");
  const libraries = readdirSync(built).filter(
    (name) => name.endsWith(".rlib") && !name.startsWith("libempty-"),
  );
  for (const name of libraries) cpSync(join(built, name), join(stdFolder(folder), name));
  rmSync(crate, { recursive: true });
}
