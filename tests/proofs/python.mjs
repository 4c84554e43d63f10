/** Installs Python's packages for a proof, in the shared cache. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { entry } from "../../scripts/lib/cache.mjs";
import { ask, find, run } from "../../scripts/lib/run.mjs";

const INSTALL_MS = 600_000; // on a busy machine
const NEW_ENOUGH = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))";
const BIN = process.platform === "win32" ? "Scripts" : "bin";

/** The path of a Python that can install packages; null if there is none. */
export const python = ["python3", "python"]
  .map((name) => find(name))
  .find((path) => path && ask(path, ["-c", NEW_ENOUGH]) !== null);

/**
 * Returns the folder of the programs of an environment that has exactly the packages of a requirements file.
 * @param {import("../../scripts/setup/tools.mjs").Tools} tools
 * @param {string} name of the environment
 * @param {string} requirements path of the file
 */
export async function pythonEnvironment({ cache }, name, requirements) {
  const version = createHash("sha256")
    .update(readFileSync(requirements))
    .digest("hex")
    .slice(0, 16);
  const folder = await entry(join(cache, `${name}-${version}`), async (folder) => {
    await run(python ?? "python3", ["-m", "venv", folder], { timeout: INSTALL_MS });
    const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    await run(join(folder, BIN, "python"), [...install, "-r", requirements], {
      timeout: INSTALL_MS,
    });
  });
  return join(folder, BIN);
}
