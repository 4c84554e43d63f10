/**
 * Packs the package into a tarball and installs it into a project outside the clone, as users do. Each build is installed once;
 * test files that run at the same time share it.
 */
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { npm } from "../../scripts/lib/run.mjs";

const root = join(import.meta.dirname, "..", "..");
const built = join(root, "pkg");
const kept = join(tmpdir(), "impact-pledge-packed");

/**
 * @typedef {object} Project
 * @property {string} folder
 * @property {string} tarball
 * @property {(entry?: string) => Promise<any>} load imports an entry of the package as an ES module
 * @property {(entry?: string) => any} require loads an entry of the package as CommonJS
 */

/** @returns {Promise<Project>} */
export async function packed() {
  if (!existsSync(join(built, "package.json")))
    throw new Error("there is no package: run `npm run build package` first");
  const home = join(kept, fingerprint());
  if (!existsSync(home)) await install(home);
  utimesSync(home, new Date(), new Date()); // marks it as used: only unused builds are removed
  const folder = join(home, "project");
  const require = createRequire(join(folder, "index.js"));
  const load = async (entry = "impact-pledge") =>
    import(pathToFileURL(resolved(folder, entry)).href);
  return {
    folder,
    tarball: join(home, tarballIn(home)),
    load,
    require: (entry = "impact-pledge") => require(entry),
  };
}

/**
 * Returns a file that re-exports an entry of the package, and writes it into the project if necessary. Its
 * import is resolved as in a user's code.
 */
function resolved(folder, entry) {
  const file = join(folder, `${entry.replaceAll("/", "-")}.mjs`);
  if (existsSync(file)) return file;
  const fresh = `${file}.${process.pid}`; // another test file may be loading it: it must appear complete
  writeFileSync(fresh, `export * from "${entry}";\n`);
  renameSync(fresh, file);
  return file;
}

/** Returns a hash of all bytes that are packed. */
function fingerprint() {
  const hash = createHash("sha256");
  for (const name of readdirSync(built, { encoding: "utf8", recursive: true }).sort()) {
    const file = join(built, name);
    if (statSync(file).isFile()) hash.update(name).update(readFileSync(file));
  }
  return hash.digest("hex").slice(0, 16);
}

async function install(home) {
  mkdirSync(kept, { recursive: true });
  forgetOlder();
  const fresh = mkdtempSync(join(kept, ".fresh-"));
  await npm(["pack", built, "--pack-destination", fresh, "--ignore-scripts", "--loglevel=error"], {
    cwd: fresh,
  });
  const folder = join(fresh, "project");
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "project", private: true }));
  const tarball = join(fresh, tarballIn(fresh));
  await npm(
    [
      "install",
      tarball,
      "--offline",
      "--no-audit",
      "--no-fund",
      "--ignore-scripts",
      "--loglevel=error",
    ],
    { cwd: folder },
  );
  try {
    renameSync(fresh, home);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    if (!existsSync(home)) throw error; // another test file has installed it first
  }
}

const HOUR_MS = 3_600_000;

/** Removes installed builds that no test has used for more than an hour. */
function forgetOlder() {
  for (const name of readdirSync(kept)) {
    const folder = join(kept, name);
    if (Date.now() - statSync(folder).mtimeMs > HOUR_MS)
      rmSync(folder, { recursive: true, force: true });
  }
}

const tarballIn = (folder) => readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "";
