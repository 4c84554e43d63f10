/** Reads wrangler's configuration files as wrangler does. */
import { wrangler } from "./cloudflare-packages.mjs";
import { UserError } from "./output.mjs";

/** The file name of the dashboard's configuration. */
export const DASHBOARD = "wrangler.dashboard.toml";

/**
 * Returns the configuration of an environment, or of the top level.
 * @returns {Promise<import("wrangler").Unstable_Config>}
 */
export async function configuration(config, environment) {
  const { unstable_readConfig } = wrangler();
  const read = (options) => {
    try {
      return unstable_readConfig(options);
    } catch ({ message }) {
      throw new UserError(`${config} can't be read: ${message}`);
    }
  };
  const top = read({ config });
  if (environment === undefined) return top;
  const known = top.definedEnvironments ?? [];
  if (!known.includes(environment))
    throw new UserError(
      `wrangler.toml has no environment \`${environment}\`. Its environments: ${known.join(", ") || "none"}`,
    );
  return read({ config, env: environment });
}
