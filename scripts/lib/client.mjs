/** The wasm of the package's main entry, with the JavaScript that wasm-bindgen makes for it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { buildWasm } from "./wasm.mjs";

const NAME = "client";

/**
 * @param {import("./ready.mjs").Tools} tools
 * @returns {Promise<{wasm: Uint8Array, modules: Record<string, string>}>}
 */
export async function buildClient(tools) {
  const outFolder = join(tools.wasm.targetFolder, NAME);
  const optimise = ["-Oz", "--converge"];
  await buildWasm(tools, { features: ["client"], profile: "validate", outFolder, outName: NAME, bindgen: ["--no-typescript"], optimise, small: true });
  return { wasm: readFileSync(join(outFolder, `${NAME}_bg.wasm`)), modules: { "#client": join(outFolder, `${NAME}.js`) } };
}
