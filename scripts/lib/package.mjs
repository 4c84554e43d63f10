/**
 * Builds the npm package in pkg/ from the rows of ENTRIES:
 *
 * - Each entry becomes an ES module and a CommonJS module that contain the wasm as text.
 * - For each platform that imports wasm as a module, the entry also becomes a separate ES module.
 * - An entry with `plain` also becomes two modules whose wasm is translated to plain JavaScript.
 *
 * `rules.js` contains only this plain JavaScript. `form.js` and `form.cjs` import it where the platform
 * refuses wasm.
 */
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, parse } from "node:path";
import { replaceFolder } from "./cache.mjs";
import { writeDeclarations } from "./declarations.mjs";
import { printable } from "./printable.mjs";
import { log } from "./output.mjs";
import { bundledParts, licenceTexts, linkedParts } from "./licences.mjs";
import { buildWasm } from "./wasm.mjs";

/**
 * The entries of the package. An entry has these members, among others:
 *
 * - `source`: its file in pkg-templates/
 * - `wasm`: the name of its wasm build
 * - `worker`: the source that {@link bundleWorker} bundles
 * - `kinds`: its generated table of the kinds of issues
 * - `remedy`: the advice in its error if the platform refuses wasm
 * - `plain`: the name of its files without wasm, for React Native
 * @typedef {{name: string, path: string, source: string, wasm: string, worker?: string, kinds?: string, remedy?: string, plain?: string}} Entry
 * @type {Entry[]}
 */
export const ENTRIES = [
  {
    name: "index",
    path: ".",
    source: "index.ts",
    wasm: "client",
  },
  {
    name: "validate",
    path: "./validate",
    source: "validate/index.ts",
    wasm: "validator",
    plain: "validate/js",
  },
  {
    name: "form",
    path: "./form",
    source: "form/form.ts",
    wasm: "formats",
    kinds: "kinds-of-forms.ts",
    remedy: "`await ready()` first",
    plain: "form.react-native",
  },
  {
    name: "testing",
    path: "./testing",
    source: "testing/service.ts",
    wasm: "testing",
    worker: "testing/worker.ts",
  },
];

const OTHERS = ["badge", "choice", "orders", "react-hook-form"];

/** The one of `OTHERS` with generated constants. They are inlined, which would make the others larger. */
const WITH_CONSTANTS = "orders";

/**
 * The modules that define a custom element when they are imported. Bundlers may drop unused imports of all
 * other modules.
 */
const DOERS = ["badge", "choice"].flatMap((name) => [`./${name}.js`, `./${name}.cjs`]);

const REMEDY = "allow 'wasm-unsafe-eval' in script-src, or import impact-pledge/validate/js";

/**
 * The files without wasm (`plain`) that are also entries of the package, so that shops can import them by
 * name.
 */
const PLAIN_ENTRIES = ["validate/js"];

/**
 * The path by which `index.ts` imports the entry `validate`. Bundles keep this import, so that a page that
 * uses both entries loads the rules once.
 */
const VALIDATOR = "./validate/index.ts";

const COMMAND = "bin/impact-pledge";

/** The pages of `docs` for shops. The package has them in its folder `docs`. */
const PAGES = [
  "getting-started.md",
  "npm.md",
  "forms.md",
  "forms-server.md",
  "react-hook-form.md",
  "testing.md",
];

/** @type {import("esbuild").BuildOptions} */
const BUNDLE = {
  bundle: true,
  platform: "neutral",
  target: "es2022",
  legalComments: "none",
  logLevel: "warning",
  tsconfigRaw: {}, // the `paths` of tsconfig.json are only for the type checker
};

/** @type {Record<string, import("esbuild").Format>} */
const FORMATS = { js: "esm", cjs: "cjs" };

/** How npm publishes both packages: for everybody, with a signed statement of the commit and the workflow that built them. */
export const PUBLISHED = { access: "public", provenance: true };

const PLATFORMS = { workerd: "", "edge-light": "?module" }; // platforms that import wasm as a module, and the query of that import

/** @param {import("../setup/tools.mjs").Tools} tools */
export async function buildPackage(tools) {
  await replaceFolder(join(tools.root, "pkg"), join(tools.root, "build"), async (pkg) => {
    for (const entry of ENTRIES)
      await buildEntry(tools, pkg, entry, await buildWasm(tools, entry.wasm));
    await buildCommand(tools.root, pkg);
    const templates = join(tools.root, "pkg-templates");
    const others = await buildModules(templates, pkg);
    await writeDeclarations(templates, pkg, {
      ...Object.fromEntries(ENTRIES.map(({ name, source }) => [name, source])),
      ...Object.fromEntries(others.map((name) => [name, `${name}.ts`])),
    });
    writeFileSync(
      join(pkg, "package.json"),
      `${JSON.stringify(manifest(tools.root, others), null, 2)}\n`,
    );
    for (const file of ["LICENSE", "CHANGELOG.md"])
      copyFileSync(join(tools.root, file), join(pkg, file));
    copyFileSync(join(templates, "README.md"), join(pkg, "README.md"));
    mkdirSync(join(pkg, "docs"));
    for (const page of PAGES) copyFileSync(join(tools.root, "docs", page), join(pkg, "docs", page));
    const linked = await linkedParts(tools, "client,server");
    const texts = licenceTexts(tools.root, [...linked, ...bundledParts(tools.root, pkg)]);
    writeFileSync(join(pkg, "THIRD-PARTY-LICENSES.txt"), texts);
  });
  log(
    `pkg/: ${[...ENTRIES.map(({ path }) => path), ...PLAIN_ENTRIES.map((plain) => `./${plain}`)].join(", ")}`,
  );
}

/**
 * Builds the package for the demo shop of `npm start`. Leaves out documents, declarations and the entry `testing`.
 * @param {import("../setup/tools.mjs").Tools} tools
 * @param {string} pkg
 * @param {(name: string) => Promise<string>} wasmOf returns the folder of a build
 */
export async function buildForShop(tools, pkg, wasmOf) {
  await replaceFolder(pkg, dirname(pkg), async (folder) => {
    for (const entry of ENTRIES.filter(({ name }) => name !== "testing"))
      await buildEntry(tools, folder, entry, await wasmOf(entry.wasm));
    const others = await buildModules(join(tools.root, "pkg-templates"), folder);
    const about = { ...manifest(tools.root, others), private: true };
    writeFileSync(join(folder, "package.json"), JSON.stringify(about));
  });
}

/**
 * Builds the files of one entry.
 * @param {import("../setup/tools.mjs").Tools} tools @param {string} pkg @param {Entry} entry
 * @param {string} folder of the entry's wasm
 */
async function buildEntry(
  tools,
  pkg,
  { name, source, wasm: build, worker, kinds = "kinds.ts", remedy = REMEDY, plain },
  folder,
) {
  const templates = join(tools.root, "pkg-templates");
  const file = (...names) => ({ path: join(templates, ...names) });
  const wasm = readFileSync(join(folder, `${build}_bg.wasm`));
  const glue = join(folder, `${build}.js`);
  const imports = {
    "#kinds": file("generated", kinds),
    "#text": { contents: printable(wasm), loader: "text" },
    "#version": version(tools.root),
    "#instance": file("loaders", "instance.ts"),
    ...(build === "client" && { "#client": { contents: readFileSync(glue) } }),
    ...(worker && {
      "#worker": { contents: await bundleWorker(join(templates, worker), glue) },
    }),
  };
  const bundle = (outfile, options, more) =>
    bundleEntry(
      join(templates, source),
      { outfile: join(pkg, outfile), define: { REMEDY: JSON.stringify(remedy) }, ...options },
      { ...imports, ...more },
    );
  writeFileSync(join(pkg, `${name}.wasm`), wasm);
  const inject = [join(templates, "platform.ts")];
  for (const [ending, format] of Object.entries(FORMATS))
    await bundle(
      `${name}.${ending}`,
      { format, inject },
      {
        "#module": file("loaders", "inline.ts"),
        "#rules": { path: "./rules.js", external: true },
        [VALIDATOR]: { path: `./validate.${ending}`, external: true },
      },
    );
  for (const [platform, query] of Object.entries(PLATFORMS))
    await bundle(
      `${name}.${platform}.js`,
      { format: "esm" },
      {
        "#module": file("loaders", "module.ts"),
        "#wasm": { path: `./${name}.wasm${query}`, external: true },
        [VALIDATOR]: { path: `./validate.${platform}.js`, external: true },
      },
    );
  if (!plain) return;
  await writeRules(glue, join(pkg, "rules.js"));
  for (const [ending, format] of Object.entries(FORMATS)) {
    await bundle(
      `${plain}.${ending}`,
      { format },
      {
        "#instance": { contents: readFileSync(glue) },
        "#module": file("loaders", "plain.ts"),
        "../platform.ts": file("plain-platform.ts"),
      },
    );
    if (PLAIN_ENTRIES.includes(plain))
      writeFileSync(
        join(pkg, `${plain}.d.${ending.replace("js", "ts")}`),
        `export * from "../${name}.${ending}";\n`,
      );
  }
}

/**
 * Writes the wasm's translation to plain JavaScript to a file. Minifies it, because a page without a bundler
 * loads the file unchanged, and nobody edits it.
 */
async function writeRules(glue, file) {
  const { transform } = await import("esbuild");
  const { code } = await transform(readFileSync(glue, "utf8"), {
    target: BUNDLE.target,
    minify: true,
  });
  writeFileSync(file, code);
}

const GLOBALS = [
  "Date",
  "Headers",
  "Request",
  "Response",
  "clearTimeout",
  "console",
  "crypto",
  "queueMicrotask",
  "setTimeout",
];

/**
 * Bundles the Worker as a module with the function `instantiate(platform)`. This function starts an isolate
 * that takes its globals from `platform`. So each isolate has its own clock and randomness. `Symbol.dispose`
 * is replaced by undefined, because esbuild then drops the unused classes of the `worker` crate.
 */
async function bundleWorker(source, glue) {
  const { build } = await import("esbuild");
  const define = {
    globalThis: "platform",
    "Symbol.dispose": "undefined",
    ...Object.fromEntries(GLOBALS.map((name) => [name, `platform.${name}`])),
  };
  const { outputFiles = [] } = await build({
    ...BUNDLE,
    entryPoints: [source],
    format: "iife",
    globalName: "worker",
    minifySyntax: true,
    minifyWhitespace: true,
    write: false,
    alias: { "#glue": glue },
    define,
  });
  return `export function instantiate(platform) {\n${outputFiles[0].text}return worker;\n}\n`;
}

/**
 * Builds the entries without wasm: one set of texts for each language, the custom elements, the orders, and the module for
 * React Hook Form.
 * @returns {Promise<string[]>} their names
 */
async function buildModules(templates, pkg) {
  const { build } = await import("esbuild");
  const locales = readdirSync(join(templates, "locales"))
    .map((file) => parse(file).name)
    .filter((name) => name !== "pack");
  const names = [...locales.map((name) => `locales/${name}`), ...OTHERS];
  /** @type {import("esbuild").BuildOptions} */
  const options = {
    ...BUNDLE,
    outbase: templates,
    outdir: pkg,
    packages: "external",
    charset: "utf8",
  };
  for (const minifySyntax of [true, false]) {
    const own = names.filter((name) => (name === WITH_CONSTANTS) === minifySyntax);
    const entryPoints = own.map((name) => join(templates, `${name}.ts`));
    for (const [ending, format] of Object.entries(FORMATS)) {
      const outExtension = { ".js": `.${ending}` };
      await build({ ...options, entryPoints, minifySyntax, format, outExtension });
    }
  }
  return names;
}

/** Builds the command `impact-pledge`, which imports the entries by the package's name. */
async function buildCommand(root, pkg) {
  const outfile = join(pkg, `${COMMAND}.js`);
  const options = {
    outfile,
    format: "esm",
    platform: "node",
    mainFields: ["module", "main"],
    external: ["impact-pledge", "impact-pledge/*"],
    charset: "utf8",
  };
  await bundleEntry(join(root, "pkg-templates", `${COMMAND}.ts`), options, {
    "#version": version(root),
  });
  chmodSync(outfile, 0o755);
}

/**
 * Bundles a source file. For names that the sources import, `imports` has the file or text to use. Most of
 * these names begin with `#`.
 */
async function bundleEntry(source, options, imports) {
  const { build } = await import("esbuild");
  const setup = ({ onResolve, onLoad }) => {
    onResolve({ filter: /^#|\/platform\.ts$|^\.\/validate\/index\.ts$/ }, ({ path }) =>
      // The path of a text is its name: bundles must contain no path of this machine.
      imports[path]?.contents ? { path, namespace: "made" } : imports[path],
    );
    onLoad({ filter: /^#/, namespace: "made" }, ({ path }) => imports[path]);
  };
  await build({
    ...BUNDLE,
    entryPoints: [source],
    minifySyntax: true, // inlines constants
    plugins: [{ name: "impact-pledge", setup }],
    ...options,
  });
}

/**
 * Returns the text of a member in Cargo.toml, such as `version`. If the member is a list with one text,
 * returns that text.
 */
const crateMember = (root, name) =>
  readFileSync(join(root, "Cargo.toml"), "utf8").match(
    new RegExp(`^${name} = \\[?"(.+?)"\\]?$`, "m"),
  )?.[1] ?? "";

const version = (root) => ({
  contents: `export const VERSION = ${JSON.stringify(crateMember(root, "version"))};`,
});

function manifest(root, others) {
  const modules = [...PLAIN_ENTRIES, ...others];
  const exports = Object.fromEntries([
    ...ENTRIES.map((entry) => [entry.path, conditions(entry)]),
    ...modules.map((name) => [`./${name}`, moduleConditions(`./${name}`)]),
  ]);
  const member = (name) => crateMember(root, name);
  const repository = member("repository");
  return {
    name: "impact-pledge",
    version: member("version"),
    description:
      "Impact pledges for any transaction, validated by the service's own rules in every runtime, without an init call",
    author: member("authors"),
    license: "MIT",
    repository: { type: "git", url: `git+${repository}.git` },
    homepage: `${repository}#readme`,
    bugs: { url: `${repository}/issues` },
    keywords: ["pledge", "impact", "validation", "wasm", "standard-schema"],
    type: "module",
    sideEffects: DOERS,
    exports: { ...exports, "./package.json": "./package.json" },
    bin: { "impact-pledge": `${COMMAND}.js` },
    engines: { node: ">=20" },
    peerDependencies: { "react-hook-form": ">=7.55" }, // only for its types
    peerDependenciesMeta: { "react-hook-form": { optional: true } },
    publishConfig: PUBLISHED,
  };
}

/**
 * Returns the conditional exports of an entry, for package.json. Within each condition, `types` comes first,
 * because a resolver takes the first condition that it knows.
 * @param {Entry} entry
 */
function conditions({ name, plain }) {
  const esm = (file) => ({ types: `./${name}.d.ts`, default: `./${file}` });
  const platforms = Object.keys(PLATFORMS).map((platform) => [
    platform,
    esm(`${name}.${platform}.js`),
  ]);
  const require = { types: `./${name}.d.cts`, default: `./${name}.cjs` };
  return {
    ...Object.fromEntries(platforms),
    ...(plain && { "react-native": moduleConditions(`./${name}`, `./${plain}`) }),
    require,
    default: esm(`${name}.js`),
  };
}

/**
 * Returns the export conditions of a module that is the same on all platforms.
 * @param {string} types the path of its declarations
 */
const moduleConditions = (types, path = types) => ({
  require: { types: `${types}.d.cts`, default: `${path}.cjs` },
  default: { types: `${types}.d.ts`, default: `${path}.js` },
});
