/** Gives commands access to the buckets: that in which the dashboard keeps backups, and that of the pictures of updates. */
import { join } from "node:path";
import { DASHBOARD, configuration } from "./configuration.mjs";

export const BACKUPS = "BACKUPS";
export const PICTURES = "PICTURES";
/** The buckets of `npm start`, by their bindings. */
export const LOCAL_BUCKETS = {
  [BACKUPS]: "impact-pledge-development-backups",
  [PICTURES]: "impact-pledge-development-pictures",
};
/** The configuration that names a bucket. A deploy gives the dashboard the service's bucket of pictures. */
const FILES = { [BACKUPS]: DASHBOARD, [PICTURES]: "wrangler.toml" };

/**
 * A bucket. `bytes` returns the contents of an object; null if there is none. `keep` writes an object.
 * @typedef {{bytes: (name: string) => Promise<Buffer | null>, keep: (name: string, bytes: Uint8Array) => Promise<void>}} Bucket
 */

/**
 * Returns a bucket that `wrangler dev` uses in this folder.
 * @param {import("./runtime.mjs").Runtime} runtime
 * @param {string} binding
 * @returns {Bucket}
 */
export const localBucket = (runtime, binding) => ({
  async bytes(name) {
    const base64 = await runtime.ask("object", { binding, name }, "local R2 can't read an object");
    return base64 === null ? null : Buffer.from(base64, "base64");
  },
  async keep(name, bytes) {
    const base64 = Buffer.from(bytes).toString("base64");
    await runtime.ask("keep", { binding, name, base64 }, "local R2 can't write an object");
  },
});

/**
 * Returns a bucket of an environment; null if its configuration names none.
 * @param {{root: string, project?: string}} tools
 * @param {import("./cloudflare.mjs").Cloudflare} cloudflare
 * @param {string} [environment]
 * @param {string} [binding]
 * @returns {Promise<Bucket | null>}
 */
export async function deployedBucket(
  { root, project = root },
  cloudflare,
  environment,
  binding = BACKUPS,
) {
  const file = join(project, FILES[binding]);
  const { definedEnvironments: known = [] } = await configuration(file);
  if (environment !== undefined && !known.includes(environment)) return null;
  const { r2_buckets } = await configuration(file, environment);
  const { bucket_name, jurisdiction } = r2_buckets.find((own) => own.binding === binding) ?? {};
  if (!bucket_name) return null;
  const headers = jurisdiction ? { "cf-r2-jurisdiction": jurisdiction } : {};
  const path = `/r2/buckets/${encodeURIComponent(bucket_name)}/objects`;
  const bytes = (name) =>
    cloudflare.bytes("read an object of the bucket", `${path}/${name}`, headers).catch((error) => {
      if (error.status === 404) return null;
      throw error;
    });
  const keep = (name, content) =>
    cloudflare.upload("write an object of the bucket", `${path}/${name}`, content, headers);
  return { bytes, keep };
}
