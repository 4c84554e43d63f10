/** Writes the configurations of local development, for a project that uses the Workers in the npm package. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/**
 * Copies wrangler's configurations from the package into the project, because wrangler writes files beside them.
 * @param {{root: string, project: string}} tools
 * @returns {{service: string, dashboard: string}}
 */
export function developmentConfigs({ root, project }) {
  const source = join(root, "dev");
  const folder = join(project, ".wrangler", "dev");
  mkdirSync(folder, { recursive: true });
  const copied = (name) => {
    const text = readFileSync(join(source, name), "utf8").replaceAll(
      /^(main|directory|migrations_dir) = "(.+)"$/gm,
      (_all, member, path) => `${member} = ${JSON.stringify(resolve(source, path))}`,
    );
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  return {
    service: copied("wrangler.dev.toml"),
    dashboard: copied("wrangler.dashboard.dev.toml"),
  };
}
