/** Folders that others read while they are made anew. */
import { mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

/**
 * Fills a fresh folder and puts it in the place of the old one: who reads there finds a whole build at any time, the
 * old one if the new one fails.
 * @param {string} place
 * @param {string} workshop a folder on the same disk
 * @param {(folder: string) => Promise<void>} fill
 */
export async function replaceFolder(place, workshop, fill) {
  mkdirSync(workshop, { recursive: true });
  const around = mkdtempSync(join(workshop, ".fresh-"));
  const [fresh, old] = [join(around, "new"), join(around, "old")];
  try {
    mkdirSync(fresh);
    await fill(fresh);
    moveIfThere(place, old);
    renameSync(fresh, place);
  } finally {
    rmSync(around, { recursive: true, force: true });
  }
}

function moveIfThere(from, to) {
  try {
    renameSync(from, to);
  } catch (error) {
    if (error.code !== "ENOENT") throw error; // the first build
  }
}
