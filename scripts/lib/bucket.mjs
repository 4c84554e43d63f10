/** Gives commands access to the bucket in which the dashboard keeps backups. They only read it. */
import { join } from "node:path";
import { DASHBOARD, configuration } from "./configuration.mjs";

export const BUCKET_BINDING = "BACKUPS";
/** The bucket of `npm start`. */
export const LOCAL_BUCKET = "impact-pledge-development-backups";

/**
 * A bucket. `bytes` returns the contents of an object; null if there is none.
 * @typedef {{bytes: (name: string) => Promise<Buffer | null>}} Bucket
 */

/**
 * Returns the bucket that `wrangler dev` uses in this folder.
 * @param {import("./runtime.mjs").Runtime} runtime
 * @returns {Bucket}
 */
export const localBucket = (runtime) => ({
  async bytes(name) {
    const base64 = await runtime.ask("object", name, "local R2 can't read an object");
    return base64 === null ? null : Buffer.from(base64, "base64");
  },
});

/**
 * Returns the bucket of an environment's dashboard; null if its configuration names none.
 * @param {{root: string, project?: string}} tools
 * @param {import("./cloudflare.mjs").Cloudflare} cloudflare
 * @param {string} [environment]
 * @returns {Promise<Bucket | null>}
 */
export async function deployedBucket({ root, project = root }, cloudflare, environment) {
  const file = join(project, DASHBOARD);
  const { definedEnvironments: known = [] } = await configuration(file);
  if (environment !== undefined && !known.includes(environment)) return null;
  const { r2_buckets } = await configuration(file, environment);
  const { bucket_name, jurisdiction } =
    r2_buckets.find(({ binding }) => binding === BUCKET_BINDING) ?? {};
  if (!bucket_name) return null;
  const headers = jurisdiction ? { "cf-r2-jurisdiction": jurisdiction } : {};
  const path = `/r2/buckets/${encodeURIComponent(bucket_name)}/objects`;
  const bytes = (name) =>
    cloudflare.bytes("read an object of the bucket", `${path}/${name}`, headers).catch((error) => {
      if (error.status === 404) return null;
      throw error;
    });
  return { bytes };
}
