/**
 * The npm package in pkg/: for every entry an ES module and a CommonJS one with the wasm in them as text, and one for
 * each platform that wants the wasm as a module of its own. An entry is a row of ENTRIES.
 */
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { replaceFolder } from "./lib/folder.mjs";
import { printable } from "./lib/printable.mjs";
import { say } from "./lib/report.mjs";
import { buildWasm } from "./lib/wasm.mjs";

/**
 * @typedef {object} Entry
 * @property {string} name of its files in pkg/
 * @property {string} path in the package: `.` or `./name`
 * @property {string} source below pkg-templates/
 * @property {string} types below pkg-templates/, and where they go in pkg/
 * @property {string} wasm the build that gives its wasm
 * @property {Record<string, string>} [modules] what that build's files are imported as
 */

/** @type {Entry[]} */
export const ENTRIES = [
  { name: "index", path: ".", source: "index.js", types: "index.d.ts", wasm: "client", modules: { "#client": "client.js" } },
  { name: "validate", path: "./validate", source: "validate/index.js", types: "validate.d.ts", wasm: "validator" },
  { name: "form", path: "./form", source: "form/form.js", types: "form.d.ts", wasm: "form" },
];

/** Who wants the wasm as a module, and how it is imported there. */
const PLATFORMS = { workerd: "", "edge-light": "?module" };

/** @param {import("./lib/ready.mjs").Tools} tools */
export async function buildPackage(tools) {
  await replaceFolder(join(tools.root, "pkg"), join(tools.root, "build"), async (pkg) => {
    for (const entry of ENTRIES) await buildEntry(tools, pkg, entry);
    writeFileSync(join(pkg, "package.json"), `${JSON.stringify(manifest(tools.root), null, 2)}\n`);
    copyFileSync(join(tools.root, "LICENSE"), join(pkg, "LICENSE"));
    copyFileSync(join(tools.root, "pkg-templates", "README.md"), join(pkg, "README.md"));
  });
  say(`pkg/: ${ENTRIES.map(({ path }) => path).join(", ")}`);
}

async function buildEntry(tools, pkg, { name, source, types, wasm: build, modules: files = {} }) {
  const folder = await buildWasm(tools, build);
  const wasm = readFileSync(join(folder, `${build}_bg.wasm`));
  const modules = Object.fromEntries(Object.entries(files).map(([path, file]) => [path, join(folder, file)]));
  writeFileSync(join(pkg, `${name}.wasm`), wasm);
  const bundle = (outfile, format, loader, wasmPath) =>
    bundleEntry({ templates: join(tools.root, "pkg-templates"), source, outfile: join(pkg, outfile), format, loader, modules, wasm, wasmPath });
  await bundle(`${name}.js`, "esm", "inline.js");
  await bundle(`${name}.cjs`, "cjs", "inline.js");
  for (const [platform, query] of Object.entries(PLATFORMS)) await bundle(`${name}.${platform}.js`, "esm", "module.js", `./${name}.wasm${query}`);
  writeTypes(tools.root, pkg, types);
}

async function bundleEntry({ templates, source, outfile, format, loader, modules, wasm, wasmPath }) {
  const { build } = await import("esbuild");
  const loaders = join(templates, "loaders");
  const files = { "#module": join(loaders, loader), "#imports": join(loaders, "#client" in modules ? "unused-imports.js" : "no-imports.js"), ...modules };
  await build({
    entryPoints: [join(templates, source)],
    outfile,
    format,
    bundle: true,
    platform: "neutral",
    target: "es2022",
    minifySyntax: true, // constants become what they are
    inject: wasmPath ? [] : [join(templates, "text.js")], // a platform that compiles wasm itself has these, too
    legalComments: "none",
    logLevel: "warning",
    plugins: [resolved(files, wasm, wasmPath)],
  });
}

/** What the sources import by a name that begins with `#`. */
function resolved(files, wasm, wasmPath) {
  return {
    name: "impact-pledge",
    setup(build) {
      build.onResolve({ filter: /^#/ }, ({ path }) => {
        if (path === "#text") return { path, namespace: "text" };
        if (path === "#wasm") return { path: wasmPath, external: true };
        return { path: files[path] };
      });
      build.onLoad({ filter: /^#text$/, namespace: "text" }, () => ({ contents: printable(wasm), loader: "text" }));
    },
  };
}

/** For `import` and, as TypeScript wants them apart, for `require`. */
function writeTypes(root, pkg, file) {
  const text = readFileSync(join(root, "pkg-templates", file), "utf8");
  writeFileSync(join(pkg, file), text);
  writeFileSync(join(pkg, file.replace(/\.d\.ts$/, ".d.cts")), text.replace(/(from "\.\/[\w-]+)\.js"/g, '$1.cjs"'));
}

function manifest(root) {
  const version = readFileSync(join(root, "Cargo.toml"), "utf8").match(/^version = "(.+)"$/m)[1];
  const exports = Object.fromEntries(ENTRIES.map((entry) => [entry.path, conditions(entry)]));
  return {
    name: "impact-pledge",
    version,
    description: "Impact pledges for any transaction: validation by the service's own rules, everywhere, without an init call",
    license: "MIT",
    keywords: ["pledge", "impact", "validation", "wasm", "standard-schema"],
    type: "module",
    sideEffects: false,
    exports: { ...exports, "./package.json": "./package.json" },
    engines: { node: ">=20" },
  };
}

/** The types first in each condition: whoever resolves takes the first that it knows. */
function conditions({ name, types }) {
  const esm = (file) => ({ types: `./${types}`, default: `./${file}` });
  const platforms = Object.keys(PLATFORMS).map((platform) => [platform, esm(`${name}.${platform}.js`)]);
  const require = { types: `./${types.replace(/\.d\.ts$/, ".d.cts")}`, default: `./${name}.cjs` };
  return { ...Object.fromEntries(platforms), require, default: esm(`${name}.js`) };
}
