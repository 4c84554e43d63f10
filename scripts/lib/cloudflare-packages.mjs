/**
 * Loads Cloudflare's packages with `require`. `import` would look for the names that their large files export, which takes
 * half a second.
 */
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** The packages. The build of the npm package does not find them by itself. */
export const CLOUDFLARE_PACKAGES = ["miniflare", "wrangler"];

/** @returns {typeof import("miniflare")} */
export const miniflare = () => require("miniflare"); // alone: with wrangler, it would take another half second

/** @returns {typeof import("wrangler")} */
export const wrangler = () => require("wrangler");
