/** The Worker: its wasm, wasm-bindgen's JavaScript, and the module that Cloudflare starts. */
import { cpSync, existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { log } from "./lib/output.mjs";
import { buildWasm } from "./lib/wasm.mjs";

/** @param {import("./lib/tools.mjs").Tools} tools */
export async function buildWorker(tools, folder = join(tools.root, "build")) {
  // An unchanged file is left alone, so that a watcher does not start a build for it.
  const filter = (from, to) =>
    statSync(from).isDirectory() || !existsSync(to) || !readFileSync(from).equals(readFileSync(to));
  const made = await buildWasm(tools, "impact_pledge");
  cpSync(made, folder, { recursive: true, filter });
  const isScript = (from, to) => !from.endsWith(".wasm") && filter(from, to);
  cpSync(made, join(folder, "consumer"), { recursive: true, filter: isScript });
  for (const name of ["worker.js", "recover.js"])
    cpSync(join(tools.root, "src", "server", name), join(folder, name), { filter });
  const wasm = readFileSync(join(folder, "impact_pledge_bg.wasm"));
  const kilobytes = ({ length }) => `${(length / 1000).toFixed(1)} KB`;
  log(`impact_pledge_bg.wasm: ${kilobytes(wasm)}, ${kilobytes(gzipSync(wasm))} gzip`);
}
