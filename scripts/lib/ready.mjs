/**
 * What every entry script begins with: it makes sure that all tools are there and tells where. Silent and quick
 * when nothing is missing. Imports Node's own modules only, because a fresh clone has no others.
 */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bindgenFolder, installBindgen } from "./bindgen.mjs";
import { findBrowser, findDriver, installBrowser } from "./browser.mjs";
import { cacheFolder } from "./cache.mjs";
import { cachedNode, handOver, installNode, nodeIsNewEnough } from "./node.mjs";
import { installPackages, packagesReady } from "./packages.mjs";
import { duration, say, stop } from "./report.mjs";
import { runnable, withPath } from "./run.mjs";
import { canLint, installLint, installNative, installWasm, toolchains, wasmToolchain } from "./rust.mjs";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/**
 * @typedef {object} Tools
 * @property {string} root the clone
 * @property {string} cache
 * @property {NodeJS.ProcessEnv} env for any child process
 * @property {{cargo: string, release: string, env: NodeJS.ProcessEnv}} native
 * @property {{cargo: string, release: string, env: NodeJS.ProcessEnv, targetFolder: string}} wasm for
 *   `cargo … --target wasm32-unknown-unknown`, tests in Node included
 * @property {string} bindgen the wasm-bindgen command line
 * @property {string | null} browser a Chromium
 * @property {string | null} driver its WebDriver, where there is one
 * @property {(name: string) => string} bin a command of the npm packages
 */

/**
 * @param {{browser?: boolean, lint?: boolean}} [needs] beyond what building takes
 * @returns {Promise<Tools>}
 */
export async function ready(needs = {}) {
  try {
    return await makeReady({ root, cache: cacheFolder() }, needs);
  } catch (error) {
    return stop(error);
  }
}

async function makeReady(place, needs) {
  mkdirSync(place.cache, { recursive: true });
  const node = cachedNode(place.cache).path;
  if (!nodeIsNewEnough() && runnable(node)) return handOver(node);
  await install(parts(place, needs));
  return nodeIsNewEnough() ? resolved(place) : handOver(node);
}

/** What must be there: how to see it, how to get it, and what getting it takes. */
function parts(place, needs) {
  const { cache } = place;
  const all = () => toolchains(root);
  return [
    { name: "Node", takes: "10 seconds", there: () => nodeIsNewEnough() || runnable(cachedNode(cache).path), get: () => installNode(cache) },
    { name: "npm packages", takes: "20 seconds", there: () => packagesReady(root), get: () => installPackages(place) },
    { name: "Rust", takes: "a minute", there: () => all().length > 0, get: () => installNative(root) },
    needs.lint && { name: "clippy and rustfmt", takes: "20 seconds", there: () => all().slice(0, 1).some(canLint), get: () => installLint(all()[0], root) },
    { name: "Rust for wasm32", takes: "10 seconds with rustup, else 3 minutes", there: () => wasmToolchain(cache, all()) !== null, get: () => installWasm(place) },
    { name: "wasm-bindgen", takes: "5 minutes", there: () => bindgenFolder(place) !== null, get: () => installBindgen(place, native(all()[0])) },
    needs.browser && { name: "Chromium", takes: "a minute", there: () => findBrowser(cache) !== null, get: () => installBrowser(place) },
  ].filter(Boolean);
}

async function install(all) {
  const missing = all.filter((part) => !part.there());
  if (missing.length === 0) return;
  say(`set-up: ${missing.length} of ${all.length} tools are missing: ${missing.map(({ name }) => name).join(", ")}`);
  const started = Date.now();
  for (const [index, part] of missing.entries()) await obtain(part, `[${index + 1}/${missing.length}] ${part.name}`);
  say(`set-up: done in ${duration(Date.now() - started)}`);
}

async function obtain(part, label) {
  const started = Date.now();
  say(`${label}: getting it, about ${part.takes}`);
  if (!part.there()) await part.get(); // an earlier part may have brought it along
  say(`${label}: ready after ${duration(Date.now() - started)}`);
}

/** @returns {Tools} */
function resolved(place) {
  const { cache } = place;
  const all = toolchains(root);
  const bindgen = bindgenFolder(place);
  const driver = findDriver();
  const env = childEnv(bindgen);
  return {
    root,
    cache,
    env,
    native: native(all[0], env),
    wasm: wasm(wasmToolchain(cache, all), env, { bindgen, driver }),
    bindgen: join(bindgen, "wasm-bindgen"),
    browser: findBrowser(cache),
    driver,
    bin: (name) => join(root, "node_modules", ".bin", name),
  };
}

function childEnv(bindgen) {
  const quiet = { WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false", WRANGLER_HIDE_BANNER: "true" };
  return withPath({ ...process.env, ...quiet }, nodeFolder(), join(root, "node_modules", ".bin"), bindgen);
}

function native({ bin, cargo, release }, env = process.env) {
  return { cargo, release, env: inPath(env, bin) };
}

/** A target folder of its own: two compilers that share one would rebuild each other's work. */
function wasm({ bin, cargo, release, env: own }, env, { bindgen, driver }) {
  const targetFolder = join(process.env.CARGO_TARGET_DIR || join(root, "target"), "wasm");
  const runner = { CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER: join(bindgen, "wasm-bindgen-test-runner"), ...(driver && { CHROMEDRIVER: driver }) };
  return { cargo, release, targetFolder, env: inPath({ ...env, ...own, ...runner, CARGO_TARGET_DIR: targetFolder }, bin) };
}

/** This folder's `cargo` is the one that is found; this Node stays the one that is found, too. */
function inPath(env, folder) {
  return withPath(env, nodeFolder(), folder);
}

/** Where this Node lies, if putting that first in PATH brings no `cargo` along. */
function nodeFolder() {
  const folder = dirname(process.execPath);
  return runnable(join(folder, "cargo")) ? null : folder;
}
