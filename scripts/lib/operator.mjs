/** The crate's own functions for an operator, as wasm, which make and read every record: the scripts hold no copy of formats and checks. */
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { locked, replaceFolder } from "./cache.mjs";
import { prepareTools } from "./tools.mjs";
import { UserError, log } from "./output.mjs";
import { buildWasm, stateOf } from "./wasm.mjs";

const folderOf = (root) => join(root, "build", "operator");
const instances = new Map(); // by clone

/** The answer to a command such as `new-key`. `input`: bytes, text, or what becomes JSON; what is wrong with it is a {@link UserError}. */
export async function operator({ root }, command, input = "") {
  if (!instances.has(root)) instances.set(root, load(root));
  const { run } = await instances.get(root);
  try {
    return JSON.parse(
      run(
        command,
        Buffer.isBuffer(input)
          ? input
          : Buffer.from(typeof input === "string" ? input : JSON.stringify(input)),
      ),
    );
  } catch (problem) {
    throw typeof problem === "string" ? new UserError(problem) : problem;
  }
}

async function load(root) {
  if (!isFresh(root)) {
    log("building the operator's commands, a minute the first time");
    await buildOperator({ ...(await prepareTools()), root });
  }
  const module = await import(pathToFileURL(join(folderOf(root), "operator.js")));
  module.initSync({ module: readFileSync(join(folderOf(root), "operator_bg.wasm")) });
  return module;
}

/** Was it built from the sources as they are? */
function isFresh(root) {
  const stamp = join(folderOf(root), "stamp");
  return existsSync(stamp) && readFileSync(stamp, "utf8") === stateOf(root);
}

/** Into build/operator/. Of several at once, one builds. @param {import("./tools.mjs").Tools} tools */
export async function buildOperator(tools) {
  const { root } = tools;
  await locked(folderOf(root), async () => {
    if (isFresh(root)) return;
    const state = stateOf(root);
    await replaceFolder(folderOf(root), join(root, "build"), async (folder) => {
      cpSync(await buildWasm(tools, "operator"), folder, { recursive: true });
      writeFileSync(join(folder, "stamp"), state);
    });
  });
}
