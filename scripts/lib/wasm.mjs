/**
 * From the crate to wasm, with its JavaScript where it needs any: cargo, wasm-bindgen, wasm-opt,
 * wasm2js.
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
import { UserError } from "./output.mjs";
import { run } from "./run.mjs";
import { bindgenVersion } from "../setup/rust.mjs";
import { WASM } from "../setup/toolchain.mjs";

/**
 * These hold for our memory: it starts as zeros, and its lowest addresses are the end of the stack,
 * without data.
 */
const OWN_MEMORY = ["--converge", "--low-memory-unused", "--zero-filled-memory"];
const SMALLEST = ["--flatten", "--rereloop", "-Oz", ...OWN_MEMORY];
/**
 * The smallest after brotli. The compiler's order of functions is like a random one, and another in each of its versions;
 * by their names those of a module are neighbours.
 */
const PACKED = ["-O3", "-O4", "--reorder-functions-by-name", ...OWN_MEMORY];

/**
 * By the name of the files. `features` of the crate; rustc's `level` of optimization; flags for wasm-bindgen (without any
 * list the wasm may import nothing) and for wasm-opt; `inPackage`: see {@link blankSourcePaths} and {@link shortenNames};
 * `bareTraps`: see {@link removePanics}; `plain`: see {@link writePlain}. `of`: another row, whose crate has only these `exports`.
 * @type {Record<string, {features: string, of?: string, exports?: string[], level: 3 | "s" | "z", bindgen?: string[], optimise: string[], inPackage?: boolean, bareTraps?: boolean, plain?: boolean}>}
 */
const BUILDS = {
  // The `worker` crate's recovery: after any exception that leaves the wasm, the next call starts a new instance. Its
  // abort handler catches by wasm's own instructions.
  impact_pledge: {
    features: "consumer",
    level: 3,
    bindgen: ["--force-enable-abort-handler"],
    optimise: ["-O3", "--enable-exception-handling"],
  },
  dashboard: {
    features: "dashboard",
    level: "z",
    bindgen: ["--force-enable-abort-handler"],
    optimise: ["-Oz", "--enable-exception-handling"], // `--converge` takes minutes for 0.3 %
  },
  // The same service for `impact-pledge/testing`, without the consumer of the queue and the abort handler: Node 20 has no `WebAssembly.JSTag`, which
  // that takes.
  testing: {
    features: "server",
    level: "z",
    bindgen: [],
    optimise: SMALLEST,
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
  // JSON in half the time of "z" for 0.1 KB. In the others it would link panics.
  validator: {
    features: "validate",
    level: "s",
    optimise: [...PACKED, "--strip-target-features"],
    plain: true,
  },
  // The same crate with the formats alone, for forms: what else a form can break is checked by generated facts.
  formats: {
    features: "validate",
    level: "s",
    of: "validator",
    exports: ["memory", "check_format"],
    optimise: [...PACKED, "--strip-target-features"],
    plain: true,
  },
  operator: { features: "operator", level: "s", bindgen: [], optimise: ["-O1"] },
};

/** Builds a row of {@link BUILDS}, or takes it from the cache. @returns {Promise<string>} a folder with `NAME_bg.wasm` and what wasm-bindgen made beside it */
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

/** What {@link buildWasm} returns if the cache has it for the sources as they are; else null. */
export function builtWasm(tools, name) {
  const place = placeOf(tools, keyOf(tools, BUILDS[name].of ?? name), name);
  return existsSync(place) ? place : null;
}

/** @param {import("../setup/tools.mjs").Tools} tools @param {string} crate its key @param {string} name */
function placeOf({ root, cache }, crate, name) {
  const makers = [
    readFileSync(join(root, "node_modules", "binaryen", "package.json")),
    readFileSync(import.meta.filename),
  ];
  return join(cache, "wasm", sha256(crate, name, ...makers));
}

/**
 * The crate compiled and bound, not yet optimised. The cache keeps it by all that it depends on: a fresh clone need not
 * compile. What cargo writes is not kept, because it names the clone's folder, which wasm-bindgen reads.
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
      await run(wasm.cargo, [...args, "--config", config], { cwd: root, env, show: true });
      if (bindgen) await bind(tools, made, folder, name, bindgen);
      else copyFileSync(made, join(folder, `${name}_bg.wasm`));
    });
    if (keyNow() !== key) throw new UserError("a source was saved while it was compiled");
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
  const { features, level } = BUILDS[name];
  const args = ["build", "--lib", "--release", "--target", WASM];
  args.push("--no-default-features", "--features", features);
  // One profile: what runs while compiling is compiled once for all levels.
  return [...args, "--config", `profile.release.opt-level=${JSON.stringify(level)}`];
}

/** The user's flags for rustc would replace ours. @returns {NodeJS.ProcessEnv} */
export const compilerEnv = ({ wasm }) => ({
  ...wasm.env,
  RUSTFLAGS: undefined,
  CARGO_ENCODED_RUSTFLAGS: undefined,
});

const FOLDERS = { root: "/impact-pledge", target: "/target", registry: "/crates" };

/**
 * Cargo's setting of rustc's flags, by which it names no folder of this machine: the same bytes wherever it is built.
 * (`trim-paths` of a profile would do it, but takes nightly Rust.)
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

/** Returns a hash of everything that determines the crate's wasm, except the compiler. @param {string} root @param {...string} makers files */
export const stateOf = (root, ...makers) =>
  sha256(
    ...sourcesOf(root),
    ...[import.meta.filename, ...makers].map((file) => readFileSync(file)),
  );

/** Returns the names and bytes of all sources of the crate. */
function sourcesOf(root) {
  const sources = readdirSync(join(root, "src"), { recursive: true }).sort();
  return ["Cargo.toml", "Cargo.lock", ...sources.map((name) => join("src", name))]
    .filter((name) => statSync(join(root, name)).isFile())
    .flatMap((name) => [`\0${name}\0`, readFileSync(join(root, name))]);
}

const sha256 = (...parts) =>
  parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest("hex");

/** Writes wasm-bindgen's JavaScript and the wasm that it calls into a folder. */
export function bind(tools, crate, folder, name, flags) {
  const made = ["--target", "web", "--no-typescript", "--omit-default-module-path"];
  const out = ["--out-dir", folder, "--out-name", name];
  return run(tools.bindgen, [...made, ...out, ...flags, crate]);
}

/** Runs a tool of the package `binaryen`. @returns {Promise<string>} what it prints */
const binaryenTool = ({ root, env }, tool, ...args) =>
  run(process.execPath, [join(root, "node_modules", "binaryen", "bin", tool), ...args], { env });

/** Changes a wasm in place. */
const wasmOpt = (tools, wasm, ...flags) =>
  binaryenTool(tools, "wasm-opt", wasm, "-o", wasm, ...flags);

const importsOf = (wasm) => WebAssembly.Module.imports(new WebAssembly.Module(readFileSync(wasm)));

export function checkImportsNothing(wasm) {
  const [foreign] = importsOf(wasm);
  if (foreign)
    throw new UserError(
      `the wasm imports \`${foreign.name}\`, and nothing provides it; keep JavaScript's types out of this feature`,
    );
}

/** Removes all other exports, and so what nothing else needs. */
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
 * Blanks the paths of sources in a wasm's data: only the message of a panic shows them, which the package never prints.
 * Shoppers download 380 bytes less.
 */
function blankSourcePaths(wasm) {
  const bytes = readFileSync(wasm);
  for (const { index, 0: path } of bytes.toString("latin1").matchAll(/(?:\/[\w.@+-]+)+\.rs/g))
    bytes.fill(0, index, index + path.length);
  writeFileSync(wasm, bytes);
}

/**
 * What writes the message of a panic, by the paths of functions. Nothing else in the client shows a value by `Debug`, or a
 * number by `fmt`.
 */
const PANICS =
  /panicking|PanicPayload|::panic_|_failed$|_fail$|handle_alloc_error|raw_vec::handle_error|capacity_overflow|fmt::Debug>|fmt::builders|fmt::num|^<u32 as core/;
const EVERY_PANIC = "core::panicking::panic_fmt";

/**
 * Lets a panic trap at once. It would write a message first, which nobody can read, as the wasm has no output. Stable Rust
 * cannot leave that out. Callers download 1.3 KB less.
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
      "panics have other names than they had; see PANICS in scripts/lib/wasm.mjs",
    );
  // The package's types declare `Function` as a member of modules.
  const functions = /** @type {any} */ (binaryen).Function;
  for (const each of panics) functions.setBody(each, module.unreachable());
  writeFileSync(wasm, module.emitBinary());
  module.dispose();
}

/**
 * Writes the same wasm as plain JavaScript: a module whose `instantiate` returns what an instance exports. All of it
 * lies in that function, so that nothing runs before it is called and no two instances share a variable. An access
 * beyond the memory does not trap there; Rust checks its indices itself.
 */
export async function writePlain(tools, wasm, file) {
  await binaryenTool(tools, "wasm2js", wasm, "-o", file, "--all-features", "-O");
  const code = readFileSync(file, "utf8");
  const end = code.indexOf("var retasmFunc = asmFunc({"); // an instance made as the module is loaded, and its exports
  if (end < 0 || /^import /m.test(code))
    throw new UserError(
      "wasm2js writes other JavaScript than it did; see writePlain in scripts/lib/wasm.mjs",
    );
  const body = `${code.slice(0, end)}return asmFunc({});\n`;
  writeFileSync(file, `export function instantiate() {\n${body}}\n`);
}

/**
 * Gives what wasm and wasm-bindgen's JavaScript call each other names of a letter or two: wasm-opt in the one, esbuild
 * in the other. Shoppers download 2.6 KB less. Exports that other JavaScript calls get their names back.
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
 * @param {string} wasm
 * @param {[name: string, now: string][]} rows what an export is to be called, and what it is called
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
  module.runPasses(["strip-target-features"]); // the last tool that reads them is this one
  writeFileSync(wasm, module.emitBinary());
  module.dispose();
}
