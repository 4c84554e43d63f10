/**
 * The npm package in pkg/: for every entry an ES module and a CommonJS one with the wasm in them as text, one for each
 * platform that wants the wasm as a module of its own, and where there is a `plain` one, two with the wasm as plain
 * JavaScript. An entry is a row of ENTRIES.
 */
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, parse } from "node:path";
import { replaceFolder } from "./lib/cache.mjs";
import { printable } from "./lib/printable.mjs";
import { say } from "./lib/report.mjs";
import { buildWasm } from "./lib/wasm.mjs";

/** `source` and `types` lie below pkg-templates/; `wasm` is the build that gives it, `modules` what its other files are imported as, `plain` the entry without wasm. */
export const ENTRIES = [
  { name: "index", path: ".", source: "index.js", types: "index.d.ts", wasm: "client", modules: { "#client": "client.js" } },
  { name: "validate", path: "./validate", source: "validate/index.js", types: "validate.d.ts", wasm: "validator", plain: "validate/js" },
  { name: "form", path: "./form", source: "form/form.js", types: "form.d.ts", wasm: "validator", plain: "form/js" },
];

const PLATFORMS = { workerd: "", "edge-light": "?module" }; // who wants the wasm as a module, and how it is imported there

/** @param {import("./lib/ready.mjs").Tools} tools */
export async function buildPackage(tools) {
  await replaceFolder(join(tools.root, "pkg"), join(tools.root, "build"), async (pkg) => {
    for (const entry of ENTRIES) await buildEntry(tools, pkg, entry);
    const locales = await buildLocales(join(tools.root, "pkg-templates", "locales"), join(pkg, "locales"));
    writeFileSync(join(pkg, "package.json"), `${JSON.stringify(manifest(tools.root, locales), null, 2)}\n`);
    copyFileSync(join(tools.root, "LICENSE"), join(pkg, "LICENSE"));
    copyFileSync(join(tools.root, "docs", "npm.md"), join(pkg, "README.md"));
  });
  say(`pkg/: ${ENTRIES.flatMap(({ path, plain }) => [path, ...(plain ? [`./${plain}`] : [])]).join(", ")}`);
}

async function buildEntry(tools, pkg, { name, source, types, wasm: build, modules = {}, plain }) {
  const [templates, folder] = [join(tools.root, "pkg-templates"), await buildWasm(tools, build)];
  const wasm = readFileSync(join(folder, `${build}_bg.wasm`));
  const made = { "#text": { contents: printable(wasm), loader: "text" } };
  for (const [path, file] of Object.entries(modules)) made[path] = { contents: readFileSync(join(folder, file)) };
  const loader = (file) => join(templates, "loaders", file);
  const instance = loader(modules["#client"] ? "client-instance.js" : "instance.js");
  const bundle = (outfile, format, module, wasmPath) =>
    bundleEntry(join(templates, source), { outfile: join(pkg, outfile), format, inject: wasmPath ? [] : [join(templates, "platform.js")] }, made, { "#instance": instance, "#module": loader(module) }, wasmPath);
  writeFileSync(join(pkg, `${name}.wasm`), wasm);
  await bundle(`${name}.js`, "esm", "inline.js");
  await bundle(`${name}.cjs`, "cjs", "inline.js");
  for (const [platform, query] of Object.entries(PLATFORMS)) await bundle(`${name}.${platform}.js`, "esm", "module.js", `./${name}.wasm${query}`);
  const text = readFileSync(join(templates, types), "utf8");
  writeFileSync(join(pkg, types), text);
  writeFileSync(join(pkg, forRequire(types)), text.replace(/(from "\.\/[\w-]+)\.js"/g, '$1.cjs"'));
  if (plain) await buildPlain(join(templates, source), readFileSync(join(folder, `${build}.js`)), { pkg, name, plain, files: { "#module": loader("plain.js"), "../platform.js": join(templates, "plain-platform.js") } });
}

/** The files lie where they are found without exports, too. */
async function buildPlain(source, instance, { pkg, name, plain, files }) {
  mkdirSync(join(pkg, name), { recursive: true });
  for (const [format, ending] of [["esm", "js"], ["cjs", "cjs"]]) {
    await bundleEntry(source, { outfile: join(pkg, `${plain}.${ending}`), format }, { "#instance": { contents: instance } }, files);
    writeFileSync(join(pkg, `${plain}.d.${ending.replace("js", "ts")}`), `export * from "../${name}.${ending}";\n`);
  }
}

/** A pack of texts for each language. @returns {Promise<string[]>} their names */
async function buildLocales(templates, folder) {
  const { build } = await import("esbuild");
  const locales = readdirSync(templates).map((file) => parse(file).name).filter((name) => name !== "plural");
  const entryPoints = locales.map((name) => join(templates, `${name}.js`));
  const options = { entryPoints, bundle: true, charset: "utf8", platform: "neutral", target: "es2022", outdir: folder, logLevel: "warning" };
  await build({ ...options, format: "esm" });
  await build({ ...options, format: "cjs", outExtension: { ".js": ".cjs" } });
  mkdirSync(folder, { recursive: true });
  for (const [extension, types] of [["d.ts", "validate.js"], ["d.cts", "validate.cjs"]]) {
    for (const name of locales) writeFileSync(join(folder, `${name}.${extension}`), `import type { LocalePack } from "../${types}";\n\nexport declare const ${name}: LocalePack;\nexport default ${name};\n`);
  }
  return locales;
}

/** `made` and `files`: what the sources import by these names, most of which begin with `#`; `wasmPath`: where the wasm is a module. */
async function bundleEntry(source, options, made, files, wasmPath) {
  const { build } = await import("esbuild");
  const setup = ({ onResolve, onLoad }) => {
    onResolve({ filter: /^#|\/platform\.js$/ }, ({ path }) => {
      if (path in made) return { path, namespace: "made" }; // without a path of this machine
      return path === "#wasm" ? { path: wasmPath, external: true } : files[path] && { path: files[path] };
    });
    onLoad({ filter: /^#/, namespace: "made" }, ({ path }) => made[path]);
  };
  const minifySyntax = true; // constants become what they are
  await build({ entryPoints: [source], bundle: true, platform: "neutral", target: "es2022", minifySyntax, legalComments: "none", logLevel: "warning", plugins: [{ name: "impact-pledge", setup }], ...options });
}

const forRequire = (types) => types.replace(/\.d\.ts$/, ".d.cts");

function manifest(root, locales) {
  const plain = ENTRIES.filter(({ plain }) => plain).map(({ plain }) => [`./${plain}`, moduleConditions(`./${plain}`)]);
  const others = locales.map((name) => `./locales/${name}`).map((path) => [path, moduleConditions(path)]);
  const exports = Object.fromEntries([...ENTRIES.map((entry) => [entry.path, conditions(entry)]), ...plain, ...others]);
  return {
    name: "impact-pledge",
    version: readFileSync(join(root, "Cargo.toml"), "utf8").match(/^version = "(.+)"$/m)[1],
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
function conditions({ name, types, plain }) {
  const esm = (file) => ({ types: `./${types}`, default: `./${file}` });
  const platforms = Object.keys(PLATFORMS).map((platform) => [platform, esm(`${name}.${platform}.js`)]);
  const require = { types: `./${forRequire(types)}`, default: `./${name}.cjs` };
  return { ...Object.fromEntries(platforms), ...(plain && { "react-native": moduleConditions(`./${plain}`) }), require, default: esm(`${name}.js`) };
}

/** Of a module that is the same everywhere. */
const moduleConditions = (path) => ({
  require: { types: `${path}.d.cts`, default: `${path}.cjs` },
  default: { types: `${path}.d.ts`, default: `${path}.js` },
});
