/**
 * Tests that `npm start` puts its builds into a separate folder, and that wrangler does not upload them.
 */
import assert from "node:assert/strict";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import test from "node:test";
import { x } from "tinyexec";
import { root } from "../../scripts/lib/bootstrap.mjs";
import { configuration } from "../../scripts/lib/configuration.mjs";
import { operatorTools } from "../../scripts/lib/places.mjs";
import { keepCrates, takeCrates } from "../../scripts/lib/local-crates.mjs";
import { buildLocalWasm } from "../../scripts/lib/local-wasm.mjs";
import { localConfig } from "../../scripts/lib/local.mjs";

const FILES = ["www/wrangler.dev.toml", "www/wrangler.dashboard.dev.toml"];

test("local configurations build into and serve from build/local, and watch the clone", async () => {
  for (const file of FILES) {
    const [own, { build, main, ...local }] = await Promise.all(
      [file, localConfig({ root }, file)].map((each) => configuration(each)),
    );
    assert.match(relative(root, main ?? ""), /^build\/local\/www\/server\/\w+\.js$/);
    assert.equal(build.command, own.build.command?.replace(" build ", " build --local "));
    assert.deepEqual(build.watch_dir, own.build.watch_dir);
    assert.deepEqual(local.vars, own.vars);
  }
});

test("wrangler uploads no local build", async () => {
  const { env, wrangler } = operatorTools();
  for (const file of FILES) {
    const args = ["deploy", "--dry-run", "--config", localConfig({ root }, file)];
    const options = { nodeOptions: { cwd: root, env } };
    const { exitCode, stdout, stderr } = await x(process.execPath, [wrangler, ...args], options);
    assert.equal(exitCode, 1);
    assert.match(stdout + stderr, /`wrangler deploy` can't upload a build of `npm start`/);
  }
});

test("third-party crates are cached for the next clone with their file times, and our own crate is not", async (t) => {
  const home = mkdtempSync(join(tmpdir(), "impact-pledge-crates-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const toolsOf = (clone, release) => {
    const wasm = { identity: `rustc ${release}`, targetFolder: join(home, clone, "target") };
    return /** @type {any} */ ({ root, cache: join(home, "cache"), wasm });
  };
  const files = ({ wasm: { targetFolder: folder } }) =>
    (existsSync(folder) ? readdirSync(folder, { encoding: "utf8", recursive: true }) : [])
      .filter((name) => statSync(join(folder, name)).isFile())
      .map((name) => name.replaceAll("\\", "/"));
  const first = toolsOf("first", "1.95.0");
  const theirs = ["local", "wasm32-unknown-unknown/local"]
    .flatMap((profile) =>
      [".fingerprint/serde-1/lib", "build/serde-1/out", "deps/libserde.rlib"].map(
        (name) => `${profile}/${name}`,
      ),
    )
    .sort();
  const ours = [
    "local/workers/stamp",
    "wasm32-unknown-unknown/local/impact_pledge.wasm",
    "wasm32-unknown-unknown/local/deps/libimpact_pledge.rlib",
    "wasm32-unknown-unknown/local/.fingerprint/impact-pledge-1/lib.json",
    "wasm32-unknown-unknown/local/incremental/a/b.bin",
  ];
  const compiledAt = new Date("2026-11-01T12:00:00Z");
  for (const file of [...theirs, ...ours]) {
    const path = join(first.wasm.targetFolder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, file);
    utimesSync(path, compiledAt, compiledAt);
  }
  await keepCrates(first);

  const second = toolsOf("second", "1.95.0");
  takeCrates(second);
  assert.deepEqual(files(second).sort(), theirs);
  for (const file of theirs)
    assert.deepEqual(statSync(join(second.wasm.targetFolder, file)).mtime, compiledAt);

  const otherCompiler = toolsOf("third", "1.96.0");
  takeCrates(otherCompiler);
  assert.deepEqual(files(otherCompiler), []);
  await keepCrates(otherCompiler);
  takeCrates(toolsOf("fourth", "1.96.0"));
  assert.deepEqual(
    files(toolsOf("fourth", "1.96.0")),
    [],
    "nothing was compiled, and nothing kept",
  );

  const changed = join(second.wasm.targetFolder, theirs[0]);
  writeFileSync(changed, "compiled again");
  takeCrates(second);
  assert.equal(readFileSync(changed, "utf8"), "compiled again");
});

/** A wasm module with one function. */
const MODULE = "0061736d010000000104016000000302010007050101660000" + "0a040102000b";

test("a new clone takes the build of the same sources from the cache, and compiles once they change", async (t) => {
  const home = mkdtempSync(join(tmpdir(), "impact-pledge-local-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const module = join(home, "module.wasm");
  writeFileSync(module, Buffer.from(MODULE, "hex"));
  const cloneOf = (name) => {
    const clone = join(home, name);
    for (const part of ["src/pledges/version.rs", "Cargo.toml", "Cargo.lock"])
      cpSync(join(root, part), join(clone, part));
    symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
    const targetFolder = join(clone, "target");
    const made = join(targetFolder, "wasm32-unknown-unknown", "local");
    const cargo = join(clone, "cargo");
    const compile = `echo compiled >> ${home}/${name}.log; mkdir -p ${made}; cp ${module} ${made}/impact_pledge.wasm`;
    writeFileSync(cargo, `#!/bin/sh\n${compile}\n`, { mode: 0o755 });
    const wasm = { identity: "rustc", release: "1.95.0", targetFolder, cargo, env: process.env };
    return /** @type {any} */ ({ root: clone, cache: join(home, "cache"), wasm, env: process.env });
  };
  const compiled = (name) =>
    existsSync(join(home, `${name}.log`))
      ? readFileSync(join(home, `${name}.log`), "utf8")
          .trim()
          .split("\n").length
      : 0;
  const build = async (tools) =>
    readFileSync(join(await buildLocalWasm(tools, "validator"), "validator_bg.wasm"));

  const [first, second] = ["first", "second"].map(cloneOf);
  const bytes = await build(first);
  assert.deepEqual(await build(second), bytes);
  assert.deepEqual([compiled("first"), compiled("second")], [1, 0]);

  writeFileSync(join(second.root, "src", "version.rs"), "// changed");
  await build(second);
  await build(second);
  assert.equal(compiled("second"), 1);
  assert.equal(readdirSync(join(home, "cache", "local-wasm")).length, 1, "a change is not cached");
});
