/** Folders that others read while they are made anew. */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Fills a fresh folder and puts it in the place of the old one, which stays if that fails. `workshop`: a folder on the same disk. */
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
