/**
 * Finds or installs Rust for native code and for wasm32. rustup installs the toolchain in
 * rust-toolchain.toml. Without rustup, or if it fails, ./debian.mjs installs Debian's Rust.
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { entry } from "../lib/cache.mjs";
import { debianRust, installDebianRust } from "./debian.mjs";
import { log } from "../lib/output.mjs";
import { ask, find, run } from "../lib/run.mjs";
import { QUIET_CARGO, WASM, oldest, rustOf, stdFolder } from "./toolchain.mjs";

const BINSTALL_MS = 120_000;
const RUSTUP_MS = 90_000; // on a network that drops packets, rustup would take many minutes to fail
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
 * Whether {@link findRust} has found everything that is needed.
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

/**
 * Lets rustup install the toolchain in rust-toolchain.toml.
 * @returns {Promise<string>} why Rust may still be incomplete
 */
async function byRustup({ root }) {
  const rustup = find("rustup", process.env.PATH, cargoHome);
  if (!rustup) return "rustup is not installed";
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
    return "rustup's toolchain is incomplete";
  } catch ({ message }) {
    return `rustup failed (${message})`;
  }
}

/**
 * Returns the version of wasm-bindgen's command. It must be exactly the version of the crate in Cargo.lock,
 * because the command reads a private format that the crate writes.
 */
export const bindgenVersion = (root) =>
  readFileSync(join(root, "Cargo.lock"), "utf8").match(
    /^name = "wasm-bindgen"\r?\nversion = "(.+)"/m,
  )?.[1] ?? "";
/**
 * Returns the folder of wasm-bindgen's published commands. They include the test runner that `npm test`
 * needs.
 */
const published = ({ root, cache }) => join(cache, `wasm-bindgen-${bindgenVersion(root)}`);
/**
 * Returns the folder of the small wasm-bindgen command in ./bindgen, which compiles in a quarter of the
 * time because it has no test runner.
 */
const small = ({ root, cache }) => join(cache, `wasm-bindgen-small-${bindgenVersion(root)}`);
const complete = (folder) =>
  ["wasm-bindgen", "wasm-bindgen-test-runner"].every((name) => find(name, folder));

/**
 * Returns the folder of `wasm-bindgen`, and of `wasm-bindgen-test-runner` if tests need it; null if they are not
 * installed.
 * @param {import("./tools.mjs").Place} place
 * @param {{tests?: boolean}} needs
 */
export function bindgenFolder(place, { tests = false }) {
  const whole = join(published(place), "bin");
  if (complete(whole)) return whole;
  const own = find("wasm-bindgen");
  const isOfVersion = () =>
    own && ask(own, ["--version"]) === `wasm-bindgen ${bindgenVersion(place.root)}`;
  if (own && complete(dirname(own)) && isOfVersion()) return dirname(own);
  const alone = join(small(place), "bin");
  return !tests && find("wasm-bindgen", alone) ? alone : null;
}

/**
 * Downloads wasm-bindgen's command if cargo-binstall can, otherwise compiles it.
 * @param {import("./tools.mjs").Place} place
 * @param {{cargo: string, env: NodeJS.ProcessEnv}} native
 * @param {{tests?: boolean}} needs
 */
export async function installBindgen(place, native, { tests = false }) {
  if (await downloadBindgen(place, native)) return;
  await (tests ? compilePublished(place, native) : compileSmall(place, native));
}

const install = ({ cargo, env }, folder, args, more = {}) =>
  run(cargo, [...args, "--root", folder], { env: { ...QUIET_CARGO, ...env }, show: true, ...more });

/**
 * Downloads wasm-bindgen's command, if cargo-binstall is installed.
 * @returns {Promise<boolean>} whether the command is there now
 */
async function downloadBindgen(place, native) {
  if (!find("cargo-binstall", native.env.PATH)) return false;
  const args = ["binstall", "--no-confirm", "--disable-strategies", "compile"];
  args.push(`wasm-bindgen-cli@${bindgenVersion(place.root)}`);
  return entry(published(place), async (folder) => {
    await install(native, folder, args, { timeout: BINSTALL_MS });
    if (!complete(join(folder, "bin")))
      throw new Error("cargo-binstall did not install all commands");
  }).then(
    () => true,
    () => false,
  );
}

function compileSmall(place, native) {
  const args = ["install", "--path", join(import.meta.dirname, "bindgen"), "--locked", "--debug"];
  return entry(small(place), (folder) => {
    const target = join(folder, "target");
    const env = { ...native.env, CARGO_TARGET_DIR: target };
    return install({ ...native, env }, folder, args).finally(() =>
      rmSync(target, { recursive: true, force: true }),
    );
  });
}

function compilePublished(place, native) {
  const args = ["install", "wasm-bindgen-cli", "--version", bindgenVersion(place.root)];
  // It runs for seconds: a higher level would take longer to compile than it saves.
  const rust = { ...native, env: { ...native.env, CARGO_PROFILE_RELEASE_OPT_LEVEL: "1" } };
  // With its own lock file if the registry has all of its versions, else with newer ones.
  return entry(published(place), (folder) =>
    install(rust, folder, [...args, "--locked"]).catch(() => install(rust, folder, args)),
  );
}
