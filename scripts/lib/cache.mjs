/** What is made once for all clones of a user, outside of them. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import envPaths from "env-paths";
import lockfile from "proper-lockfile";

const STALE_MS = 30_000; // a holder that lives refreshes its lock twice as often
const RETRIES = { forever: true, factor: 1, minTimeout: 250, maxTimeout: 250 };
const UNUSED_MS = 14 * 24 * 60 * 60_000;

export const cacheFolder = () => process.env.IMPACT_PLEDGE_CACHE || envPaths("impact-pledge", { suffix: "" }).cache;

/**
 * The folder `place`, filled by `make(folder)` when it isn't there. It appears whole or not at all: it is made beside
 * its place and renamed into it.
 * @param {string} place @param {(folder: string) => Promise<void>} make @returns {Promise<string>} `place`
 */
export async function entry(place, make) {
  if (!existsSync(place)) await locked(place, () => (existsSync(place) ? undefined : fill(place, make)));
  return place;
}

/** The same for folders of which there are ever new ones: beside it, those go that nobody used for two weeks. */
export async function usedEntry(place, make) {
  await entry(place, make);
  utimesSync(place, new Date(), new Date());
  const age = (path) => Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
  const unused = readdirSync(dirname(place)).map((name) => join(dirname(place), name)).filter((path) => age(path) > UNUSED_MS);
  for (const path of unused) rmSync(path, { recursive: true, force: true });
  return place;
}

/** Only the lock's holder calls it: what it finds of an earlier attempt was broken off. */
async function fill(place, make) {
  const fresh = join(dirname(place), `.${basename(place)}`);
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh);
  try {
    await make(fresh);
    renameSync(fresh, place);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Runs `work` while no other process holds the lock of this place. A lock whose holder is gone is taken over. */
export async function locked(place, work) {
  mkdirSync(dirname(place), { recursive: true });
  const release = await lockfile.lock(place, { realpath: false, stale: STALE_MS, retries: RETRIES });
  try {
    return await work();
  } finally {
    await release();
  }
}
