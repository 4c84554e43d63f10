/**
 * The folders that commands use. The *distribution* is a clone or the npm package, and has the builds or their
 * sources. The *project* has the configuration and the local data of a service. In a clone it is the same folder;
 * otherwise it is the current folder.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { UserError } from "./output.mjs";

/** The folder of the distribution. */
export const root = join(import.meta.dirname, "..", "..");

/** Whether the distribution is a clone. */
export const isClone = existsSync(join(root, "Cargo.toml"));

export const project = isClone ? root : process.cwd();

/**
 * Returns the beginning of the command line by which a person runs a command, for help and messages.
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
 * Returns the tools for a command that builds nothing, without searching for Rust. Throws outside a project, because
 * a command would create new local data there.
 * @param {NodeJS.ProcessEnv} [environment]
 * @returns {OperatorTools}
 */
export function operatorTools(environment = process.env) {
  if (!existsSync(join(project, "wrangler.toml")))
    throw new UserError(
      `there is no wrangler.toml in ${project}: run this in the folder that \`${calledAs("init my-pledges")}\` created`,
    );
  const env = { ...environment, ...QUIET };
  Object.assign(process.env, QUIET, { WRANGLER_LOG: "error" }); // wrangler in this process must not print to the command's standard output
  return { root, project, env, wrangler };
}
