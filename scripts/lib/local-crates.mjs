/**
 * The crates of others, compiled for `npm start`: the same in each clone, and most of what a first start compiles. The cache
 * keeps what cargo made of them; our own crate, which cargo names after the clone's folder, is left out.
 */
import { createHash } from "node:crypto";
import { cpSync, existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { WASM } from "../setup/toolchain.mjs";
import { usedEntry } from "./cache.mjs";

/** Of cargo's target folder: what the host runs, as macros, and what is linked. Beside the first lie builds of ours. */
const FOLDERS = ["local", join(WASM, "local")].flatMap((profile) =>
  [".fingerprint", "build", "deps"].map((name) => join(profile, name)),
);

/** Copies them from the cache, if they are there and nothing is compiled yet. @param {import("../setup/tools.mjs").Tools} tools */
export function takeCrates(tools) {
  if (isCompiled(tools)) return;
  const place = placeOf(tools);
  if (existsSync(place)) copyCrates(place, tools.wasm.targetFolder);
}

/** Copies them into the cache. @param {import("../setup/tools.mjs").Tools} tools once all parts are compiled */
export async function keepCrates(tools) {
  if (!isCompiled(tools)) return; // the builds that ship served
  await usedEntry(placeOf(tools), async (folder) => copyCrates(tools.wasm.targetFolder, folder));
}

const isCompiled = ({ wasm }) =>
  FOLDERS.every((folder) => existsSync(join(wasm.targetFolder, folder)));

/** Named by all that they depend on. */
function placeOf({ root, cache, wasm }) {
  const hash = createHash("sha256").update(wasm.identity);
  for (const file of ["Cargo.toml", "Cargo.lock"]) hash.update(readFileSync(join(root, file)));
  return join(cache, "local", hash.digest("hex").slice(0, 16));
}

/** With the times of the files, by which cargo sees that nothing has changed. */
function copyCrates(from, to) {
  const filter = (path) => !/^(lib)?impact[_-]pledge\b/.test(basename(path));
  for (const folder of FOLDERS)
    cpSync(join(from, folder), join(to, folder), {
      recursive: true,
      preserveTimestamps: true,
      filter,
    });
}
