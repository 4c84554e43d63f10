/** The rows of data that every runner runs. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/**
 * The contents of a folder of tests/fixtures, in the order of the files' names.
 * @param {string} folder
 * @returns {any[]} each with the name of its `file`
 */
export function fixturesIn(folder) {
  const path = join(import.meta.dirname, "..", "fixtures", folder);
  return readdirSync(path)
    .sort()
    .map((file) => ({ file, ...JSON.parse(readFileSync(join(path, file), "utf8")) }));
}
