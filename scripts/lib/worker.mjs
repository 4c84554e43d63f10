/** Builds the Workers: the wasm of each, wasm-bindgen's JavaScript, and the module that Cloudflare starts. */
import { cpSync, existsSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { log } from "./output.mjs";
import { buildWasm } from "./wasm.mjs";

/** The service's JavaScript files, except those of wasm-bindgen. */
const SERVICE = [
  "doors/api_worker/worker.js",
  "doors/api_worker/no-registry.js",
  "doors/api_worker/broken.js",
  "doors/cloudflare/recover.js",
];

/** The files and folders of the built service. */
export const SERVICE_BUILD = [
  ...SERVICE.map((file) => basename(file)),
  "impact_pledge.js",
  "impact_pledge_bg.wasm",
  "consumer",
  "snippets",
];

/** Builds the service. @param {import("../setup/tools.mjs").Tools} tools */
export async function buildWorker(tools) {
  const folder = join(tools.root, "build");
  placeWorker(tools, await buildWasm(tools, "impact_pledge"), folder);
  logSize(join(folder, "impact_pledge_bg.wasm"), "gzip", gzipSync);
}

/** Builds the dashboard. @param {import("../setup/tools.mjs").Tools} tools */
export async function buildDashboard(tools) {
  const folder = join(tools.root, "build", "dashboard");
  placeDashboard(tools, await buildWasm(tools, "dashboard"), folder);
  logSize(join(folder, "dashboard_bg.wasm"), "brotli", brotliCompressSync);
}

/** Copies the files of the service into a folder. @param {{root: string}} tools @param {string} made the folder of its wasm @param {string} folder */
export function placeWorker({ root }, made, folder) {
  copy(made, folder);
  copy(made, join(folder, "consumer"), (from) => !from.endsWith(".wasm"));
  for (const file of SERVICE) copy(join(root, "src", file), join(folder, basename(file)));
}

/** Copies the files of the dashboard into a folder. @param {{root: string}} tools @param {string} made the folder of its wasm @param {string} folder */
export function placeDashboard({ root }, made, folder) {
  copy(made, folder);
  for (const file of ["doors/dashboard_worker/worker.js", "doors/cloudflare/recover.js"])
    copy(join(root, "src", file), join(folder, basename(file)));
}

/**
 * Copies a file or folder. Unchanged files are not written again, so that a watcher does not start a build for them.
 */
export function copy(from, to, isWanted = (_from) => true) {
  const isNew = (from, to) =>
    statSync(from).isDirectory() || !existsSync(to) || !readFileSync(from).equals(readFileSync(to));
  cpSync(from, to, { recursive: true, filter: (from, to) => isWanted(from) && isNew(from, to) });
}

function logSize(file, compression, compress) {
  const bytes = readFileSync(file);
  const kilobytes = ({ length }) => `${(length / 1000).toFixed(1)} KB`;
  log(`${basename(file)}: ${kilobytes(bytes)}, ${kilobytes(compress(bytes))} ${compression}`);
}
