/**
 * Copies a wrangler configuration, and adds to the copy the IDs of an account's resources. wrangler.toml does
 * not contain these IDs.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { wrangler } from "./cloudflare-packages.mjs";

/**
 * Writes a changed copy of a configuration.
 * @param {import("./places.mjs").OperatorTools} tools
 * @param {object} copy
 * @param {string} copy.file the configuration
 * @param {string} copy.environment the environment whose settings are changed; empty for the top level
 * @param {string} copy.folder the folder of the copy, in `.wrangler/deploy`
 * @param {string} copy.account the account's ID
 * @param {(own: any) => void} copy.change changes the settings of `environment`
 * @returns {Promise<string>} the file that was written
 */
export async function copyWith(
  { root, project = root },
  { file, environment, folder, account, change },
) {
  const { experimental_readRawConfig: read } = wrangler();
  const from = resolve(project, file);
  const raw = /** @type {any} */ (read({ config: from }).rawConfig);
  change(environment ? raw.env[environment] : raw);
  const whole = { ...raw, account_id: account, main: resolve(dirname(from), raw.main) };
  if (raw.build) whole.build = { ...raw.build, cwd: root, watch_dir: undefined }; // a deploy watches no files
  const target = join(project, ".wrangler", "deploy", folder);
  const config = join(target, `wrangler${environment && `.${environment}`}.json`); // two environments may be deployed at the same time
  for (const database of [whole, ...Object.values(whole.env ?? {})].flatMap(
    ({ d1_databases = [] }) => d1_databases,
  ))
    database.migrations_dir &&= resolve(dirname(from), database.migrations_dir);
  mkdirSync(target, { recursive: true });
  writeFileSync(config, JSON.stringify(whole, null, 2));
  return config;
}
