/**
 * Rust, twice: for native code the user's own `cargo`; for wasm32 the user's own too when it has the target,
 * else Debian's, with a standard library that is built once. A machine without any `cargo` uses Debian's for both.
 */
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { entry } from "./cache.mjs";
import { debianHas, debianWorks, installDebian } from "./debian.mjs";
import { Unavailable, say, tail } from "./report.mjs";
import { ask, run, runnable, which, withPath } from "./run.mjs";

export const WASM = "wasm32-unknown-unknown";
const DEBIAN_BIN = "/usr/bin";
const DEBIAN_PACKAGES = ["rustc-web", "cargo-web", "rust-web-src", "rust-web-clippy", "rustfmt-web"];
const RUSTUP_MS = 90_000; // on a network that swallows packets rustup alone would go on for many minutes

/**
 * @typedef {object} Toolchain
 * @property {string} bin folder of `cargo` and `rustc`
 * @property {string} cargo
 * @property {string} sysroot
 * @property {string} release as in `1.95.0`
 * @property {string} identity what `rustc -vV` prints
 */

/** Every toolchain that is new enough for the crate, the user's own first. @returns {Toolchain[]} */
export function toolchains(root) {
  const home = join(process.env.CARGO_HOME || join(homedir(), ".cargo"), "bin");
  const found = [which("cargo"), which("cargo", home), which("cargo", DEBIAN_BIN)].filter(Boolean);
  const oldest = oldestRust(root);
  return [...new Set(found)].map((cargo) => toolchain(cargo, root)).filter((one) => one && !older(one.release, oldest));
}

function toolchain(cargo, root) {
  const bin = dirname(cargo);
  const sysroot = ask(join(bin, "rustc"), ["--print", "sysroot"], { cwd: root });
  const identity = sysroot && ask(join(sysroot, "bin", "rustc"), ["-vV"]);
  const release = identity?.match(/^release: ([\d.]+)/m)?.[1];
  return release ? { bin, cargo, sysroot, release, identity } : null;
}

/** The crate's `rust-version`, or "0" while it names none. */
function oldestRust(root) {
  return readFileSync(join(root, "Cargo.toml"), "utf8").match(/^rust-version\s*=\s*"([\d.]+)"/m)?.[1] ?? "0";
}

function older(version, than) {
  const [a, b] = [version, than].map((text) => text.split(".").map(Number));
  const at = b.findIndex((part, index) => part !== (a[index] ?? 0));
  return at >= 0 && (a[at] ?? 0) < b[at];
}

/** @param {string} root */
export async function installNative(root) {
  if (debianWorks()) await installDebian("Rust", DEBIAN_PACKAGES);
  if (toolchains(root).length > 0) return;
  const oldest = oldestRust(root);
  throw new Unavailable(`Rust ${oldest} or newer`, "no `cargo` of that age is in PATH", `install it as https://rustup.rs says (or run \`rustup update stable\`), then run this again`);
}

/** Has the toolchain what `cargo fmt` and `cargo clippy` need? @param {Toolchain} one */
export const canLint = (one) => ["cargo-fmt", "cargo-clippy"].every((name) => runnable(join(one.sysroot, "bin", name)));

/** @param {Toolchain} one */
export async function installLint(one, root) {
  const rustup = rustupOf(one);
  if (rustup) await runRustup(rustup, ["component", "add", "clippy", "rustfmt"], root);
  else if (one.bin === DEBIAN_BIN && debianWorks()) await installDebian("clippy and rustfmt", DEBIAN_PACKAGES);
  if (!canLint(one)) throw new Unavailable("clippy and rustfmt", `${one.sysroot} has none`, "run `rustup component add clippy rustfmt`, then this again");
}

const rustupOf = (one) => (one.bin === DEBIAN_BIN ? null : which("rustup", one.bin));

/**
 * The toolchain for wasm32 with the environment that makes plain `cargo --target wasm32-unknown-unknown` work,
 * or null.
 * @param {string} cache @param {Toolchain[]} all
 */
export function wasmToolchain(cache, all) {
  const own = all.find((one) => hasStd(one.sysroot));
  if (own) return { ...own, env: linkerEnv(own) };
  const debian = all.find((one) => one.bin === DEBIAN_BIN);
  if (!debian || !canLint(debian) || !linker(debian) || !hasStd(stdFolder(cache, debian))) return null;
  return { ...debian, env: { ...linkerEnv(debian), ...flagEnv(`--sysroot=${stdFolder(cache, debian)}`) } };
}

const hasStd = (sysroot) => listed(libFolder(sysroot)).some((name) => /^libstd-.*\.rlib$/.test(name));
const libFolder = (sysroot) => join(sysroot, "lib", "rustlib", WASM, "lib");
const stdFolder = (cache, one) => join(cache, `std-${WASM}-${one.release}-${fingerprint(one)}`);

/** Changes with every build of the compiler, even where its version doesn't. */
function fingerprint({ identity, sysroot }) {
  const { size } = statSync(join(sysroot, "bin", "rustc"));
  return createHash("sha256").update(`${identity}\n${size}`).digest("hex").slice(0, 12);
}

function listed(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Debian's rustc brings no linker for wasm; its LLVM's does the work. */
const linker = (one) => which(`wasm-ld-${llvm(one)}`, DEBIAN_BIN);
const llvm = ({ identity }) => identity.match(/^LLVM version: (\d+)/m)?.[1];

function linkerEnv(one) {
  const path = one.bin === DEBIAN_BIN ? linker(one) : null;
  return path ? { CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER: path } : {};
}

function flagEnv(flag) {
  const given = process.env.CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS;
  return { CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS: given ? `${given} ${flag}` : flag };
}

/** @param {{root: string, cache: string}} place */
export async function installWasm({ root, cache }) {
  const rustup = toolchains(root).map(rustupOf).find(Boolean);
  const refusal = rustup ? await addTarget(rustup, root) : "there is no rustup";
  if (wasmToolchain(cache, toolchains(root))) return;
  say(`    ${refusal}; trying Debian's Rust`);
  const remedy = rustup ? `run \`rustup target add ${WASM}\`` : "install rustup as https://rustup.rs says";
  await installDebianWasm({ root, cache }, { refusal, remedy: `${remedy}, then run this again` });
}

async function addTarget(rustup, root) {
  const { why, output } = await runRustup(rustup, ["target", "add", WASM], root);
  return `rustup can't add the target (${output.match(/^error: ([^:\n]+)/m)?.[1] ?? why})`;
}

const runRustup = (rustup, args, root) =>
  run(rustup, args, { cwd: root, env: { ...process.env, RUST_BACKTRACE: "0" }, timeout: RUSTUP_MS, name: "rustup" });

async function installDebianWasm({ root, cache }, ordinary) {
  const debian = await debianToolchain(root, ordinary);
  if (!linker(debian)) await installDebian("the linker for wasm32", [`lld-${llvm(debian)}`]);
  await entry(stdFolder(cache, debian), (folder) => buildStd(debian, folder));
}

async function debianToolchain(root, { refusal, remedy }) {
  const find = () => toolchains(root).find((one) => one.bin === DEBIAN_BIN && canLint(one) && hasSource(one));
  if (!find() && debianWorks()) await installDebian(`Rust for ${WASM}`, DEBIAN_PACKAGES);
  const debian = find();
  if (debian) return debian;
  const why = debianHas("rustc-web") ? "Debian's Rust needs root" : "Debian has none that is new enough";
  throw new Unavailable(`Rust for ${WASM}`, `${refusal}, and ${why}`, remedy);
}

const hasSource = ({ sysroot }) => listed(join(sysroot, "lib", "rustlib", "src", "rust", "library")).length > 0;

/** Builds the standard library in an empty crate, and keeps it as a sysroot of its own. */
async function buildStd(debian, folder) {
  say("    building the standard library for wasm32, about 80 seconds");
  const crate = join(folder, "crate");
  mkdirSync(join(crate, "src"), { recursive: true });
  writeFileSync(join(crate, "Cargo.toml"), '[package]\nname = "empty"\nversion = "0.0.0"\nedition = "2024"\n\n[workspace]\n');
  writeFileSync(join(crate, "src", "lib.rs"), "#![no_std]\n");
  const args = ["build", "--release", "--target", WASM, "-Z", "build-std=std,test,panic_abort"];
  const { ok, why, output } = await run(debian.cargo, args, { cwd: crate, env: stdEnv(crate), name: "cargo" });
  if (!ok) throw new Unavailable(`the standard library for ${WASM}`, `${why}: ${tail(output, 3)}`, "see the lines above");
  keepStd(join(crate, "target", WASM, "release", "deps"), libFolder(folder));
  rmSync(crate, { recursive: true });
}

/** No flag, wrapper or folder of the user's may change what is built. */
function stdEnv(crate) {
  const free = Object.entries(process.env).filter(([name]) => !/^(CARGO_(?!HOME|HTTP|NET|REGISTR)|RUSTC|RUSTFLAGS|RUSTDOC)/.test(name));
  return withPath({ ...Object.fromEntries(free), RUSTC_BOOTSTRAP: "1", CARGO_TARGET_DIR: join(crate, "target") }, DEBIAN_BIN);
}

function keepStd(built, folder) {
  mkdirSync(folder, { recursive: true });
  const libraries = readdirSync(built).filter((name) => name.endsWith(".rlib") && !name.startsWith("libempty-"));
  for (const name of libraries) copyFileSync(join(built, name), join(folder, name));
}
