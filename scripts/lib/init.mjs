/**
 * `init`: creates a folder with the configuration of a service. The configuration pins this version of the
 * package.
 */
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  writeFileSync,
} from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { npmScript } from "./bootstrap.mjs";
import { UserError, log } from "./output.mjs";
import { root } from "./places.mjs";

/**
 * The templates that have another name in the package, each with its real name. npm would leave out or rename
 * a file with the real name.
 */
const RENAMED = { gitignore: ".gitignore" };

/**
 * Creates the folder of an operator's project.
 * @param {string} given the folder @param {{install?: boolean}} [options]
 */
export function init(given, { install = true } = {}) {
  const folder = resolve(given);
  const templates = readdirSync(join(root, "templates"));
  const files = [...templates.map((name) => RENAMED[name] ?? name), "package.json"];
  const there = files.filter((name) => existsSync(join(folder, name)));
  if (there.length > 0)
    throw new UserError(
      `${given} already has ${there.join(", ")}: choose a new folder. Nothing was written`,
    );
  mkdirSync(folder, { recursive: true });
  for (const name of templates)
    copyFileSync(join(root, "templates", name), join(folder, RENAMED[name] ?? name));
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest(folder), null, 2)}\n`);
  log(`created ${given}: ${files.join(", ")}`);
  if (install) installIn(folder);
  const steps = [
    `cd ${relative(process.cwd(), folder) || "."}`,
    ...(install ? [] : ["npm install"]),
    "npx impact-pledge-service dev",
  ];
  log(
    `\nNext:\n\n${steps.map((step) => `  ${step}`).join("\n")}\n\nREADME.md explains how to deploy.`,
  );
}

function manifest(folder) {
  const { name, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return {
    name:
      basename(folder)
        .toLowerCase()
        .replaceAll(/[^a-z0-9._-]+/g, "-")
        .replace(/^[._-]+/, "") || "my-pledges",
    private: true,
    type: "module",
    scripts: { dev: `${name} dev`, deploy: `${name} deploy` },
    dependencies: { [name]: version },
  };
}

function installIn(folder) {
  log("installing the package …");
  const script = npmScript();
  const [program, before] = script ? [process.execPath, [script]] : ["npm", []];
  const { status } = spawnSync(
    program,
    [...before, "install", "--no-audit", "--no-fund", "--loglevel=error"],
    {
      cwd: folder,
      stdio: ["ignore", 2, 2],
    },
  );
  if (status !== 0)
    throw new UserError(
      `\`npm install\` failed in ${folder}: see the lines above, then run it there again`,
    );
}
