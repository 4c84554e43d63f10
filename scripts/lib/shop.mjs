/**
 * The demo shop's pages into build/www. The shop uses the built package as any shop does: installed under its name
 * in a node_modules folder, here a link to pkg/.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { Stop } from "./report.mjs";
import { copyChanged } from "./wasm.mjs";

const SCRIPTS = ["checkout.js", "developer.js"];

/** @param {import("./ready.mjs").Tools} tools */
export async function buildShop({ root }) {
  const pages = join(root, "www", "pages");
  const outFolder = join(root, "build", "www");
  link(join(root, "pkg"), join(root, "www", "node_modules", "impact-pledge"));
  for (const name of staticFiles(pages)) copyChanged(join(pages, name), join(outFolder, name));
  const { build } = await import("esbuild");
  await build({
    entryPoints: SCRIPTS.map((name) => join(pages, name)),
    outdir: outFolder,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    legalComments: "none",
    logLevel: "warning",
  });
}

const staticFiles = (folder) => readdirSync(folder, { recursive: true }).filter((name) => /\.(css|html|svg)$/.test(name));

function link(target, place) {
  if (!existsSync(join(target, "package.json"))) throw new Stop("the shop needs the package in pkg/; run `npm run build` first");
  if (existsSync(place)) return;
  rmSync(place, { force: true }); // a link that leads nowhere
  mkdirSync(dirname(place), { recursive: true });
  symlinkSync(target, place, "junction");
}
