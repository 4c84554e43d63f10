/** Builds the pages of the demo shop. */
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { UserError } from "./output.mjs";

/**
 * Bundles the pages of the shop. Like any shop, they import the package from a node_modules folder.
 * @param {string} root the clone, or a tree like it
 */
export async function bundleShop(root) {
  linkPackage(root);
  const pages = join(root, "www", "pages");
  const others = readdirSync(pages, { encoding: "utf8", recursive: true }).filter((name) =>
    /\.(css|html|svg)$/.test(name),
  );
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: ["checkout.js", "developer.js", "product.js", ...others].map((name) =>
      join(pages, name),
    ),
    outbase: pages,
    outdir: join(root, "build", "www"),
    loader: { ".css": "copy", ".html": "copy", ".svg": "copy" },
    write: false,
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    target: "es2022",
    legalComments: "none",
    logLevel: "warning",
  });
  for (const { path, contents } of outputFiles) {
    // Unchanged files are not written again: a watcher or a running shop may be reading them.
    if (existsSync(path) && readFileSync(path).equals(contents)) continue;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, contents);
  }
}

/** Links pkg/ into the shop's folder node_modules, so that the package is found as if it were installed. */
export function linkPackage(root) {
  const pkg = join(root, "pkg");
  const link = join(root, "www", "node_modules", "impact-pledge");
  if (!existsSync(join(pkg, "package.json")))
    throw new UserError("the shop needs the package in pkg/; run `npm run build` first");
  if (existsSync(link)) return;
  rmSync(link, { force: true }); // a broken link
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(pkg, link, "junction");
}
