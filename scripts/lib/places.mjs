/**
 * The folders of the commands. The *distribution* is a clone or the npm package, and has the builds or their sources. The
 * *project* has the configuration and the local data of a service: in a clone it is the same folder, else the current one.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { UserError } from "./output.mjs";

/** The distribution. */
export const root = join(import.meta.dirname, "..", "..");

/** Whether the distribution is a clone. */
export const isClone = existsSync(join(root, "Cargo.toml"));

export const project = isClone ? root : process.cwd();

/** Returns how a person calls a command, for help and messages: the beginning of its line. @param {string} name such as `keys` */
export const calledAs = (name) =>
  isClone ? `npm run ${name} --` : `npx impact-pledge-service ${name}`;

const resolve = createRequire(import.meta.url).resolve;

/** wrangler's script for Node. */
export const wrangler = join(dirname(resolve("wrangler/package.json")), "bin", "wrangler.js");

export const QUIET = {
  WRANGLER_SEND_METRICS: "false",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_HIDE_BANNER: "true",
};

/** @typedef {{root: string, project: string, env: NodeJS.ProcessEnv, wrangler: string}} OperatorTools */

/**
 * Returns the tools of a command that builds nothing, without looking for Rust. Throws outside a project, where a command would
 * create local data of its own.
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
