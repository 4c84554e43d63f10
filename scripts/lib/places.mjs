/**
 * Defines the folders that commands use. The *distribution* is a clone or the npm package: it has the built
 * Workers or their sources. The *project* has the configuration and the local data of a service. In a clone,
 * both are the same folder. With the npm package, the project is the current folder.
 */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { UserError } from "./output.mjs";

/** The root folder of the clone or npm package that contains this file. */
export const root = join(import.meta.dirname, "..", "..");

/** Whether this file is in a clone of the repository, not in the npm package. */
export const isClone = existsSync(join(root, "Cargo.toml"));

/** Returns the version of this distribution. */
export function version() {
  const [file, pattern] = isClone
    ? ["Cargo.toml", /^version = "(.+)"/m]
    : ["package.json", /"version": "(.+)"/];
  return readFileSync(join(root, file), "utf8").match(pattern)?.[1] ?? "";
}

/** The folder of the ledger's migrations, from {@link root}. */
export const MIGRATIONS_FOLDER = isClone ? "src/office/system/migrations" : "migrations";

export const project = isClone ? root : process.cwd();

/**
 * Returns the start of a command line, such as `npm run keys --`, for help and messages.
 * @param {string} name such as `keys`
 */
export const calledAs = (name) =>
  isClone ? `npm run ${name} --` : `npx impact-pledge-service ${name}`;

const resolve = createRequire(import.meta.url).resolve;

/** The path of wrangler's script for Node. */
export const wrangler = join(dirname(resolve("wrangler/package.json")), "bin", "wrangler.js");

export const QUIET = {
  WRANGLER_SEND_METRICS: "false",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_HIDE_BANNER: "true",
};

/** @typedef {{root: string, project: string, env: NodeJS.ProcessEnv, wrangler: string}} OperatorTools */

/**
 * Returns the tools for a command that builds nothing, without a search for Rust. Throws outside a project,
 * because the command would create new local data in the wrong folder.
 * @param {NodeJS.ProcessEnv} [environment]
 * @param {string} [folder] of the project
 * @returns {OperatorTools}
 */
export function operatorTools(environment = process.env, folder = project) {
  if (!existsSync(join(folder, "wrangler.toml")))
    throw new UserError(
      `there is no wrangler.toml in ${folder}: run this in the folder that \`${calledAs("init my-pledges")}\` created`,
    );
  const env = { ...environment, ...QUIET };
  Object.assign(process.env, QUIET, { WRANGLER_LOG: "error" }); // wrangler in this process must not print to the command's standard output
  return { root, project: folder, env, wrangler };
}
