/** Reads the rows of test data that all test runners share. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/**
 * Returns the contents of a folder of tests/fixtures, sorted by file name.
 * @param {string} folder
 * @returns {any[]} each with the name of its `file`
 */
export function fixturesIn(folder) {
  const path = join(import.meta.dirname, "..", "fixtures", folder);
  return readdirSync(path)
    .sort()
    .map((file) => ({ file, ...JSON.parse(readFileSync(join(path, file), "utf8")) }));
}
