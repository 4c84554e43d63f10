/**
 * Creates folders that become visible only when they are complete. Some of these folders are in the cache.
 * All clones of a user share the cache.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import envPaths from "env-paths";
import lockfile from "proper-lockfile";

const STALE_MS = 30_000; // a running holder refreshes its lock twice within this time
const RETRIES = { forever: true, factor: 1, minTimeout: 250, maxTimeout: 250 };
const UNUSED_MS = 14 * 24 * 60 * 60_000;

export const cacheFolder = () =>
  process.env.IMPACT_PLEDGE_CACHE || envPaths("impact-pledge", { suffix: "" }).cache;

/**
 * Returns the folder `place`, and creates the folder if it does not exist. `make(folder)` fills a temporary
 * folder, which is then renamed to `place`. Also removes what an interrupted attempt left behind. A lock lets
 * only one process at a time create the folder.
 */
export async function entry(place, make) {
  if (existsSync(place)) return place;
  const fresh = join(dirname(place), `.${basename(place)}`);
  const clear = () => rmSync(fresh, { recursive: true, force: true });
  await locked(place, async () => {
    if (existsSync(place)) return;
    clear();
    mkdirSync(fresh);
    await make(fresh)
      .then(() => renameSync(fresh, place))
      .finally(clear);
  });
  return place;
}

/**
 * Returns the folder `place` as {@link entry} does, and marks it as used. Use this function for folders whose
 * names depend on their content. It also removes all folders beside `place` that were not used for two weeks.
 */
export async function usedEntry(place, make) {
  await entry(place, make);
  utimesSync(place, new Date(), new Date());
  const age = (path) =>
    Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
  const all = readdirSync(dirname(place)).map((name) => join(dirname(place), name));
  for (const unused of all.filter((path) => age(path) > UNUSED_MS))
    rmSync(unused, { recursive: true, force: true });
  return place;
}

/** Runs `work` while this process holds the lock of `place`. Takes over a lock whose holder has ended. */
export async function locked(place, work) {
  mkdirSync(dirname(place), { recursive: true });
  const release = await lockfile.lock(place, {
    realpath: false,
    stale: STALE_MS,
    retries: RETRIES,
  });
  return work().finally(release);
}

/**
 * Fills a new folder, and then puts it in the place of the folder `place`. If this fails, the old folder stays.
 * The new folder is created in `workshop`, a folder on the same disk.
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
