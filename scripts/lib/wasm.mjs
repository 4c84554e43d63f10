/**
 * Builds wasm from the crate, and the JavaScript that it needs, with cargo, wasm-bindgen, wasm-opt and wasm2js.
 */
import { createHash } from "node:crypto";
import {
  copyFileSync,
  cpSync,
  existsSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { locked, usedEntry } from "./cache.mjs";
import { UserError, log } from "./output.mjs";
import { run } from "./run.mjs";
import { bindgenVersion } from "../setup/rust.mjs";
import { QUIET_CARGO, WASM } from "../setup/toolchain.mjs";

/**
 * Tells wasm-opt how the crate uses memory: all memory starts as zeros, and its lowest addresses belong to the
 * stack and hold no data.
 */
const OWN_MEMORY = ["--low-memory-unused", "--zero-filled-memory"];
/**
 * The flags that give the smallest wasm after Brotli compression. They sort functions by name, so that those of
 * the same module are next to each other. The compiler's own order is practically random, and changes with its
 * version.
 */
const PACKED = ["-O3", "-O4", "--reorder-functions-by-name", "--converge", ...OWN_MEMORY];

/**
 * The wasm builds, by the name of their files. Each build has these members:
 *
 * - `features`: the crate's features
 * - `level`: rustc's optimization level
 * - `isLinkedFast`: without link-time optimization, which takes a minute and does not make this build faster or much smaller
 * - `bindgen`: flags for wasm-bindgen; a build without them may import nothing
 * - `optimise`: flags for wasm-opt
 * - `inPackage`: see {@link blankSourcePaths} and {@link shortenNames}
 * - `bareTraps`: see {@link removePanics}
 * - `plain`: see {@link writePlain}
 * - `of`: the build whose wasm this build starts from
 * - `exports`: the only exports of that wasm that this build keeps
 * @type {Record<string, {features: string, of?: string, exports?: string[], level: 3 | "s" | "z", isLinkedFast?: boolean, bindgen?: string[], optimise: string[], inPackage?: boolean, bareTraps?: boolean, plain?: boolean}>}
 */
const BUILDS = {
  // Enables the recovery of the `worker` crate: after an exception leaves the wasm, the next call starts a new instance. Its
  // abort handler catches exceptions by wasm's own instructions.
  impact_pledge: {
    features: "server",
    level: 3,
    isLinkedFast: true,
    bindgen: ["--force-enable-abort-handler"],
    optimise: ["-O3", "--enable-exception-handling"],
  },
  // It has the operators' functions, too: a wasm of their own would compile the office twice.
  dashboard: {
    features: "dashboard",
    level: "z",
    isLinkedFast: true,
    bindgen: ["--force-enable-abort-handler"],
    optimise: ["-O1", "--enable-exception-handling"], // "-Oz" takes 4 minutes longer, and is larger after gzip
  },
  // The same service for `impact-pledge/testing`, without the abort handler, which needs `WebAssembly.JSTag`: Node 20 has
  // none.
  testing: {
    features: "server",
    level: "z",
    bindgen: [],
    optimise: ["--flatten", "--rereloop", "-Oz", ...OWN_MEMORY], // "--converge" takes 20 s longer, for 0.1 %
    inPackage: true,
  },
  // With "z" it would be 0.9 KB larger after brotli.
  client: {
    features: "client",
    level: "s",
    bindgen: ["--encode-into", "always"],
    optimise: PACKED,
    inPackage: true,
    bareTraps: true,
  },
  // Checks JSON in half the time of "z", for 0.1 KB more. In the other builds, this level would link panics.
  validator: {
    features: "validate",
    level: "s",
    optimise: [...PACKED, "--strip-target-features"],
    plain: true,
  },
  // The same crate with only the formats, for forms: generated facts check everything else in a form.
  formats: {
    features: "validate",
    level: "s",
    of: "validator",
    exports: ["memory", "check_format"],
    optimise: [...PACKED, "--strip-target-features"],
    plain: true,
  },
};

/**
 * Builds a row of {@link BUILDS}, or finds it in the cache.
 * @returns {Promise<string>} a folder with `NAME_bg.wasm` and what wasm-bindgen made beside it
 */
export async function buildWasm(tools, name) {
  const build = BUILDS[name];
  const crate = await buildCrate(tools, build.of ?? name);
  return usedEntry(placeOf(tools, basename(crate), name), async (folder) => {
    cpSync(crate, folder, { recursive: true });
    const wasm = join(folder, `${name}_bg.wasm`);
    const script = join(folder, `${name}.js`);
    if (build.of) renameSync(join(folder, `${build.of}_bg.wasm`), wasm);
    if (build.exports) await keepExports(wasm, build.exports);
    if (build.inPackage) blankSourcePaths(wasm);
    if (build.bareTraps) await removePanics(wasm);
    await wasmOpt(tools, wasm, ...build.optimise, "--strip-debug", "--strip-producers");
    if (build.inPackage) await shortenNames(tools, wasm, script);
    if (!build.bindgen) checkImportsNothing(wasm);
    if (build.plain) await writePlain(tools, wasm, script);
  });
}

/** Returns the folder of {@link buildWasm} if the cache has it for the current sources; otherwise null. */
export function builtWasm(tools, name) {
  const place = placeOf(tools, keyOf(tools, BUILDS[name].of ?? name), name);
  return existsSync(place) ? place : null;
}

/**
 * Returns the folder of a build in the cache.
 * @param {import("../setup/tools.mjs").Tools} tools
 * @param {string} crate the key of the compiled crate in the cache
 * @param {string} name
 */
function placeOf({ root, cache }, crate, name) {
  const makers = [
    readFileSync(join(root, "node_modules", "binaryen", "package.json")),
    readFileSync(import.meta.filename),
  ];
  return join(cache, "wasm", sha256(crate, name, ...makers));
}

/**
 * Compiles the crate and runs wasm-bindgen, without optimizing. The key of the cached result covers
 * everything that the result depends on, so that a fresh clone need not compile. Cargo's own output is not
 * cached: it contains the path of the clone's folder, which wasm-bindgen reads.
 * @returns {Promise<string>} a folder with `NAME_bg.wasm` and what wasm-bindgen made beside it
 */
export async function buildCrate(tools, name) {
  const { wasm, root, cache } = tools;
  const { bindgen } = BUILDS[name];
  const args = argumentsOf(name);
  const keyNow = () => keyOf(tools, name);
  const key = keyNow();
  const work = async (folder) => {
    const env = compilerEnv(tools);
    const config = await rustflags(tools);
    const made = join(wasm.targetFolder, WASM, "release", "impact_pledge.wasm");
    // All builds write the same file.
    await locked(wasm.targetFolder, async () => {
      log(`compiling ${name}, which takes some minutes the first time`);
      await run(wasm.cargo, [...args, "--config", config], { cwd: root, env, show: true });
      if (bindgen) await bind(tools, made, folder, name, bindgen);
      else copyFileSync(made, join(folder, `${name}_bg.wasm`));
    });
    if (keyNow() !== key)
      throw new UserError("a source file was saved while the crate was compiled");
  };
  try {
    return await usedEntry(join(cache, "crate", key), work);
  } catch (error) {
    if (keyNow() === key) throw error;
    return buildCrate(tools, name);
  }
}

function keyOf({ wasm, root }, name) {
  const { bindgen } = BUILDS[name];
  const version = bindgenVersion(root);
  const facts = [wasm.release, version, name, argumentsOf(name), bindgen ?? null, FOLDERS];
  return sha256(...sourcesOf(root), JSON.stringify(facts));
}

function argumentsOf(name) {
  const { features, level, isLinkedFast } = BUILDS[name];
  const args = ["rustc", "--lib", "--crate-type", "cdylib", "--release", "--target", WASM];
  args.push("--no-default-features", "--features", features);
  if (isLinkedFast) args.push("--config", 'profile.release.lto="off"');
  // One profile: build scripts and macros are compiled once for all levels.
  return [...args, "--config", `profile.release.opt-level=${JSON.stringify(level)}`];
}

/**
 * Returns the environment without the user's flags for rustc, which would replace the project's flags.
 * @returns {NodeJS.ProcessEnv}
 */
export const compilerEnv = ({ wasm }) => ({
  ...QUIET_CARGO,
  ...wasm.env,
  RUSTFLAGS: undefined,
  CARGO_ENCODED_RUSTFLAGS: undefined,
});

const FOLDERS = { root: "/impact-pledge", target: "/target", registry: "/crates" };

/**
 * Returns the cargo setting that passes flags to rustc. With these flags, the wasm does not contain the paths
 * of this machine's folders, so its bytes are the same wherever it is built. (A profile's `trim-paths` would do
 * this, but needs nightly Rust.)
 */
async function rustflags({ root, wasm }) {
  const args = ["--format-version", "1", "--locked", "--all-features", "--filter-platform", WASM];
  const metadata = await run(wasm.cargo, ["metadata", ...args], { cwd: root, env: wasm.env });
  const crates = JSON.parse(metadata).packages.filter(({ source }) => source);
  const registries = new Set(crates.map((crate) => dirname(dirname(crate.manifest_path))));
  const folders = [
    [root, FOLDERS.root],
    [wasm.targetFolder, FOLDERS.target],
    ...[...registries].map((folder) => [folder, FOLDERS.registry]),
  ];
  const flags = folders.map(([from, to]) => `--remap-path-prefix=${from}=${to}`);
  return `target.${WASM}.rustflags=${JSON.stringify(flags)}`;
}

/**
 * Returns a hash of everything that determines the crate's wasm, except the compiler.
 * @param {string} root
 * @param {...string} makers the paths of further scripts that change how the wasm is built
 */
export const stateOf = (root, ...makers) =>
  sha256(
    ...sourcesOf(root),
    ...[import.meta.filename, ...makers].map((file) => readFileSync(file)),
  );

/** Returns the names and bytes of all of the crate's sources. */
function sourcesOf(root) {
  const sources = readdirSync(join(root, "src"), { recursive: true }).sort();
  return ["Cargo.toml", "Cargo.lock", ...sources.map((name) => join("src", name))]
    .filter((name) => statSync(join(root, name)).isFile())
    .flatMap((name) => [`\0${name}\0`, readFileSync(join(root, name))]);
}

/** @param {...(string | Buffer)} parts */
export const sha256 = (...parts) =>
  parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest("hex");

/** Runs wasm-bindgen, which writes JavaScript and the wasm for it into a folder. */
export function bind(tools, crate, folder, name, flags) {
  const made = ["--target", "web", "--no-typescript", "--omit-default-module-path"];
  const out = ["--out-dir", folder, "--out-name", name];
  return run(tools.bindgen, [...made, ...out, ...flags, crate]);
}

/** Runs a tool of the package `binaryen`. @returns {Promise<string>} what it prints */
const binaryenTool = ({ root, env }, tool, ...args) =>
  run(process.execPath, [join(root, "node_modules", "binaryen", "bin", tool), ...args], { env });

/** Runs wasm-opt on a wasm file, and overwrites the file. */
const wasmOpt = (tools, wasm, ...flags) =>
  binaryenTool(tools, "wasm-opt", wasm, "-o", wasm, ...flags);

const importsOf = (wasm) => WebAssembly.Module.imports(new WebAssembly.Module(readFileSync(wasm)));

export function checkImportsNothing(wasm) {
  const [foreign] = importsOf(wasm);
  if (foreign)
    throw new UserError(
      `the wasm imports \`${foreign.name}\`, which nothing provides: code of this Cargo feature must not use JavaScript types`,
    );
}

/** Removes all exports except `names`. wasm-opt can then remove the code that only the removed exports used. */
async function keepExports(wasm, names) {
  const { default: binaryen } = await import("binaryen");
  const module = binaryen.readBinary(readFileSync(wasm));
  const all = Array.from(
    { length: module.getNumExports() },
    (_, index) => binaryen.getExportInfo(module.getExportByIndex(index)).name,
  );
  for (const name of all) if (!names.includes(name)) module.removeExport(name);
  writeFileSync(wasm, module.emitBinary());
  module.dispose();
}

/**
 * Overwrites the paths of source files in a wasm's data with zeros. Only messages of panics contain these
 * paths, and the package never prints such a message. This saves shoppers 380 bytes of download.
 */
function blankSourcePaths(wasm) {
  const bytes = readFileSync(wasm);
  for (const { index, 0: path } of bytes.toString("latin1").matchAll(/(?:\/[\w.@+-]+)+\.rs/g))
    bytes.fill(0, index, index + path.length);
  writeFileSync(wasm, bytes);
}

/**
 * Matches the functions that write the message of a panic, by their paths. Removing them is safe: no other
 * code in the client formats a value by `Debug`, or a number by `fmt`.
 */
const PANICS =
  /panicking|PanicPayload|::panic_|_failed$|_fail$|handle_alloc_error|raw_vec::handle_error|capacity_overflow|fmt::Debug>|fmt::builders|fmt::num|^<u32 as core/;
const EVERY_PANIC = "core::panicking::panic_fmt";

/**
 * Makes every panic trap at once, without writing a message. The wasm has no output, so nobody could read
 * the message. Stable Rust has no option for this. Removing the messages saves callers 1.3 KB of download.
 */
export async function removePanics(wasm) {
  const { default: binaryen } = await import("binaryen");
  binaryen.setDebugInfo(true); // names, for wasm-opt's messages
  const module = binaryen.readBinary(readFileSync(wasm));
  const all = Array.from({ length: module.getNumFunctions() }, (_, index) =>
    module.getFunctionByIndex(index),
  );
  const pathOf = (each) => binaryen.getFunctionInfo(each).name.replace(/\[[\da-f]+\]/g, ""); // crates have hashes
  const panics = all.filter((each) => PANICS.test(pathOf(each)));
  if (!panics.some((each) => pathOf(each) === EVERY_PANIC))
    throw new UserError(
      "the functions that handle panics have new names: update PANICS in scripts/lib/wasm.mjs",
    );
  // The package's types declare `Function` as a member of modules.
  const functions = /** @type {any} */ (binaryen).Function;
  for (const each of panics) functions.setBody(each, module.unreachable());
  writeFileSync(wasm, module.emitBinary());
  module.dispose();
}

/**
 * Translates a wasm to a module of plain JavaScript. The module's function `instantiate` returns the
 * exports of a new instance. All code is inside this function, so importing the module runs nothing, and
 * instances share no variables. In JavaScript, an access outside the memory does not trap, but Rust checks
 * its indices itself.
 */
export async function writePlain(tools, wasm, file) {
  await binaryenTool(tools, "wasm2js", wasm, "-o", file, "--all-features", "-O");
  const code = readFileSync(file, "utf8");
  const end = code.indexOf("var retasmFunc = asmFunc({"); // from here on: an instance that is created when the module loads, and its exports
  if (end < 0 || /^import /m.test(code))
    throw new UserError(
      "wasm2js writes different JavaScript than before: update writePlain in scripts/lib/wasm.mjs",
    );
  const body = `${code.slice(0, end)}return asmFunc({});\n`;
  writeFileSync(file, `export function instantiate() {\n${body}}\n`);
}

/**
 * Shortens the names by which the wasm and wasm-bindgen's JavaScript call each other's functions to one or two
 * letters. wasm-opt renames the functions in the wasm, and esbuild in the JavaScript. Exports that other
 * JavaScript calls keep their names. This saves shoppers 2.6 KB of download.
 */
export async function shortenNames(tools, wasm, script) {
  const { imports, exports } = JSON.parse(
    await wasmOpt(tools, wasm, "--minify-imports-and-exports-and-modules"),
  );
  const isOwn = ([name]) => !/^(__wb|__externref|wasm_bindgen)/.test(name);
  await renameExports(wasm, exports.filter(isOwn));
  const shortened = [...imports, ...exports.filter((row) => !isOwn(row))];
  const names = Object.fromEntries(shortened.map((row) => row.slice(-2)));
  const [{ module }] = importsOf(wasm);
  const { transform } = await import("esbuild");
  const { code } = await transform(
    readFileSync(script, "utf8").replace(`"${imports[0][0]}"`, module),
    {
      mangleProps: new RegExp(`^(${Object.keys(names).join("|").replaceAll("$", "\\$")})$`),
      mangleCache: names,
      drop: ["console"],
    },
  );
  writeFileSync(script, code);
}

/**
 * Renames exports of a wasm file.
 * @param {string} wasm
 * @param {[name: string, now: string][]} rows each export's new name, and its current name `now`
 */
async function renameExports(wasm, rows) {
  const { default: binaryen } = await import("binaryen");
  const module = binaryen.readBinary(readFileSync(wasm));
  for (const [name, now] of rows) {
    const { kind, value } = binaryen.getExportInfo(module.getExport(now));
    const what = ["Function", "Global", "Memory", "Table"].find(
      (each) => binaryen[`External${each}`] === kind,
    );
    module.removeExport(now);
    module[`add${what}Export`](value, name);
  }
  module.runPasses(["strip-target-features"]); // no later tool reads them
  writeFileSync(wasm, module.emitBinary());
  module.dispose();
}
