/** Builds the operator's functions, in a clone of the project. The dashboard's wasm contains them. */
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { locked, replaceFolder } from "./cache.mjs";
import { log } from "./output.mjs";
import { prepareTools } from "../setup/tools.mjs";
import { buildWasm, stateOf } from "./wasm.mjs";

const folderOf = (root) => join(root, "build", "operator");
/**
 * Returns the folders that may contain a build of the operator's functions. The build of `npm start` has the
 * same functions.
 */
const placesOf = (root) => [folderOf(root), join(root, "build", "local", "operator")];

/**
 * Returns the folder of an up-to-date build of the operator's functions. If there is no such build, makes one
 * first.
 * @param {string} root
 * @returns {Promise<string>}
 */
export async function builtOperator(root) {
  const fresh = placesOf(root).find((place) => isFresh(root, place));
  if (fresh) return fresh;
  log("building the operator's commands, which takes a minute the first time");
  await buildOperator({ ...(await prepareTools()), root });
  return folderOf(root);
}

/** Whether a folder's build was made from the current sources. */
function isFresh(root, folder) {
  const stamp = join(folder, "stamp");
  return existsSync(stamp) && readFileSync(stamp, "utf8") === stateOf(root);
}

/**
 * Builds the wasm into a folder. If several processes need it at the same time, only one builds.
 * @param {import("../setup/tools.mjs").Tools} tools
 * @param {string} [folder]
 * @param {(tools: import("../setup/tools.mjs").Tools, name: string) => Promise<string>} [build]
 */
export async function buildOperator(tools, folder = folderOf(tools.root), build = buildWasm) {
  const { root } = tools;
  await locked(folder, async () => {
    if (isFresh(root, folder)) return;
    const state = stateOf(root);
    await replaceFolder(folder, dirname(folder), async (fresh) => {
      cpSync(await build(tools, "dashboard"), fresh, { recursive: true });
      writeFileSync(join(fresh, "stamp"), state);
    });
  });
}
