/** The npm package `impact-pledge-service`, packed as it is published. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { npm } from "../../scripts/lib/run.mjs";
import { packService } from "../../scripts/lib/service-package.mjs";
import { tools } from "./script.mjs";

export const NAME = "impact-pledge-service";

/** Packs a build. Returns the tarball, and the folder that it was packed from. @param {string} home an empty folder */
export async function packed(home) {
  const folder = join(home, NAME);
  await packService(tools, folder);
  await npm(["pack", folder, "--pack-destination", home, "--ignore-scripts", "--loglevel=error"], {
    cwd: home,
  });
  const [name = ""] = readdirSync(home).filter((file) => file.endsWith(".tgz"));
  return { folder, tarball: join(home, name) };
}
