/** Builds the playground: a static page with the service in it. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { replaceFolder } from "./cache.mjs";
import { licenceTexts, partsNamed } from "./licences.mjs";
import { linkPackage } from "./shop.mjs";

const LICENCES = "THIRD-PARTY-LICENSES.txt";

/**
 * Builds the playground into a folder.
 * @param {string} root the clone
 * @param {string} folder default: `playground-build/`, which the site copies
 */
export async function bundlePlayground(root, folder = join(root, "playground-build")) {
  linkPackage(root);
  await replaceFolder(folder, join(root, "build"), async (fresh) => {
    const inputs = await bundle(join(root, "www", "playground"), fresh);
    const names = inputs.flatMap(
      (path) => path.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? [],
    );
    const linked = readFileSync(join(root, "pkg", LICENCES), "utf8"); // those of the package, which has the wasm
    writeFileSync(
      join(fresh, LICENCES),
      `${licenceTexts(root, partsNamed(root, names))}\n${linked}`,
    );
  });
}

/**
 * Bundles the page.
 * @param {string} source
 * @param {string} outdir
 * @returns {Promise<string[]>} the paths of all files that are in the bundle
 */
async function bundle(source, outdir) {
  const { build } = await import("esbuild");
  const { metafile } = await build({
    entryPoints: ["playground.js", "style.css", "index.html"].map((name) => join(source, name)),
    outbase: source,
    outdir,
    loader: { ".html": "copy" },
    chunkNames: "[name]-[hash]",
    bundle: true,
    splitting: true,
    minify: true,
    charset: "utf8",
    format: "esm",
    target: "es2022",
    legalComments: "none",
    logLevel: "warning",
    metafile: true,
  });
  return Object.keys(metafile.inputs);
}
