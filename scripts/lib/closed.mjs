/**
 * Only for machines that reach neither rustup's server nor a download of Chromium, but Debian's packages: CI on a closed
 * network, say. Debian's rustc comes without a standard library for wasm32, but with its source: it is built once.
 */
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { entry } from "./cache.mjs";
import { Unavailable } from "./report.mjs";
import { find, run, withPath } from "./run.mjs";
import { WASM, rustOf, stdFolder } from "./rust.mjs";

const BIN = "/usr/bin";
const PACKAGES = ["rustc-web", "cargo-web", "rust-web-src", "rust-web-clippy", "rustfmt-web"];
const OPTIONS = ["-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::http::Timeout=20", "-o", "Acquire::Retries=2"];

/**
 * Needs root, or a sudo that asks nothing.
 * @param {string} what the tool that the packages bring, for messages
 * @param {string[]} packages @param {string} remedy where this fails
 * @param {(line: string) => void} [tell]
 */
export async function installDebian(what, packages, remedy, tell) {
  const [command, ...before] = [...(process.getuid?.() === 0 ? [] : ["sudo", "-n"]), "apt-get", ...OPTIONS];
  const aptGet = (...args) => run(command, [...before, ...args], { env: { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" }, tell });
  await aptGet("update").catch(() => {}); // lists may be stale or not there at all: the install tells if that matters
  try {
    await aptGet("install", "--yes", "--no-install-recommends", ...packages);
  } catch (error) {
    throw new Unavailable(what, error.message, remedy);
  }
}

/** Debian's Rust with the standard library that was built for it, or null. @param {import("./ready.mjs").Place} place */
export function debianRust({ root, cache }) {
  const debian = rustOf(find("rustc", BIN), root);
  if (!debian || !linker(debian) || !existsSync(builtStd(cache, debian))) return null;
  const flags = [process.env.CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS, `--sysroot=${builtStd(cache, debian)}`];
  return { ...debian, env: { CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER: linker(debian), CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS: flags.filter(Boolean).join(" ") } };
}

/** Debian's rustc brings no linker for wasm; its LLVM's does the work. */
const linker = (debian) => find(`wasm-ld-${llvm(debian)}`, BIN);
const llvm = ({ identity }) => identity.match(/^LLVM version: (\d+)/m)?.[1];

/** Another one for every build of the compiler, even where its version stays. */
function builtStd(cache, { identity, release, sysroot }) {
  const fingerprint = createHash("sha256").update(`${identity}\n${statSync(join(sysroot, "bin", "rustc")).size}`).digest("hex");
  return join(cache, `std-${WASM}-${release}-${fingerprint.slice(0, 12)}`);
}

/** @param {import("./ready.mjs").Place} place @param {{refusal: string, remedy: string}} ordinary what was tried before */
export async function installDebianRust({ root, cache }, { refusal, remedy }, tell) {
  const what = `Rust for ${WASM}`;
  const complete = () => {
    const debian = rustOf(find("rustc", BIN), root);
    return debian && find("cargo-clippy", BIN) && existsSync(join(debian.sysroot, "lib", "rustlib", "src", "rust", "library")) ? debian : null;
  };
  if (!complete()) await installDebian(what, PACKAGES, remedy, tell);
  const debian = complete();
  if (!debian) throw new Unavailable(what, `${refusal}, and Debian's is too old`, remedy);
  if (!linker(debian)) await installDebian("the linker for wasm32", [`lld-${llvm(debian)}`], remedy, tell);
  await entry(builtStd(cache, debian), (folder) => buildStd(debian, folder, tell));
}

/** Builds the standard library in an empty crate, about 80 seconds, and keeps it as a sysroot of its own. */
async function buildStd(debian, folder, tell) {
  const crate = join(folder, "crate");
  mkdirSync(join(crate, "src"), { recursive: true });
  writeFileSync(join(crate, "Cargo.toml"), '[package]\nname = "empty"\nversion = "0.0.0"\nedition = "2024"\n\n[workspace]\n');
  writeFileSync(join(crate, "src", "lib.rs"), "#![no_std]\n");
  await run(debian.cargo, ["build", "--release", "--target", WASM, "-Z", "build-std=std,test,panic_abort"], { cwd: crate, env: stdEnv(crate), tell });
  const [built, kept] = [join(crate, "target", WASM, "release", "deps"), stdFolder(folder)];
  mkdirSync(kept, { recursive: true });
  for (const name of readdirSync(built).filter((name) => name.endsWith(".rlib") && !name.startsWith("libempty-"))) copyFileSync(join(built, name), join(kept, name));
  rmSync(crate, { recursive: true });
}

/** No flag, wrapper or folder of the user's may change what is built. */
function stdEnv(crate) {
  const theirs = Object.keys(process.env).filter((name) => /^(CARGO_(?!HOME|HTTP|NET|REGISTR)|RUSTC|RUSTFLAGS|RUSTDOC)/.test(name));
  const none = Object.fromEntries(theirs.map((name) => [name, undefined]));
  return withPath({ ...process.env, ...none, RUSTC_BOOTSTRAP: "1", CARGO_TARGET_DIR: join(crate, "target") }, BIN);
}
