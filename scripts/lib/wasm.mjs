/**
 * From the crate to wasm with its JavaScript: cargo, wasm-bindgen, wasm-opt. Whoever builds a part of the project
 * (the Worker, the npm package) says which features it takes and where the result goes.
 */
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { locked, usedEntry } from "./cache.mjs";
import { Stop, say } from "./report.mjs";
import { run } from "./run.mjs";
import { WASM } from "./rust.mjs";
import { withShortImports, withoutPanics } from "./shrink.mjs";

/** What rustc emits and every engine of the last years has; named, because a stripped module no longer says so. */
const WASM_FEATURES = ["bulk-memory", "bulk-memory-opt", "multivalue", "mutable-globals", "nontrapping-float-to-int", "reference-types", "sign-ext"];
const STAMP = ".stamp.json";

/**
 * @typedef {object} WasmBuild
 * @property {string[]} features of the crate
 * @property {string} outFolder gets `{outName}.js` and `{outName}_bg.wasm`
 * @property {string} [outName]
 * @property {string} [profile] cargo's
 * @property {string[]} [bindgen] more arguments for wasm-bindgen
 * @property {string[]} [optimise] arguments for wasm-opt; none at all: it is not run
 * @property {boolean} [small] take out what describes a panic, and the long names of imports
 */

/**
 * Builds what changed. The folder always holds one whole build: new files are renamed into it.
 * @param {import("./ready.mjs").Tools} tools
 * @param {WasmBuild} build
 * @returns {Promise<{raw: number, brotli: number, changed: boolean}>} sizes of the wasm in bytes
 */
export async function buildWasm(tools, build) {
  const { outFolder, outName = "impact_pledge", bindgen = [], optimise = ["-O3"], small = false } = build;
  const input = await compile(tools, build);
  const recipe = { outName, bindgen, optimise, small, version: await versionOf(tools) };
  const key = sha256(readFileSync(input), JSON.stringify(recipe));
  const known = stampOf(outFolder, outName);
  if (known?.key === key) return { ...known.sizes, changed: false };
  const sizes = await within(outFolder, async (fresh) => {
    await bind(tools, input, fresh, { outName, bindgen });
    const wasm = join(fresh, `${outName}_bg.wasm`);
    if (small) writeFileSync(wasm, await withoutPanics(readFileSync(wasm)));
    if (optimise.length > 0) await shrink(tools, wasm, optimise);
    if (small) shortenImports(wasm, join(fresh, `${outName}.js`));
    const sizes = sizesOf(wasm);
    writeFileSync(join(fresh, stampName(outName)), JSON.stringify({ key, sizes }));
    return sizes;
  });
  return { ...sizes, changed: true };
}

/**
 * Builds a wasm that needs no JavaScript of wasm-bindgen's.
 * @param {import("./ready.mjs").Tools} tools
 * @param {{features: string[], profile?: string, optimise: string[]}} build
 * @returns {Promise<Buffer>}
 */
export async function buildRawWasm(tools, { features, profile, optimise }) {
  const input = await compile(tools, { features, profile });
  const folder = mkdtempSync(join(tmpdir(), "impact-pledge-wasm-"));
  try {
    const output = join(folder, "raw.wasm");
    copyFileSync(input, output);
    await shrink(tools, output, [...optimise, "--strip-target-features"]);
    return mustBeRaw(readFileSync(output));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function mustBeRaw(wasm) {
  const imports = WebAssembly.Module.imports(new WebAssembly.Module(wasm));
  if (imports.length > 0) throw new Stop(`the wasm imports \`${imports[0].name}\`, and nobody is there to give it; keep JavaScript's types out of this door`);
  return wasm;
}

/**
 * Cargo keeps the library of the last features alone, so that three entries are three builds at every start: the
 * cache keeps them all, by all that they depend on.
 * @returns {Promise<string>} the path of the crate's wasm
 */
async function compile(tools, { features, profile = "release" }) {
  const { wasm, root, cache } = tools;
  const args = ["build", "--lib", "--profile", profile, "--target", WASM, "--no-default-features", "--features", features.join(",")];
  const keyNow = () => sha256(...sourcesOf(root), JSON.stringify([wasm.release, wasm.env.RUSTFLAGS, args]));
  const key = keyNow();
  try {
    const place = await usedEntry(join(cache, "crate", key), async (fresh) => {
      await cargoBuild(tools, args, profile, join(fresh, "crate.wasm"));
      if (keyNow() !== key) throw CHANGED;
    });
    return join(place, "crate.wasm");
  } catch (error) {
    if (error !== CHANGED) throw error;
    return compile(tools, { features, profile });
  }
}

/** A source was saved while it was compiled: nobody knows which of both the result is of. */
const CHANGED = Symbol("changed");

/** Another build of other features would put its wasm in the same place. */
function cargoBuild({ wasm, root }, args, profile, output) {
  const folder = profile === "dev" ? "debug" : profile;
  return locked(join(wasm.targetFolder, "impact-pledge.lock"), async () => {
    await must(wasm.cargo, args, { cwd: root, env: wasm.env, name: "cargo build" });
    copyFileSync(join(wasm.targetFolder, WASM, folder, "impact_pledge.wasm"), output);
  });
}

/** The names and bytes of all that the crate is made of. */
function sourcesOf(root) {
  const all = readdirSync(join(root, "src"), { recursive: true }).sort().map((name) => join("src", name));
  const files = ["Cargo.toml", "Cargo.lock", ...all].filter((name) => statSync(join(root, name)).isFile());
  return files.flatMap((name) => [`\0${name}\0`, readFileSync(join(root, name))]);
}

async function bind({ bindgen, env }, input, outFolder, { outName, bindgen: more }) {
  const args = ["--target", "web", "--omit-default-module-path", "--out-dir", outFolder, "--out-name", outName, ...more, input];
  await must(bindgen, args, { env, name: "wasm-bindgen" });
}

/** Up to a minute of work, with the same result each time: the cache keeps it, by all that it depends on. */
async function shrink({ root, env, cache }, wasm, optimise) {
  const features = WASM_FEATURES.map((feature) => `--enable-${feature}`);
  const script = join(root, "node_modules", "binaryen", "bin", "wasm-opt");
  const args = [...features, ...optimise, "--strip-debug", "--strip-producers"];
  const key = sha256(readFileSync(wasm), JSON.stringify([binaryenOf(root), args]));
  const work = (folder) => must(process.execPath, [script, wasm, "-o", join(folder, "small.wasm"), ...args], { env, name: "wasm-opt" });
  copyFileSync(join(await usedEntry(join(cache, "wasm-opt", key), work), "small.wasm"), wasm);
}

function shortenImports(wasmFile, glueFile) {
  const { wasm, glue } = withShortImports(readFileSync(wasmFile), readFileSync(glueFile, "utf8"));
  writeFileSync(wasmFile, wasm);
  writeFileSync(glueFile, glue);
}

/** Runs a tool that has to succeed. What it says is shown on a terminal, and anywhere when it fails. */
async function must(command, args, options) {
  const { ok, why, output } = await run(command, args, options);
  if (ok) return;
  if (output) process.stderr.write(output);
  throw new Stop(`${options.name} failed (${why}); see the lines above`);
}

/** Fills a fresh folder and renames its files into place, so that no reader meets half a build. */
async function within(outFolder, fill) {
  mkdirSync(outFolder, { recursive: true });
  const fresh = mkdtempSync(join(outFolder, ".fresh-"));
  try {
    const result = await fill(fresh);
    rmSync(join(outFolder, "snippets"), { recursive: true, force: true }); // a folder is renamed to an empty place only
    for (const name of readdirSync(fresh).sort(stampLast)) renameSync(join(fresh, name), join(outFolder, name));
    return result;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

const stampName = (outName) => `.${outName}${STAMP}`;
const stampLast = (a, b) => Number(a.endsWith(STAMP)) - Number(b.endsWith(STAMP));

/** What the last build left, while its files are still there. */
function stampOf(folder, outName) {
  const files = [`${outName}.js`, `${outName}_bg.wasm`, stampName(outName)].map((name) => join(folder, name));
  if (!files.every((file) => existsSync(file))) return null;
  return JSON.parse(readFileSync(files[2], "utf8"));
}

/** Everything but the input that the output depends on. */
async function versionOf({ bindgen, root }) {
  const { mtimeMs, size } = statSync(bindgen);
  const recipes = ["wasm.mjs", "shrink.mjs"].map((name) => readFileSync(join(import.meta.dirname, name)));
  return { binaryen: binaryenOf(root), bindgen: [mtimeMs, size], recipe: sha256(...recipes) };
}

const binaryenOf = (root) => JSON.parse(readFileSync(join(root, "node_modules", "binaryen", "package.json"), "utf8")).version;

function sha256(...parts) {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

function sizesOf(file) {
  const bytes = readFileSync(file);
  return { raw: bytes.length, brotli: brotliCompressSync(bytes).length };
}

/** One line on a build: `build/impact_pledge_bg.wasm: 201.3 KB, 78.2 KB brotli`. */
export function sayBuilt(root, file, { raw, brotli, changed }) {
  const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} KB`;
  say(`${relative(root, file)}: ${kilobytes(raw)}, ${kilobytes(brotli)} brotli${changed ? "" : " (unchanged)"}`);
}

/** Copies a file unless its copy is already the same: a watcher need not wake for nothing. */
export function copyChanged(from, to) {
  const bytes = readFileSync(from);
  if (existsSync(to) && bytes.equals(readFileSync(to))) return;
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(to, bytes);
}
