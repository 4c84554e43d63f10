/** What the commands begin with: it makes sure that all tools are there and says where. Silent when nothing is missing. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { bindgenFolder, installBindgen } from "./bindgen.mjs";
import { root } from "./bootstrap.mjs";
import { findBrowser, installBrowser } from "./browser.mjs";
import { cacheFolder } from "./cache.mjs";
import { duration, say } from "./report.mjs";
import { withPath } from "./run.mjs";
import { findRust, installRust, rustReady } from "./rust.mjs";

/**
 * @typedef {{root: string, cache: string}} Place the clone, and the folder for what all clones share
 * @typedef {{cargo: string, release: string, env: NodeJS.ProcessEnv}} Cargo
 * @typedef {object} Tools
 * @property {string} root
 * @property {string} cache
 * @property {NodeJS.ProcessEnv} env for any child process
 * @property {Cargo} native
 * @property {Cargo & {targetFolder: string}} wasm for `cargo … --target wasm32-unknown-unknown`, tests in Node included
 * @property {string} bindgen the wasm-bindgen command line
 * @property {string} wrangler its command line, a script for Node
 * @property {string | null} browser a Chromium, where one was asked for
 */

/** @param {{browser?: boolean, lint?: boolean}} [needs] beyond what building takes @returns {Promise<Tools>} */
export async function ready(needs = {}) {
  const place = { root, cache: cacheFolder() };
  mkdirSync(place.cache, { recursive: true });
  await install(parts(place, needs));
  const { native, wasm } = findRust(place);
  const bindgen = bindgenFolder(place);
  const quiet = { WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false", WRANGLER_HIDE_BANNER: "true" };
  const env = withPath({ ...process.env, ...quiet }, packages, bindgen);
  // A target folder of its own: two compilers that share one would rebuild each other's work.
  const targetFolder = join(process.env.CARGO_TARGET_DIR || join(root, "target"), "wasm");
  const forWasm = { CARGO_TARGET_DIR: targetFolder, CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER: join(bindgen, "wasm-bindgen-test-runner") };
  return {
    ...place,
    env,
    native: withEnv(native, env),
    wasm: { ...withEnv(wasm, { ...env, ...wasm.env, ...forWasm }), targetFolder },
    bindgen: join(bindgen, "wasm-bindgen"),
    wrangler: join(root, "node_modules", "wrangler", "bin", "wrangler.js"),
    browser: needs.browser ? await findBrowser() : null,
  };
}

const packages = join(root, "node_modules", ".bin");

/** The toolchain's programs are found first, but for `node`: Debian's cargo lies beside an old one. */
const withEnv = (rust, env) => ({ ...rust, env: withPath(env, packages, rust.bin) });

/** What must be there: how to see it, how to get it, and what getting it takes. */
function parts(place, needs) {
  const native = () => withEnv(findRust(place).native, process.env);
  return [
    { name: "Rust", takes: "a minute with rustup, else 4", there: () => rustReady(place, needs), get: () => installRust(place, needs) },
    { name: "wasm-bindgen", takes: "5 minutes", there: () => bindgenFolder(place), get: () => installBindgen(place, native()) },
    { name: "Chromium", takes: "a minute", there: () => !needs.browser || findBrowser(), get: () => installBrowser(place) },
  ];
}

async function install(all) {
  const missing = [];
  for (const part of all) if (!(await part.there())) missing.push(part);
  const started = Date.now();
  for (const [index, { name, takes, get }] of missing.entries()) {
    say(`set-up [${index + 1}/${missing.length}] ${name}: getting it, about ${takes}`);
    await get();
  }
  if (missing.length > 0) say(`set-up: done in ${duration(Date.now() - started)}`);
}
