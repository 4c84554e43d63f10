/** The places where the version of a release stands. `Cargo.toml` is its source; a test and a release check the others. */
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Recipes that do not use the package. */
const WITHOUT_PACKAGE = ["alert-adapter", "woocommerce"];
const LOCKED = /^(name = "impact-pledge"\r?\nversion = ")(.+)"/m;

/**
 * A place: its file, and a pattern whose second group is the version.
 * @typedef {{file: string, pattern: RegExp}} VersionPlace
 */

/** Returns all places, the source first. @param {string} root @returns {VersionPlace[]} */
export function versionPlaces(root) {
  const recipes = readdirSync(join(root, "examples"), { withFileTypes: true })
    .filter((one) => one.isDirectory() && !WITHOUT_PACKAGE.includes(one.name))
    .map(({ name }) => `examples/${name}/package.json`);
  return [
    { file: "Cargo.toml", pattern: /^(version = ")(.+)"/m },
    { file: "Cargo.lock", pattern: LOCKED },
    { file: "tests/proofs/fuzz/Cargo.lock", pattern: LOCKED },
    { file: "docs/openapi.yaml", pattern: /^( {2}version: )(.+)$/m },
    { file: "README.md", pattern: /^(Status: version )(\S+)\. /m },
    ...recipes.map((file) => ({ file, pattern: /^( +"impact-pledge": ")(.+)"/m })),
  ];
}

/**
 * Returns the version of each place; undefined where it was not found.
 * @param {string} root
 * @returns {{file: string, version: string | undefined}[]}
 */
export const versionsIn = (root) =>
  versionPlaces(root).map(({ file, pattern }) => ({
    file,
    version: readFileSync(join(root, file), "utf8").match(pattern)?.[2],
  }));

/** Writes a version into all places. @param {string} root @param {string} version @returns {string[]} the files */
export function setVersion(root, version) {
  const places = versionPlaces(root);
  for (const { file, pattern } of places) {
    const text = readFileSync(join(root, file), "utf8");
    const changed = text.replace(pattern, (all, before, old) =>
      all.replace(before + old, () => before + version),
    );
    writeFileSync(join(root, file), changed);
  }
  return places.map(({ file }) => file);
}
