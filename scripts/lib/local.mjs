/**
 * Builds what `npm start` serves into `build/local`. The folders there are named as in the clone (`build`,
 * `pkg`, `www`), but their builds compile faster. A deploy, `npm test` and the npm package use the clone's
 * own builds.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { locked } from "./cache.mjs";
import { keepCrates } from "./local-crates.mjs";
import { buildLocalWasm, refuseUpload } from "./local-wasm.mjs";
import { buildOperator } from "./operator-build.mjs";
import { UserError, log } from "./output.mjs";
import { buildForShop } from "./package.mjs";
import { bundleShop } from "./shop.mjs";
import { startGroup } from "./serve.mjs";
import { copy, placeDashboard, placeWorker } from "./worker.mjs";

export const DASHBOARD_CONFIG = "www/wrangler.dashboard.dev.toml";

/** @param {{root: string}} clone */
const treeOf = ({ root }) => join(root, "build", "local");

/** The parts of a local build. @type {Record<string, (tools: import("../setup/tools.mjs").Tools) => Promise<void>>} */
export const LOCAL_PARTS = {
  worker: async (tools) => {
    placeWorker(tools, await buildLocalWasm(tools, "impact_pledge"), join(treeOf(tools), "build"));
  },
  dashboard: async (tools) => {
    const made = await buildLocalWasm(tools, "dashboard");
    placeDashboard(tools, made, join(treeOf(tools), "build", "dashboard"));
    copySources(tools);
  },
  operator: (tools) => buildOperator(tools, join(treeOf(tools), "operator"), buildLocalWasm),
  package: (tools) =>
    buildForShop(tools, join(treeOf(tools), "pkg"), (name) => buildLocalWasm(tools, name)),
  shop: async (tools) => {
    copySources(tools);
    await bundleShop(treeOf(tools));
  },
};

/**
 * Builds some parts of a local build.
 * @param {import("../setup/tools.mjs").Tools} tools
 * @param {string[]} names the names of the parts to build
 */
export async function buildLocal(tools, names) {
  refuseUpload();
  await locked(treeOf(tools), async () => {
    const make = (name) => LOCAL_PARTS[name](tools).then(() => log(`built: ${name}`));
    await Promise.all(names.filter((name) => name !== "shop").map(make));
    if (names.includes("shop")) await make("shop"); // it has the package in its pages
    if (names.length === Object.keys(LOCAL_PARTS).length) await keepCrates(tools);
  });
}

/** The sources that wrangler bundles for the Workers of www/wrangler.dev.toml and www/wrangler.dashboard.dev.toml. */
const SOURCES = ["www", "pkg-templates/bin/loopback.ts", "scripts/lib/retried.mjs"];

function copySources(tools) {
  const isSource = (from) => basename(from) !== "node_modules" && !from.endsWith(".toml");
  for (const source of SOURCES)
    copy(join(tools.root, source), join(treeOf(tools), source), isSource);
}

/**
 * Copies one of wrangler's configurations into `build/local`. In the copy, the build command also builds into
 * `build/local`.
 * @param {{root: string}} clone
 * @param {string} file the name of the configuration, such as www/wrangler.dev.toml
 * @returns {string} the file that was written
 */
export function localConfig({ root }, file) {
  const copied = join(treeOf({ root }), file);
  const watched = (name) => relative(dirname(copied), join(root, dirname(file), name));
  const text = readFileSync(join(root, file), "utf8");
  const config = text.replace(
    /^\[build\]\ncommand = "(node scripts\/run\.mjs build) (.+)".*\nwatch_dir = (\[.+\])$/m,
    (_all, command, parts, folders) =>
      [
        "[build]",
        `command = "${command} --local ${parts}"`,
        `cwd = ${JSON.stringify(root)}`,
        `watch_dir = ${JSON.stringify(JSON.parse(folders).map(watched))}`,
      ].join("\n"),
  );
  if (config === text)
    throw new UserError(
      `${file} has no section \`[build]\` with \`command\` and the list \`watch_dir\``,
    );
  mkdirSync(dirname(copied), { recursive: true });
  writeFileSync(copied, config);
  return copied;
}

/**
 * Runs the build before wrangler does, so that the command ends if the build fails. Without `parts`, builds
 * all parts.
 * @param {import("../setup/tools.mjs").Tools} tools @param {string} what names the build in the message
 * @param {string[]} parts
 */
export async function buildFirst({ root, env }, what, ...parts) {
  log(`building ${what} …`);
  const { ended } = startGroup([join(root, "scripts", "run.mjs"), "build", "--local", ...parts], {
    cwd: root,
    env,
    stdio: ["ignore", "inherit", "inherit"],
  });
  if ((await ended) !== 0) process.exit(1); // it has printed why
}

/**
 * Runs {@link import("./local-wasm.mjs").compileBehind} in a background process. That process ends when this
 * process ends.
 */
export const compileInBackground = ({ root, env }) =>
  startGroup([join(root, "scripts", "run.mjs"), "build", "--compile-behind"], {
    cwd: root,
    env,
    stdio: "ignore",
  });
