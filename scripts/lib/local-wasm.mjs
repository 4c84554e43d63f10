/**
 * Compiles the crate for `npm start`, with Cargo's profile `local` and without wasm-opt. This is faster than
 * a build for release, but the result is larger and slower. It is used only in `build/local`.
 */
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { locked, replaceFolder, usedEntry } from "./cache.mjs";
import { isCompiled, takeCrates } from "./local-crates.mjs";
import { UserError } from "./output.mjs";
import { run } from "./run.mjs";
import { WASM } from "../setup/toolchain.mjs";
import {
  bind,
  builtWasm,
  checkImportsNothing,
  compilerEnv,
  sha256,
  stateOf,
  writePlain,
} from "./wasm.mjs";

/**
 * The local builds.
 *
 * - `features`: the crate's features.
 * - `bindgen`: flags for wasm-bindgen. A build without flags does not use wasm-bindgen, and its wasm must not
 *   import anything.
 * - `as`: the names of the release builds that the local build replaces.
 *
 * The service and the dashboard share one build. Two builds would compile most of the crate twice.
 * @type {Record<string, {features: string, bindgen?: string[], as: string[]}>}
 */
const CRATES = {
  workers: {
    features: "dashboard,server",
    bindgen: ["--force-enable-abort-handler"],
    as: ["impact_pledge", "dashboard"],
  },
  client: {
    features: "client",
    bindgen: ["--encode-into", "always"],
    as: ["client"],
  },
  rules: { features: "validate", as: ["validator", "formats"] },
};

/**
 * Builds the wasm with this name, unless the sources are the same as in the last build.
 * @param {import("../setup/tools.mjs").Tools} tools
 * @param {string} name the build's name, as in the release builds
 * @returns {Promise<string>} a folder with `NAME_bg.wasm` and its JavaScript
 */
export async function buildLocalWasm(tools, name) {
  const [crate] = Object.entries(CRATES).find(([, { as }]) => as.includes(name)) ?? [];
  if (!crate) throw new Error(`no local build has the name ${name}`);
  const shipped = builtWasm(tools, name); // works as well, and need not be compiled
  if (shipped) return shipped;
  const folder = join(tools.wasm.targetFolder, "local", crate);
  await locked(folder, async () => {
    const state = stateOf(tools.root, import.meta.filename);
    const stamp = join(folder, "stamp");
    if (existsSync(stamp) && readFileSync(stamp, "utf8") === state) return;
    const isFirst = !existsSync(folder);
    await replaceFolder(folder, dirname(folder), async (fresh) => {
      if (isFirst) cpSync(await cached(tools, crate, state), fresh, { recursive: true });
      else await make(tools, crate, fresh);
      writeFileSync(join(fresh, "stamp"), state);
    });
  });
  return join(folder, name);
}

/**
 * Returns a build from the cache. Builds it first if the cache does not have it. Only a clone's first build
 * uses the cache, so that a second clone of the same sources compiles nothing. Later builds are of use to one
 * clone only, so they are not cached.
 */
const cached = (tools, crate, state) =>
  usedEntry(placeOf(tools, crate, state), (folder) => make(tools, crate, folder));

const placeOf = ({ cache, wasm }, crate, state) =>
  join(cache, "local-wasm", sha256(crate, state, wasm.identity));

/**
 * Compiles the slowest local build in advance, so that {@link buildLocalWasm} need not.
 * @param {import("../setup/tools.mjs").Tools} tools
 */
export async function compileAhead(tools) {
  const isCached = existsSync(placeOf(tools, "workers", stateOf(tools.root, import.meta.filename)));
  if (isCached || CRATES.workers.as.every((name) => builtWasm(tools, name))) return;
  await compile(tools, "workers");
}

/**
 * Compiles the crate in a clone whose first build came from the cache. Afterwards, when a source changes, cargo
 * has to compile only this change.
 * @param {import("../setup/tools.mjs").Tools} tools
 */
export async function compileBehind(tools) {
  const isTaken = existsSync(join(tools.wasm.targetFolder, "local", "workers"));
  if (isTaken && !isCompiled(tools))
    await locked(join(tools.wasm.targetFolder, "local"), () => compile(tools, "workers"));
}

async function compile(tools, crate) {
  const { wasm, root } = tools;
  takeCrates(tools);
  const args = ["rustc", "--lib", "--crate-type", "cdylib", "--profile", "local", "--target", WASM];
  args.push("--no-default-features", "--features", `${CRATES[crate].features},local`);
  await run(wasm.cargo, args, { cwd: root, env: compilerEnv(tools), show: true });
}

/**
 * Compiles a crate, then copies its wasm to the file `to`. Without the copy, the next build would overwrite the
 * wasm.
 * @param {string} to the path of the copy
 */
function compileTo(tools, crate, to) {
  const { targetFolder } = tools.wasm;
  return locked(join(targetFolder, "local"), async () => {
    await compile(tools, crate);
    copyFileSync(join(targetFolder, WASM, "local", "impact_pledge.wasm"), to);
  });
}

/** Fills the folder of a local build: one subfolder for each release build that it replaces. */
async function make(tools, crate, folder) {
  const { bindgen, as } = CRATES[crate];
  const made = join(folder, "compiled.wasm");
  await compileTo(tools, crate, made);
  const [first, ...others] = as;
  const own = join(folder, first);
  mkdirSync(own);
  if (bindgen) await bind(tools, made, own, first, bindgen);
  else await plain(tools, made, own, first);
  for (const name of others) {
    cpSync(own, join(folder, name), { recursive: true });
    for (const ending of ["_bg.wasm", ".js"])
      copyFileSync(join(own, `${first}${ending}`), join(folder, name, `${name}${ending}`));
  }
  rmSync(made);
}

async function plain(tools, made, folder, name) {
  const wasm = join(folder, `${name}_bg.wasm`);
  copyFileSync(made, wasm);
  checkImportsNothing(wasm);
  await writePlain(tools, wasm, join(folder, `${name}.js`));
}

/**
 * Throws if wrangler makes this build for an upload. wrangler passes the name of its own command to the
 * build, in WRANGLER_COMMAND.
 */
export function refuseUpload(command = process.env.WRANGLER_COMMAND) {
  if (command && command !== "dev")
    throw new UserError(
      `\`wrangler ${command}\` can't upload a build of \`npm start\`, which is large and slow: use wrangler.toml or wrangler.dashboard.toml`,
    );
}
