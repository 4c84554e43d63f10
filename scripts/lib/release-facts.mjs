/** Collects the facts about a release: versions, changelog, git, packages, and what it means for an operator. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, constants, gunzipSync } from "node:zlib";
import { sectionsOf } from "./changelog.mjs";
import { ask, npm } from "./run.mjs";
import { versionsIn } from "./versions.mjs";

const MIGRATIONS = "src/office/system/migrations";
const SETTINGS = ["wrangler.toml", "wrangler.dashboard.toml"];
/** What the packages are built from. */
const SOURCES = [
  "Cargo.toml",
  "Cargo.lock",
  "CHANGELOG.md",
  "src",
  "pkg-templates",
  "docs",
  "scripts/lib",
  "www",
  ...SETTINGS,
];
const FOLDERS = ["pkg", "build/impact-pledge-service"];
const BROTLI_QUALITY = 9; // 11 would take half a minute

/**
 * @typedef {{name: string, version: string, folder: string, file: string, distTag: string, access?: string, provenance: boolean,
 *   files: number, unpacked: number, gzip: number, brotli: number, largest: {path: string, size: number}[],
 *   dependencies: Record<string, string>, node?: string, changelog: string, newer: string[]}} PackageFacts `newer`: sources that changed after the build
 * @typedef {{commit: string, changed: string[], previous: string | null, tagged: string | null, isOnMain: boolean | null}} GitFacts
 *   `changed`: files that are not committed; `tagged`: the commit of the release's own tag, if there is one
 * @typedef {{migrations: string[], changedMigrations: string[], settings: {file: string, added: string[], removed: string[]}[], upgrade: string}} OperatorFacts
 * @typedef {{version: string, versions: ReturnType<typeof versionsIn>, unreleased: string, section?: import("./changelog.mjs").Section,
 *   git: GitFacts | null, packages: (PackageFacts | {folder: string, missing: true})[], operators: OperatorFacts}} ReleaseFacts
 */

/**
 * @param {string} root
 * @param {string} out folder for the tarballs
 * @param {typeof packed} [pack] packs a folder
 * @returns {Promise<ReleaseFacts>}
 */
export async function releaseFacts(root, out, pack = packed) {
  const versions = versionsIn(root);
  const version = versions[0]?.version ?? "";
  const [newest, ...released] = sectionsOf(readFileSync(join(root, "CHANGELOG.md"), "utf8"));
  const sections = newest?.version === undefined ? released : [newest, ...released];
  const section = sections.find((one) => one.version === version);
  const git = gitFacts(root, version);
  const packages = await Promise.all(
    FOLDERS.map((folder) => packageFacts(root, folder, (path) => pack(path, out))),
  );
  return {
    version,
    versions,
    unreleased: newest?.version === undefined ? (newest?.text ?? "") : "",
    section,
    git,
    packages,
    operators: operatorFacts(root, git?.previous ?? null, section?.upgrade ?? ""),
  };
}

const git = (root, ...args) => ask("git", args, { cwd: root });
const lines = (text) => (text ?? "").split("\n").filter(Boolean);

/** @returns {GitFacts | null} null outside a git repository */
function gitFacts(root, version) {
  const commit = git(root, "rev-parse", "HEAD");
  if (commit === null) return null;
  const tag = `v${version}`;
  const main = ["origin/main", "main"].find((name) =>
    git(root, "rev-parse", "--verify", "--quiet", name),
  );
  const tags = lines(
    git(root, "tag", "--list", "v[0-9]*", "--sort=-v:refname", "--merged", "HEAD"),
  );
  return {
    commit,
    changed: lines(git(root, "status", "--porcelain")).map((line) =>
      line.trim().replace(/^\S+ +/, ""),
    ),
    previous: tags.find((name) => name !== tag) ?? null,
    tagged: git(root, "rev-parse", "--verify", "--quiet", `${tag}^{commit}`) || null,
    isOnMain: main ? git(root, "merge-base", "--is-ancestor", "HEAD", main) !== null : null,
  };
}

/** @returns {Promise<PackageFacts | {folder: string, missing: true}>} */
async function packageFacts(root, folder, pack) {
  const path = join(root, folder);
  if (!existsSync(join(path, "package.json"))) return { folder, missing: true };
  const manifest = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
  const { access, provenance = false } = manifest.publishConfig ?? {};
  return {
    name: manifest.name,
    version: manifest.version,
    folder,
    distTag: manifest.version.includes("-") ? "next" : "latest",
    access,
    provenance,
    ...(await pack(path)),
    dependencies: manifest.dependencies ?? {},
    node: manifest.engines?.node,
    changelog: readFileSync(join(path, "CHANGELOG.md"), "utf8"),
    newer: newerThan(root, join(path, "package.json")),
  };
}

/** Packs a folder as it would be published, and measures the tarball. @param {string} path @param {string} out */
export async function packed(path, out) {
  const options = ["--json", "--ignore-scripts", "--loglevel=error", "--pack-destination", out];
  const said = await npm(["pack", path, ...options], { cwd: out });
  const [{ filename, size, unpackedSize, entryCount, files }] = JSON.parse(said);
  const largest = files.toSorted((a, b) => b.size - a.size).slice(0, 3);
  return {
    file: String(filename),
    files: Number(entryCount),
    unpacked: Number(unpackedSize),
    gzip: Number(size),
    brotli: brotliOf(gunzipSync(readFileSync(join(out, filename)))),
    largest: largest.map(({ path, size }) => ({ path, size })),
  };
}

const brotliOf = (bytes) =>
  brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  }).length;

/** Returns the sources that are newer than a built file. */
function newerThan(root, built) {
  const { mtimeMs } = statSync(built);
  const sources = lines(git(root, "ls-files", "--", ...SOURCES));
  return sources.filter(
    (file) => (statSync(join(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0) > mtimeMs,
  );
}

/** @returns {OperatorFacts} */
function operatorFacts(root, previous, upgrade) {
  const since = (filter) =>
    lines(
      git(
        root,
        "diff",
        "--name-only",
        `--diff-filter=${filter}`,
        `${previous}..HEAD`,
        "--",
        MIGRATIONS,
      ),
    );
  const all = lines(git(root, "ls-files", "--", MIGRATIONS));
  const names = (files) => files.map((file) => file.slice(MIGRATIONS.length + 1));
  return {
    migrations: names(previous ? since("A") : all),
    changedMigrations: names(previous ? since("DMR") : []),
    settings: SETTINGS.map((file) => ({ file, ...changedSettings(root, file, previous) })),
    upgrade,
  };
}

function changedSettings(root, file, previous) {
  const now = settingsIn(readFileSync(join(root, file), "utf8"));
  const before = previous ? settingsIn(git(root, "show", `${previous}:${file}`) ?? "") : now;
  return {
    added: now.filter((name) => !before.includes(name)),
    removed: before.filter((name) => !now.includes(name)),
  };
}

/** Returns the names of variables and bindings, also of those in comments. @param {string} toml */
const settingsIn = (toml) => [
  ...new Set(
    [
      ...toml.matchAll(/^[# ]*(?:([A-Z][A-Z0-9_]+) =|(?:binding|name) = "([A-Z][A-Z0-9_]+)")/gm),
    ].map(([, name, binding]) => name ?? binding ?? ""),
  ),
];

/** Runs `work` with a folder that is removed afterwards. @template T @param {(folder: string) => Promise<T>} work */
export async function inScratch(work) {
  const folder = mkdtempSync(join(tmpdir(), "impact-pledge-release-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
