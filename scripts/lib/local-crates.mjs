/**
 * Caches the third-party crates that `npm start` compiles. Compiling them takes most of the time of a first
 * start, and they are the same in each clone. The project's own crate is not cached, because its compiled
 * files depend on the clone's folder.
 */
import { createHash } from "node:crypto";
import { cpSync, existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { WASM } from "../setup/toolchain.mjs";
import { usedEntry } from "./cache.mjs";

/**
 * The folders in cargo's target folder whose crates are copied. Some crates, such as macros, run on this
 * machine while cargo compiles. The others are linked into the WebAssembly.
 */
const FOLDERS = ["local", join(WASM, "local")].flatMap((profile) =>
  [".fingerprint", "build", "deps"].map((name) => join(profile, name)),
);

/**
 * Copies the compiled crates from the cache, if the cache has them and nothing is compiled yet.
 * @param {import("../setup/tools.mjs").Tools} tools
 */
export function takeCrates(tools) {
  if (isCompiled(tools)) return;
  const place = placeOf(tools);
  if (existsSync(place)) copyCrates(place, tools.wasm.targetFolder);
}

/**
 * Copies the compiled crates into the cache. Call this after all parts are compiled.
 * @param {import("../setup/tools.mjs").Tools} tools
 */
export async function keepCrates(tools) {
  if (!isCompiled(tools)) return; // the shipped builds were used instead
  await usedEntry(placeOf(tools), async (folder) => copyCrates(tools.wasm.targetFolder, folder));
}

/** Whether the clone has compiled crates. @param {import("../setup/tools.mjs").Tools} tools */
export const isCompiled = ({ wasm }) =>
  FOLDERS.every((folder) => existsSync(join(wasm.targetFolder, folder)));

/**
 * Returns the cache's folder for these crates. Its name is a hash of everything that the compiled crates
 * depend on.
 */
function placeOf({ root, cache, wasm }) {
  const hash = createHash("sha256").update(wasm.identity);
  for (const file of ["Cargo.toml", "Cargo.lock"]) hash.update(readFileSync(join(root, file)));
  return join(cache, "local", hash.digest("hex").slice(0, 16));
}

/**
 * Copies the compiled crates. Keeps the files' modification times, by which cargo sees that nothing has
 * changed.
 */
function copyCrates(from, to) {
  const filter = (path) => !/^(lib)?impact[_-]pledge\b/.test(basename(path));
  for (const folder of FOLDERS)
    cpSync(join(from, folder), join(to, folder), {
      recursive: true,
      preserveTimestamps: true,
      filter,
    });
}
