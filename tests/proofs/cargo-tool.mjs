/**
 * Installs programs that cargo compiles. All of a user's clones of the project share these programs, so each
 * program is compiled once.
 */
import { join } from "node:path";
import { entry } from "../../scripts/lib/cache.mjs";
import { log } from "../../scripts/lib/output.mjs";
import { run, withPath } from "../../scripts/lib/run.mjs";
import { QUIET_CARGO } from "../../scripts/setup/toolchain.mjs";

/**
 * Installs a subcommand of cargo, such as `cargo-fuzz`.
 * @param {import("../../scripts/setup/tools.mjs").Tools} tools
 * @returns {Promise<NodeJS.ProcessEnv>} an environment in which `cargo fuzz` is found
 */
export async function withCargoTool({ native, cache }, name, version) {
  const folder = await entry(join(cache, `${name}-${version}`), async (folder) => {
    log(`set-up: compiling ${name}, which takes some minutes`);
    await run(native.cargo, ["install", "--locked", "--root", folder, `${name}@${version}`], {
      env: { ...QUIET_CARGO, ...native.env },
      show: true,
    });
  });
  return withPath(native.env, join(folder, "bin"));
}
