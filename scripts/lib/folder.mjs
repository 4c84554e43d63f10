/** Files and folders that others read while they are made anew. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Fills a fresh folder and puts it in the place of the old one, which stays if that fails.
 * @param {string} place @param {string} workshop a folder on the same disk @param {(folder: string) => Promise<void>} fill
 */
export async function replaceFolder(place, workshop, fill) {
  mkdirSync(workshop, { recursive: true });
  const fresh = mkdtempSync(join(workshop, ".fresh-"));
  try {
    mkdirSync(join(fresh, "new"));
    await fill(join(fresh, "new"));
    if (existsSync(place)) renameSync(place, join(fresh, "old"));
    renameSync(join(fresh, "new"), place);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Copies a file, or all of a folder, but for what is there already: a watcher need not wake for nothing. @returns {boolean} whether anything is new */
export function copyChanged(from, to) {
  if (statSync(from).isDirectory()) return readdirSync(from).filter((name) => copyChanged(join(from, name), join(to, name))).length > 0;
  const bytes = readFileSync(from);
  if (existsSync(to) && bytes.equals(readFileSync(to))) return false;
  mkdirSync(dirname(to), { recursive: true });
  const fresh = `${to}.${process.pid}`;
  writeFileSync(fresh, bytes);
  renameSync(fresh, to);
  return true;
}
