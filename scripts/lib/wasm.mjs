/** From the crate to wasm, with its JavaScript where it needs any: cargo, wasm-bindgen, wasm-opt, wasm2js. */
import { createHash } from "node:crypto";
import { copyFileSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { usedEntry } from "./cache.mjs";
import { UserError } from "./output.mjs";
import { run } from "./run.mjs";
import { WASM, bindgenVersion } from "./rust.mjs";

/** What rustc emits and every engine of the last years has, by binaryen's two names; a stripped module names none. */
const ENGINES = {
  BulkMemory: "bulk-memory",
  BulkMemoryOpt: "bulk-memory-opt",
  Multivalue: "multivalue",
  MutableGlobals: "mutable-globals",
  NontrappingFPToInt: "nontrapping-float-to-int",
  ReferenceTypes: "reference-types",
  SignExt: "sign-ext",
};
const OWN_MEMORY = ["--converge", "--low-memory-unused", "--zero-filled-memory"]; // zeros at first, its lowest addresses the far end of the stack
const ONE_CALLER = "--one-caller-inline-max-function-size=0"; // functions that are called from one place stay functions, which packs better
const IN_ORDER = "--reorder-functions"; // what is called most often comes first: it happens to pack better

/**
 * What the service in `impact-pledge/testing` does not need, more than 9 KB after brotli: of the `worker` crate the panic
 * hook and its classes, the log, and what only the log shows: all that is written by `Debug`, and numbers and unexpected
 * values in messages about damaged records.
 */
const SERVICE_PARTS = {
  functions:
    /^init$|^impact_pledge(\[[0-9a-f]+\])?::handle::Service<.*>::log\b|^<(.* as core(\[[0-9a-f]+\])?::fmt::Debug|(f64|serde_core(\[[0-9a-f]+\])?::de::Unexpected) as core(\[[0-9a-f]+\])?::fmt::Display)>::fmt\b/,
  exports:
    /^init$|^__worker_init_state$|containerstartupoptions|intounderlying|minifyconfig|r2range/,
};

/**
 * By the name of the files. `features` of the crate; cargo's `profile`, of this build alone, so that cargo keeps the
 * libraries of all; `flags` for rustc; flags for wasm-bindgen (without any list the wasm may import nothing) and for wasm-opt; `small`: see
 * {@link withoutPanics} and {@link shortenNames}; `leaveOut`: functions that do nothing then, and exports; `plain`: see
 * {@link writePlain}.
 * @type {Record<string, {features: string, profile: string, flags?: string[], bindgen?: string[], optimise: string[], small?: boolean, leaveOut?: {functions: RegExp, exports: RegExp}, plain?: boolean}>}
 */
const BUILDS = {
  // The `worker` crate's recovery: after any exception that leaves the wasm, the next call starts a new instance. Its
  // abort handler catches by wasm's own instructions.
  impact_pledge: {
    features: "server",
    profile: "release",
    bindgen: ["--force-enable-abort-handler"],
    optimise: [ONE_CALLER, IN_ORDER, "-O3", "--enable-exception-handling"],
  },
  // The same service for `impact-pledge/testing`, without the abort handler: Node 20 has no `WebAssembly.JSTag`, which that
  // takes. {@link ONE_CALLER} packs better by 5 KB here, in the Worker by 2.4.
  testing: {
    features: "server",
    profile: "testing",
    flags: ['--cfg=sha2_backend_soft="compact"'],
    bindgen: [],
    optimise: [
      ONE_CALLER,
      "--flatten",
      "--rereloop",
      "-Oz",
      "--coalesce-locals",
      IN_ORDER,
      "-Oz",
      ...OWN_MEMORY,
    ],
    small: true,
    leaveOut: SERVICE_PARTS,
  },
  client: {
    features: "client",
    profile: "validate",
    bindgen: [],
    optimise: [IN_ORDER, "-Oz", ...OWN_MEMORY],
    small: true,
  },
  validator: {
    features: "validate",
    profile: "validator",
    optimise: [
      "--flatten",
      "--rereloop",
      "-Oz",
      "--coalesce-locals",
      IN_ORDER,
      "-O3",
      ...OWN_MEMORY,
      "--strip-target-features",
    ],
    plain: true,
  }, // no slower for what packs it, as `-O3` comes behind
  operator: { features: "operator", profile: "operator", bindgen: [], optimise: ["-O1"] },
};

/** Does a row of {@link BUILDS}. @returns {Promise<string>} a folder with `NAME_bg.wasm` and what wasm-bindgen made beside it */
export async function buildWasm(tools, name) {
  const build = BUILDS[name];
  const crate = await compile(tools, build);
  const makers = [
    bindgenVersion(tools.root),
    readFileSync(join(tools.root, "node_modules", "binaryen", "package.json")),
    readFileSync(import.meta.filename),
  ];
  const key = sha256(readFileSync(crate), name, ...makers);
  return usedEntry(join(tools.cache, "wasm", key), async (folder) => {
    const wasm = join(folder, `${name}_bg.wasm`);
    if (build.bindgen)
      await run(tools.bindgen, [
        "--target",
        "web",
        "--no-typescript",
        "--omit-default-module-path",
        "--out-dir",
        folder,
        "--out-name",
        name,
        ...build.bindgen,
        crate,
      ]);
    else copyFileSync(crate, wasm);
    if (build.small) await withoutPanics(wasm, build.leaveOut);
    await wasmOpt(tools, wasm, ...build.optimise, "--strip-debug", "--strip-producers");
    if (build.small) await shortenNames(tools, wasm, join(folder, `${name}.js`));
    const [foreign] = build.bindgen ? [] : importsOf(wasm);
    if (foreign)
      throw new UserError(
        `the wasm imports \`${foreign.name}\`, and nothing provides it; keep JavaScript's types out of this feature`,
      );
    if (build.plain) await writePlain(tools, wasm, join(folder, `${name}.js`));
  });
}

/** The path of the crate's wasm. The cache keeps it by all that it depends on: a fresh clone need not compile. */
async function compile(tools, { features, profile, flags = [] }) {
  const { wasm, root, cache } = tools;
  const args = [
    "build",
    "--lib",
    "--profile",
    profile,
    "--target",
    WASM,
    "--no-default-features",
    "--features",
    features,
  ];
  const keyNow = () =>
    sha256(...sourcesOf(root), JSON.stringify([wasm.release, args, PLACES, flags]));
  const key = keyNow();
  const work = async (folder) => {
    const env = { ...wasm.env, RUSTFLAGS: undefined, CARGO_ENCODED_RUSTFLAGS: undefined }; // theirs would replace ours
    await run(wasm.cargo, [...args, "--config", await rustflags(tools, flags)], {
      cwd: root,
      env,
      show: true,
    });
    if (keyNow() !== key) throw new UserError("a source was saved while it was compiled");
    copyFileSync(
      join(wasm.targetFolder, WASM, profile, "impact_pledge.wasm"),
      join(folder, "crate.wasm"),
    );
  };
  const place = await usedEntry(join(cache, "crate", key), work).catch((error) =>
    keyNow() === key ? Promise.reject(error) : null,
  );
  return place ? join(place, "crate.wasm") : compile(tools, { features, profile, flags });
}

const PLACES = { root: "/impact-pledge", target: "/target", registry: "/crates" };

/**
 * Cargo's setting of rustc's flags, by which it also names no folder of this machine: the same bytes wherever it is built.
 * (`trim-paths` of a profile would do it, but takes nightly Rust.)
 */
async function rustflags({ root, wasm }, flags) {
  const metadata = await run(
    wasm.cargo,
    ["metadata", "--format-version", "1", "--locked", "--all-features", "--filter-platform", WASM],
    { cwd: root, env: wasm.env },
  );
  const registries = new Set(
    JSON.parse(metadata)
      .packages.filter(({ source }) => source)
      .map((crate) => dirname(dirname(crate.manifest_path))),
  );
  const places = [
    [root, PLACES.root],
    [wasm.targetFolder, PLACES.target],
    ...[...registries].map((folder) => [folder, PLACES.registry]),
  ];
  return `target.${WASM}.rustflags=${JSON.stringify([...flags, ...places.map(([from, to]) => `--remap-path-prefix=${from}=${to}`)])}`;
}

/** What the crate's wasm is made of, and how, but for the compiler. @returns {string} a hash */
export const stateOf = (root) => sha256(...sourcesOf(root), readFileSync(import.meta.filename));

/** The names and bytes of all that the crate is made of. */
function sourcesOf(root) {
  const all = [
    "Cargo.toml",
    "Cargo.lock",
    ...readdirSync(join(root, "src"), { recursive: true })
      .sort()
      .map((name) => join("src", name)),
  ];
  return all
    .filter((name) => statSync(join(root, name)).isFile())
    .flatMap((name) => [`\0${name}\0`, readFileSync(join(root, name))]);
}

const sha256 = (...parts) =>
  parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest("hex");

/** @returns {Promise<string>} what the tool prints */
const binaryenTool = ({ root, env }, tool, wasm, output, ...flags) =>
  run(
    process.execPath,
    [
      join(root, "node_modules", "binaryen", "bin", tool),
      wasm,
      "-o",
      output,
      ...Object.values(ENGINES).map((name) => `--enable-${name}`),
      ...flags,
    ],
    { env },
  );

/** Changes a wasm in place. */
const wasmOpt = (tools, wasm, ...flags) => binaryenTool(tools, "wasm-opt", wasm, wasm, ...flags);

const SEGMENT = /\(bufferView, (\d+), "([\w+/=]*)"\);/g;

/**
 * Writes the same wasm as plain JavaScript: a module whose `instantiate` returns what an instance exports. All of it
 * lies in that function, so that nothing runs before it is called and no two instances share a variable. An access
 * beyond the memory does not trap there; Rust checks its indices itself. The data becomes one text of bytes, which packs
 * better than base64 with its decoder: 350 of 10,800 bytes. As the memory grows, what lies below the data is not copied:
 * that is the stack, a megabyte in which nothing stays between calls.
 */
export async function writePlain(tools, wasm, file) {
  await binaryenTool(tools, "wasm2js", wasm, file, "-O");
  const code = readFileSync(file, "utf8");
  const changed = () =>
    new UserError(
      "wasm2js writes other JavaScript than it did; see writePlain in scripts/lib/wasm.mjs",
    );
  const { first, text } = dataOf([...code.matchAll(SEGMENT)]);
  const kept = first - (first % 65_536);
  const parts = [
    [/^[^]*?\n(?=function asmFunc\(imports\) \{\n)/, ""], // the decoder, and the data that it reads
    [
      / bufferView = HEAPU8;\n initActiveSegments\(imports\);\n/,
      ` var data = ${text};\n for (var i = 0; i < data.length; i++) HEAPU8[${first} + i] = data.charCodeAt(i);\n`,
    ],
    [/ +newHEAP8\.set\(HEAP8\);\n/, `newHEAP8.set(HEAP8.subarray(${kept}), ${kept});\n`],
    [/ +bufferView = HEAPU8;\n/, ""],
    [
      /\nvar retasmFunc = asmFunc\(\{\s*\}\);\n(?:export var (\w+) = retasmFunc\.\1;\n)+$/,
      "\nreturn asmFunc({});\n",
    ], // an instance made as the module is loaded
  ];
  const body = parts.reduce((code, [part, by]) => {
    if (!part.test(code)) throw changed();
    return code.replace(part, () => by);
  }, code);
  if (/\bwasm2js_/.test(body)) throw changed(); // what it writes in front for some instructions, such as `memory.fill`
  writeFileSync(file, `export function instantiate() {\n${withoutUnused(body)}}\n`);
}

/** Segments of data as one, with zeros between them: the address of its first byte, and a literal of its text, a character for each byte. */
function dataOf(segments) {
  const all = segments.map(([, start, base64]) => ({
    start: Number(start),
    bytes: Buffer.from(base64, "base64"),
  }));
  const [{ start: first }, last] = [all[0], all.at(-1)];
  const data = Buffer.alloc(last.start + last.bytes.length - first);
  for (const { start, bytes } of all) bytes.copy(data, start - first);
  return { first, text: JSON.stringify(data.toString("latin1")) };
}

/** Leaves out views and functions of Math that nothing uses: a minifier cannot know that making them has no effect. */
const withoutUnused = (code) =>
  code.replace(/^ +(?:var )?(\w+) = (?:new \w+Array\(\w+\)|Math\.\w+);\n/gm, (line, name) =>
    new RegExp(`\\b${name}\\b(?! =)`).test(code) ? line : "",
  );

/** Rust's functions that make a panic's message; a trap follows all of them. */
const PANICS =
  /\bcore(\[[0-9a-f]+\])?::(panicking::|cell::panic_|option::(unwrap|expect)_failed|result::unwrap_failed|slice::index::slice_index_fail|str::slice_error_fail)|\balloc(\[[0-9a-f]+\])?::(raw_vec::(handle_error|capacity_overflow)|alloc::handle_alloc_error)|\bstd(\[[0-9a-f]+\])?::panicking::|::(rust_begin_unwind|rust_panic|__rust_start_panic|__rust_alloc_error_handler)$/;
const SOURCES = /(?:\/[\w.@+-]+)+\.rs/g; // where a panic happened, as text in the data that nothing reads any more

/**
 * Reduces a panic to its trap, for builds that abort on a panic and whose message nobody reads: 1,284 bytes of the
 * client's 41,123 after brotli. `panic=immediate-abort` would do it, but takes a standard library that is built with
 * it, and so nightly Rust; `--remap-path-prefix` gains nothing.
 * @param {string} wasm a file, with the names of its functions
 * @param {{functions: RegExp, exports: RegExp}} [leaveOut] functions that do nothing then, and exports
 */
export async function withoutPanics(wasm, leaveOut) {
  const bytes = readFileSync(wasm);
  for (const { index, 0: path } of bytes.toString("latin1").matchAll(SOURCES))
    bytes.fill(0, index, index + path.length);
  await edit(
    wasm,
    (module, binaryen) => {
      const all = Array.from({ length: module.getNumFunctions() }, (_, index) =>
        binaryen.getFunctionInfo(module.getFunctionByIndex(index)),
      );
      const panics = all.filter(({ base, name }) => !base && PANICS.test(name));
      if (!panics.some(({ name }) => name.endsWith("rust_begin_unwind")))
        throw new UserError(
          "the wasm has no panic handler by its known name; see PANICS in scripts/lib/wasm.mjs",
        );
      for (const { name } of panics)
        binaryen.Function.setBody(module.getFunction(name), module.unreachable());
      if (!leaveOut) return;
      const exports = Array.from(
        { length: module.getNumExports() },
        (_, index) => binaryen.getExportInfo(module.getExportByIndex(index)).name,
      );
      const [functions, unused] = [
        all.filter(({ base, name }) => !base && leaveOut.functions.test(name)),
        exports.filter((name) => leaveOut.exports.test(name)),
      ];
      if (!functions.length || !unused.length)
        throw new UserError(
          "the wasm has nothing to leave out by the known names; see SERVICE_PARTS in scripts/lib/wasm.mjs",
        );
      for (const { name, results } of functions)
        binaryen.Function.setBody(
          module.getFunction(name),
          results ? module.i32.const(0) : module.nop(),
        ); // `Ok(())`
      for (const name of unused) module.removeExport(name);
    },
    bytes,
  );
}

/**
 * Gives what wasm and wasm-bindgen's JavaScript call each other names of a letter or two: wasm-opt in the one, esbuild
 * in the other. Exports that other JavaScript calls get their names back.
 */
export async function shortenNames(tools, wasm, glueFile) {
  const { imports, exports } = JSON.parse(
    await wasmOpt(tools, wasm, "--minify-imports-and-exports-and-modules"),
  );
  const own = exports.filter(([name]) => !/^(__wb|__externref|wasm_bindgen)/.test(name));
  await edit(wasm, (module, binaryen) => {
    for (const [name, short] of own) {
      const { kind, value } = binaryen.getExportInfo(module.getExport(short));
      const what = ["Function", "Global", "Memory", "Table"].find(
        (each) => binaryen[`External${each}`] === kind,
      );
      module.removeExport(short);
      module[`add${what}Export`](value, name);
    }
  });
  const short = Object.fromEntries(
    [...imports, ...exports.filter((row) => !own.includes(row))].map((row) => row.slice(-2)),
  );
  const glue = readFileSync(glueFile, "utf8").replace(
    `"${imports[0][0]}"`,
    importsOf(wasm)[0].module,
  );
  const { transform } = await import("esbuild");
  const { code } = await transform(glue, {
    mangleProps: new RegExp(`^(${Object.keys(short).join("|").replaceAll("$", "\\$")})$`),
    mangleCache: short,
    drop: ["console"],
  });
  writeFileSync(glueFile, code);
}

const importsOf = (wasm) => WebAssembly.Module.imports(new WebAssembly.Module(readFileSync(wasm)));

/** Changes a wasm in place. @param {string} wasm @param {(module: import("binaryen").Module, binaryen: any) => void} change */
async function edit(wasm, change, bytes = readFileSync(wasm)) {
  const { default: binaryen } = await import("binaryen");
  const module = binaryen.readBinary(bytes);
  module.setFeatures(Object.keys(ENGINES).reduce((all, name) => all | binaryen.Features[name], 0));
  change(module, binaryen);
  writeFileSync(wasm, module.emitBinary());
  module.dispose();
}
