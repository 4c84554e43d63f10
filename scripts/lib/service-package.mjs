/**
 * Builds the npm package `impact-pledge-service`: the built Workers, wrangler's configuration, the ledger's
 * migrations, and the operator's commands. The commands are the clone's own modules, so the package has the
 * same folders as the clone.
 */
import { copyFileSync, cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { replaceFolder } from "./cache.mjs";
import { CLOUDFLARE_PACKAGES } from "./cloudflare-packages.mjs";
import { bundledParts, licenceTexts, linkedParts } from "./licences.mjs";
import { log } from "./output.mjs";
import { PUBLISHED } from "./package.mjs";
import { MIGRATIONS_FOLDER } from "./places.mjs";
import { SERVICE_BUILD } from "./worker.mjs";

export const NAME = "impact-pledge-service";
const ENTRY = "scripts/service.mjs";
/** Files that the commands' modules read when they run. */
const READ = ["scripts/lib/local-worker.mjs", "scripts/lib/operations.json"];
const PACKAGE = `node_modules/${NAME}`;

/**
 * Assembles the package from its parts, which must have been built before.
 * @param {import("../setup/tools.mjs").Tools} tools
 * @param {string} [folder]
 */
export async function packService(tools, folder = join(tools.root, "build", NAME)) {
  const { root } = tools;
  await replaceFolder(folder, join(root, "build"), async (fresh) => {
    copyBuilds(root, fresh);
    const packages = await copyModules(root, fresh);
    await bundleDevelopment(root, fresh);
    writeConfigurations(root, fresh);
    const manifest = manifestOf(root, packages);
    writeFileSync(join(fresh, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
    for (const file of ["LICENSE", "CHANGELOG.md"])
      copyFileSync(join(root, file), join(fresh, file));
    const readme = readFileSync(join(root, "docs", "service.md"), "utf8");
    writeFileSync(join(fresh, "README.md"), readme.replaceAll(/\]\((?=[\w/-]+\.md)/g, "](docs/"));
    const pages = readdirSync(join(root, "docs"), { encoding: "utf8", recursive: true });
    for (const file of pages.filter((name) => /\.(md|yaml)$/.test(name)))
      place(join(root, "docs", file), join(fresh, "docs", file));
    const linked = await linkedParts(tools, "server,dashboard,client");
    const bundled = bundledParts(root, join(fresh, "dev"));
    const texts = licenceTexts(root, [...linked, ...bundled]);
    writeFileSync(join(fresh, "THIRD-PARTY-LICENSES.txt"), texts);
  });
  log(`${relative(root, folder)}/: ${NAME}`);
}

function copyBuilds(root, fresh) {
  const build = join(root, "build");
  for (const name of [...SERVICE_BUILD, "dashboard", "www"])
    cpSync(join(build, name), join(fresh, "build", name), { recursive: true });
  cpSync(join(root, MIGRATIONS_FOLDER), join(fresh, "migrations"), { recursive: true });
}

/** Copies the modules of the commands. @returns {Promise<string[]>} the npm packages that they import */
async function copyModules(root, fresh) {
  const { build } = await import("esbuild");
  const { metafile } = await build({
    entryPoints: [join(root, ENTRY)],
    absWorkingDir: root,
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    write: false,
    metafile: true,
    logLevel: "error",
  });
  for (const file of [...Object.keys(metafile.inputs), ...READ])
    place(join(root, file), join(fresh, file));
  const imported = Object.values(metafile.inputs).flatMap(({ imports }) => imports);
  const external = imported.filter((one) => one.external && !one.path.startsWith("node:"));
  const names = external.map(({ path }) => path.match(/^(?:@[^/]+\/)?[^/]+/)?.[0] ?? path);
  return [...new Set([...CLOUDFLARE_PACKAGES, ...names])].sort();
}

/**
 * Bundles the Workers of the command `dev`. Each bundle contains all imports of its Worker except the wasm,
 * which is copied to a file beside the bundle.
 */
async function bundleDevelopment(root, fresh) {
  const { build } = await import("esbuild");
  const folder = join(fresh, "dev");
  const wasm = ({ onResolve }) =>
    onResolve({ filter: /\.wasm$/ }, ({ path, resolveDir }) => {
      const name = basename(path);
      place(join(resolveDir, path), join(folder, name));
      return { path: `./${name}`, external: true };
    });
  await build({
    entryPoints: ["worker.js", "dashboard.js"].map((name) => join(root, "www", "server", name)),
    outdir: folder,
    absWorkingDir: root,
    bundle: true,
    format: "esm",
    target: "es2022",
    conditions: ["workerd", "worker"],
    external: ["cloudflare:*", "node:*"],
    legalComments: "none",
    plugins: [{ name: "wasm", setup: wasm }],
    logLevel: "error",
  });
}

/**
 * Writes the configurations of the command `dev`, and the templates that `init` copies. Changes the paths in
 * these files, so that they lead to files of the package.
 */
function writeConfigurations(root, fresh) {
  const read = (name) => readFileSync(join(root, name), "utf8");
  const write = (name, text) => {
    mkdirSync(dirname(join(fresh, name)), { recursive: true });
    writeFileSync(join(fresh, name), text);
  };
  for (const name of ["wrangler.dev.toml", "wrangler.dashboard.dev.toml"])
    write(join("dev", name), besideBundles(withoutBuild(read(join("www", name)))));
  for (const name of ["wrangler.toml", "wrangler.dashboard.toml"])
    write(join("templates", name), inProject(withoutBuild(read(name))));
  const files = join(root, "pkg-templates", "service-project");
  for (const name of readdirSync(files))
    copyFileSync(join(files, name), join(fresh, "templates", name));
}

const withoutBuild = (text) => text.replace(/^\[build\]\n(?:\w.*\n)+\n/m, "");

const besideBundles = (text) =>
  text
    .replace('main = "server/', 'main = "')
    .replaceAll(`migrations_dir = "../${MIGRATIONS_FOLDER}"`, 'migrations_dir = "../migrations"');

const inProject = (text) =>
  text
    .replace(/^main = "(.+)"$/m, `main = "${PACKAGE}/$1"`)
    .replaceAll(
      `migrations_dir = "${MIGRATIONS_FOLDER}"`,
      `migrations_dir = "${PACKAGE}/migrations"`,
    )
    .replaceAll(/`npm run (\w+)(?: --)?/g, `\`npx ${NAME} $1`)
    .replaceAll(/\bdocs\/(\w+)\.md/g, `${PACKAGE}/docs/$1.md`);

function manifestOf(root, packages) {
  const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const cargo = readFileSync(join(root, "Cargo.toml"), "utf8");
  const member = (name) => cargo.match(new RegExp(`^${name} = \\[?"(.+?)"\\]?$`, "m"))?.[1] ?? "";
  const repository = member("repository");
  return {
    name: NAME,
    version: member("version"),
    description:
      "Impact Pledge's service for Cloudflare Workers, its dashboard, and the commands of its operator",
    author: member("authors"),
    license: "MIT",
    repository: { type: "git", url: `git+${repository}.git` },
    homepage: `${repository}#readme`,
    bugs: { url: `${repository}/issues` },
    keywords: ["pledge", "impact", "cloudflare-workers", "service"],
    type: "module",
    bin: { [NAME]: ENTRY },
    exports: { "./package.json": "./package.json" },
    engines: { node: ">=22.18" },
    publishConfig: PUBLISHED,
    dependencies: Object.fromEntries(packages.map((name) => [name, devDependencies[name]])),
  };
}

function place(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}
