/**
 * Installs missing tools, and returns the paths of all tools. This is the first step of each command. Prints nothing
 * if no tool is missing.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { QUIET, root, wrangler } from "../lib/places.mjs";
import { findBrowser, installBrowser } from "./browser.mjs";
import { cacheFolder } from "../lib/cache.mjs";
import { UserError, duration, log } from "../lib/output.mjs";
import { withPath } from "../lib/run.mjs";
import { bindgenFolder, findRust, installBindgen, installRust, rustReady } from "./rust.mjs";

/**
 * The tools of a clone. `root` and `project`: the clone's folder; `cache`: the folder that all clones share;
 * `env`: the environment of child processes; `native`: cargo for this machine; `wasm`: cargo for
 * wasm32-unknown-unknown, also for tests in Node; `bindgen` and `browser`: paths of programs; `wrangler`: the
 * path of a script for Node.
 * @typedef {import("./toolchain.mjs").Rust} Rust
 * @typedef {{root: string, cache: string}} Place
 * @typedef {{cargo: string, release: string, env: NodeJS.ProcessEnv}} Cargo
 * @typedef {Place & {project: string, env: NodeJS.ProcessEnv, native: Cargo, wasm: Cargo & {targetFolder: string}, bindgen: string, wrangler: string, browser: string | null}} Tools
 */

/**
 * The tools that a command needs. `tests`: the test runner for wasm; `meanwhile`: work that does not need
 * wasm-bindgen's command, and runs while that command is compiled.
 * @typedef {{browser?: boolean, lint?: boolean, tests?: boolean, meanwhile?: (tools: Tools) => Promise<void>}} Needs
 */

/**
 * Installs missing tools, and returns the paths of all tools.
 * @param {Needs} [needs] the tools that are needed in addition to those for building
 * @returns {Promise<Tools>}
 */
export async function prepareTools(needs = {}) {
  const place = { root, cache: cacheFolder() };
  mkdirSync(place.cache, { recursive: true });
  const { native, wasm, bindgen } = await install(place, needs);
  const tools = toolsOf(place, native, wasm, bindgen);
  return { ...tools, browser: needs.browser ? await findBrowser() : null };
}

/**
 * Returns the paths and environments of the tools.
 * @param {Place} place
 * @param {Rust} native
 * @param {Rust} wasm
 * @param {string} bindgen the folder of wasm-bindgen's commands
 * @returns {Tools}
 */
function toolsOf(place, native, wasm, bindgen) {
  const env = withPath({ ...process.env, ...QUIET }, packages, bindgen);
  // Its own target folder: two compilers that share one would rebuild each other's work.
  const targetFolder = join(process.env.CARGO_TARGET_DIR || join(root, "target"), "wasm");
  const forWasm = {
    CARGO_TARGET_DIR: targetFolder,
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER: join(bindgen, "wasm-bindgen-test-runner"),
  };
  return {
    ...place,
    project: root,
    env,
    native: withEnv(native, env),
    wasm: { ...withEnv(wasm, { ...env, ...wasm.env, ...forWasm }), targetFolder },
    bindgen: join(bindgen, "wasm-bindgen"),
    wrangler,
    browser: null,
  };
}

const packages = join(root, "node_modules", ".bin");
/**
 * Puts the toolchain's programs first in PATH. The `node` that runs stays the same, although the folder of
 * Debian's cargo contains an old one.
 */
/** @param {Rust} rust @param {NodeJS.ProcessEnv} env */
const withEnv = (rust, env) => ({ ...rust, env: withPath(env, packages, rust.bin) });

/**
 * Installs the missing tools.
 * @param {Place} place
 * @param {Needs} needs
 * @returns {Promise<{native: Rust, wasm: Rust, bindgen: string}>}
 */
async function install(place, needs) {
  let rust = findRust(place);
  const all = [
    {
      name: "Rust",
      isThere: () => rustReady(rust, needs),
      takes: "1 minute with rustup, otherwise 4 minutes",
      get: () => installRust(place, needs),
    },
    {
      name: "wasm-bindgen",
      isThere: () => bindgenFolder(place, needs),
      takes: needs.tests ? "5 minutes" : "a minute",
      get: () => getBindgen(place, rust, needs),
    },
    {
      name: "Chromium",
      isThere: () => !needs.browser || findBrowser(),
      takes: "a minute",
      get: () => installBrowser(place),
    },
  ];
  const started = Date.now();
  const missing = [];
  for (const part of all) if (!(await part.isThere())) missing.push(part);
  for (const [index, { name, takes, get }] of missing.entries()) {
    log(`set-up [${index + 1}/${missing.length}] ${name}: installing, about ${takes}`);
    await get();
    rust = findRust(place);
  }
  if (missing.length > 0) log(`set-up: done in ${duration(Date.now() - started)}`);
  const bindgen = bindgenFolder(place, needs);
  const { native, wasm } = rust;
  if (!native || !wasm || !bindgen)
    throw new UserError("tools were installed, but cannot be found: run `npm run setup` again");
  return { native, wasm, bindgen };
}

/**
 * Installs wasm-bindgen's command, and runs `needs.meanwhile` at the same time, because compiling the command
 * leaves a core idle at the end.
 * @param {Place} place @param {{native: Rust | null, wasm: Rust | null}} rust @param {Needs} needs
 */
async function getBindgen(place, { native, wasm }, needs) {
  if (!native || !wasm) return; // reported when all tools are looked for again
  const tools = toolsOf(place, native, wasm, "");
  await Promise.all([
    installBindgen(place, withEnv(native, process.env), needs),
    needs.meanwhile?.(tools),
  ]);
}
