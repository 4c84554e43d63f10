/** Tests `npm run release`: what it shows, and what it finds missing. */
import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test from "node:test";
import { xSync } from "tinyexec";
import { root } from "../../scripts/lib/bootstrap.mjs";
import { sectionsOf, withVersion } from "../../scripts/lib/changelog.mjs";
import { problemsOf } from "../../scripts/lib/release-checks.mjs";
import { releaseFacts } from "../../scripts/lib/release-facts.mjs";
import { built, planOf, reportOf } from "../../scripts/lib/release-report.mjs";
import { setVersion, versionPlaces, versionsIn } from "../../scripts/lib/versions.mjs";

const MIGRATIONS = "src/office/system/migrations";
const NOT_PACKED = { file: "", files: 0, unpacked: 0, gzip: 0, brotli: 0, largest: [] };
const CHANGELOG = `# Changelog

## [Unreleased]

## [1.2.0] - 2026-11-30

### Added

- Trees.

### Upgrade from 1.1

- Set \`TREES\`.

## [1.1.0] - 2026-10-30

- Nothing.
`;

test("every file has the version of Cargo.toml, and the changelog has no newer one", () => {
  const versions = versionsIn(root);
  const [first, ...others] = versions;
  assert.ok(others.length >= 12, `${others.length}`);
  for (const { file, version } of others) assert.equal(version, first?.version, file);
  const newest = sectionsOf(readFileSync(join(root, "CHANGELOG.md"), "utf8")).find(
    ({ version }) => version,
  );
  assert.equal(newest?.version, first?.version);
  assert.match(newest?.date ?? "", /^\d{4}-\d\d-\d\d$/);
});

test("the changelog begins with a heading for what is unreleased, and its lines are for users", () => {
  const text = readFileSync(join(root, "CHANGELOG.md"), "utf8");
  assert.equal(sectionsOf(text)[0]?.version, undefined);
  assert.doesNotMatch(text, /\btests\/|\bsrc\/|npm run (prove|bench|matrix|faults)/);
});

test("a version is set in all files", (t) => {
  const folder = scratch(t);
  for (const { file } of versionPlaces(root)) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    cpSync(join(root, file), join(folder, file));
  }
  setVersion(folder, "7.8.9-rc.1");
  for (const { file, version } of versionsIn(folder)) assert.equal(version, "7.8.9-rc.1", file);
  setVersion(folder, versionsIn(root)[0]?.version ?? "");
  for (const { file } of versionPlaces(root))
    assert.equal(
      readFileSync(join(folder, file), "utf8"),
      readFileSync(join(root, file), "utf8"),
      file,
    );
});

test("sections of a changelog have their version, date, text and what an upgrade needs", () => {
  const [unreleased, newest, oldest, ...others] = sectionsOf(CHANGELOG);
  assert.deepEqual(others, []);
  assert.deepEqual(unreleased, { version: undefined, date: undefined, text: "", upgrade: "" });
  assert.equal(newest?.date, "2026-11-30");
  assert.equal(newest?.upgrade, "- Set `TREES`.");
  assert.deepEqual([oldest?.version, oldest?.text, oldest?.upgrade], ["1.1.0", "- Nothing.", ""]);
  const [, next] = sectionsOf(withVersion(CHANGELOG, "1.3.0", "2026-12-24"));
  assert.deepEqual([next?.version, next?.date], ["1.3.0", "2026-12-24"]);
});

test("a release that has all it needs is reported with sizes, provenance and what operators do", async (t) => {
  const clone = cloned(t);
  clone.commit("1.1.0");
  clone.git("tag", "v1.1.0");
  clone.write(`${MIGRATIONS}/0002_trees.sql`, "CREATE TABLE trees (id TEXT);\n");
  clone.write("wrangler.toml", '[vars]\nTREES = "1"\n');
  clone.commit("1.2.0");
  const facts = await clone.facts();
  assert.deepEqual(problemsOf(facts, { tag: "v1.2.0" }), []);
  const text = reportOf(facts, [], []);
  assert.doesNotMatch(text, /first release/);
  const first = { ...facts, git: facts.git && { ...facts.git, previous: null } };
  assert.match(
    reportOf(first, [], []),
    /^This is the first release: .+"The first release" in CONTRIBUTING\.md\.$/m,
  );
  for (const line of [
    /^Release 1\.2\.0 of 2026-11-30, commit [0-9a-f]{12}, after v1\.1\.0$/m,
    /^impact-pledge@1\.2\.0 +3 +[\d.]+ KB +[\d.]+ KB +[\d.]+ KB +0 +>=20$/m,
    /^impact-pledge-service@1\.2\.0 +3 .+ 1 +any$/m,
    /^impact-pledge: impact-pledge-1\.2\.0\.tgz, public access, with provenance, dist-tag latest$/m,
    /^The registry was not asked/m,
    /^ {2}migrations of the ledger: 0002_trees\.sql$/m,
    /^ {2}setting added in wrangler\.toml: TREES$/m,
    /^ {2}setting removed from wrangler\.toml: OLD$/m,
    /^ {2}- Set `TREES`\.$/m,
    /^Ready\. To publish: git tag --annotate v1\.2\.0 .+ && git push origin v1\.2\.0$/m,
  ])
    assert.match(text, line);
  const [own] = built(facts);
  const tarball = readFileSync(join(clone.out, own?.file ?? ""));
  assert.equal(own?.gzip, tarball.length);
  assert.ok(own.brotli > 0 && own.brotli < own.unpacked);
  assert.equal(JSON.stringify(planOf(facts)), JSON.stringify(planOf(await clone.facts())));
});

test("what is missing is said with what to do", async (t) => {
  const clone = cloned(t);
  clone.commit("1.2.0");
  clone.git("tag", "v1.2.0");
  /** Asserts that a change of the clone is a problem, and undoes it. */
  const finds = async (pattern, files, tag) => {
    const before = Object.keys(files).map((file) => [file, clone.read(file)]);
    for (const [file, text] of Object.entries(files)) clone.write(file, text);
    const problems = problemsOf(await clone.quickFacts(), { tag });
    assert.ok(
      problems.some((problem) => pattern.test(problem)),
      `${pattern}: ${problems.join("\n")}`,
    );
    for (const [file, text] of before) clone.write(file, text);
  };
  await finds(/^README\.md is not committed: commit or remove/, {
    "README.md": "Status: version 1.2.0. New\n",
  });
  await finds(/^README\.md has 1\.1\.9, not 1\.2\.0: run `npm run release -- --set 1\.2\.0`/, {
    "README.md": "Status: version 1.1.9. \n",
  });
  await finds(/has no section `## \[1\.2\.0\] - DATE`/, {
    "CHANGELOG.md": CHANGELOG.replace("[1.2.0]", "[1.2.1]"),
  });
  await finds(/has no date$/, {
    "CHANGELOG.md": CHANGELOG.replace("[1.2.0] - 2026-11-30", "[1.2.0]"),
  });
  await finds(/has lines below `## \[Unreleased\]`/, {
    "CHANGELOG.md": CHANGELOG.replace("[Unreleased]", "[Unreleased]\n\n- More."),
  });
  await finds(/^pkg has another CHANGELOG\.md/, {
    "CHANGELOG.md": CHANGELOG.replace("Trees", "Oaks"),
  });
  await finds(/^pkg has the version 1\.1\.9, not 1\.2\.0: run `npm run build -- service`/, {
    "pkg/package.json": manifest("impact-pledge", { version: "1.1.9" }),
  });
  await finds(/^pkg\/package\.json does not ask for public access and provenance/, {
    "pkg/package.json": manifest("impact-pledge", { publishConfig: {} }),
  });
  await finds(/^pkg depends on wrangler in no exact version \(\^4\.0\.0\)/, {
    "pkg/package.json": manifest("impact-pledge", { dependencies: { wrangler: "^4.0.0" } }),
  });
  await finds(/^the tag v1\.3\.0 does not name the version 1\.2\.0/, {}, "v1.3.0");
  clone.write("src/later.rs", "");
  clone.commit("later");
  await finds(/^the tag v1\.2\.0 is at another commit/, {});
  await finds(/is older than src\/later\.rs: run/, {});
  clone.write(`${MIGRATIONS}/0001_first.sql`, "-- changed\n");
  clone.commit("1.3.0");
  setVersion(clone.folder, "1.3.0");
  await finds(/^the migration 0001_first\.sql was released and has changed since/, {});
  clone.git("checkout", "--quiet", "-b", "side");
  clone.commit("side");
  await finds(/^the tagged commit is not on main/, {}, "v1.3.0");
  const report = reportOf(await releaseFacts(clone.folder, clone.out), [], []);
  assert.match(
    report,
    /^Ready, but this commit is not on main: merge it first\. To publish: git tag /m,
  );
  rmSync(join(clone.folder, "build"), { recursive: true });
  await finds(/^build\/impact-pledge-service is not built: run `npm run build -- service`/, {});
});

test("the command publishes nothing by itself, and refuses a folder with other files", () => {
  const run = (...args) =>
    xSync(process.execPath, [join(root, "scripts", "run.mjs"), "release", ...args]);
  const none = run();
  assert.equal(none.exitCode, 1);
  assert.match(none.stderr, /nothing is published from here: push a tag such as v1\.2\.3/);
  assert.match(run("--dry-run", "--out", root).stderr, / is not empty: name a new folder/);
  assert.match(run("--set", "1.2").stderr, /It must be a version such as 1\.2\.3/);
});

function scratch(t) {
  const folder = mkdtempSync(join(tmpdir(), "impact-pledge-release-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function manifest(name, more = {}) {
  return JSON.stringify({
    name,
    version: "1.2.0",
    engines: name === "impact-pledge" ? { node: ">=20" } : undefined,
    dependencies: name === "impact-pledge" ? undefined : { wrangler: "4.164.0" },
    publishConfig: { access: "public", provenance: true },
    ...more,
  });
}

/** Creates a repository with the files that a release looks at, and with both packages built. */
function cloned(t) {
  const folder = scratch(t);
  const out = scratch(t);
  const write = (file, text) => {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  const git = (...args) => {
    const who = [
      "-c",
      "user.name=test",
      "-c",
      "user.email=test@example.org",
      "-c",
      "commit.gpgsign=false",
    ];
    const { exitCode, stderr } = xSync("git", [...who, ...args], { nodeOptions: { cwd: folder } });
    assert.equal(exitCode, 0, stderr);
  };
  for (const { file } of versionPlaces(root)) write(file, readFileSync(join(root, file), "utf8"));
  setVersion(folder, "1.2.0");
  write("README.md", "Status: version 1.2.0. \n");
  write("CHANGELOG.md", CHANGELOG);
  write("wrangler.toml", '[vars]\nOLD = "1"\n# SHOWN = "2"\n');
  write("wrangler.dashboard.toml", "");
  write(`${MIGRATIONS}/0001_first.sql`, "CREATE TABLE first (id TEXT);\n");
  write(".gitignore", "pkg/\nbuild/\n");
  const build = () => {
    for (const [path, name] of [
      ["pkg", "impact-pledge"],
      ["build/impact-pledge-service", "impact-pledge-service"],
    ]) {
      write(`${path}/index.js`, "export const trees = 3;\n".repeat(200));
      write(`${path}/CHANGELOG.md`, CHANGELOG);
      write(`${path}/package.json`, manifest(name));
    }
  };
  git("init", "--quiet", "--initial-branch", "main");
  return {
    folder,
    out,
    write,
    git,
    read: (file) => readFileSync(join(folder, file), "utf8"),
    commit: (message) => {
      git("add", "--all");
      git("commit", "--quiet", "--allow-empty", "--message", message);
      if (message.startsWith("1.")) build();
    },
    facts: () => releaseFacts(folder, out),
    /** Returns the facts without packing, which the checks do not look at. */
    quickFacts: () => releaseFacts(folder, out, async () => NOT_PACKED),
  };
}
