/**
 * The cache outside the clone, shared by every clone of this user. An entry is a folder that appears whole or
 * not at all: it is made beside its place and renamed into it. So a broken-off set-up leaves nothing that looks
 * finished, and two at once can only waste work.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { say } from "./report.mjs";

const LONGEST_HOLD_MS = 60 * 60_000; // process ids are used again: no lock is believed for longer than this
const NAMELESS_HOLD_MS = 10_000; // the moment between taking a lock and signing it
const UNUSED_MS = 14 * 24 * 60 * 60_000;
const POLL_MS = 250;

/** @param {NodeJS.ProcessEnv} [env] */
export function cacheFolder(env = process.env) {
  return env.IMPACT_PLEDGE_CACHE || join(env.XDG_CACHE_HOME || join(homedir(), ".cache"), "impact-pledge");
}

/**
 * The entry, made by `make(folder)` when it isn't there.
 * @param {string} place the entry's final folder
 * @param {(folder: string) => Promise<void>} make fills an empty folder; throws when it can't
 */
export async function entry(place, make) {
  if (existsSync(place)) return place;
  mkdirSync(dirname(place), { recursive: true });
  return locked(`${place}.lock`, async () => {
    if (existsSync(place)) return place;
    clearRemains(place);
    const folder = mkdtempSync(join(dirname(place), `.${basename(place)}-`));
    try {
      await make(folder);
      publish(folder, place);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    return place;
  });
}

/**
 * The same for entries of which there are ever new ones: beside it, those go that nobody used for two weeks.
 * @param {string} place @param {(folder: string) => Promise<void>} make
 */
export async function usedEntry(place, make) {
  await entry(place, make);
  const now = new Date();
  utimesSync(place, now, now);
  const all = readdirSync(dirname(place)).map((name) => join(dirname(place), name));
  for (const unused of all.filter((path) => age(path) > UNUSED_MS)) rmSync(unused, { recursive: true, force: true });
  return place;
}

/** What broken-off runs left; only the lock's holder may call it. */
function clearRemains(place) {
  const remains = readdirSync(dirname(place)).filter((name) => name.startsWith(`.${basename(place)}-`));
  for (const name of remains) rmSync(join(dirname(place), name), { recursive: true, force: true });
}

function publish(folder, place) {
  try {
    renameSync(folder, place);
  } catch (error) {
    if (!existsSync(place)) throw error; // another run was faster, and its entry is as good
  }
}

/**
 * Runs `work` while no other set-up holds the lock. A lock whose holder is gone is taken over.
 * @template T
 * @param {string} lock a folder
 * @param {() => Promise<T>} work
 */
export async function locked(lock, work) {
  mkdirSync(dirname(lock), { recursive: true });
  for (let waits = 0; !take(lock); waits += 1) {
    if (abandoned(lock)) rmSync(lock, { recursive: true, force: true });
    else await wait(lock, waits);
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

async function wait(lock, waits) {
  if (waits === 1) say(`    waiting for another set-up (process ${holder(lock)?.pid ?? "unknown"}) to finish ${basename(lock, ".lock")}`);
  await sleep(POLL_MS);
}

function take(lock) {
  try {
    mkdirSync(lock);
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
  writeFileSync(join(lock, "holder"), JSON.stringify({ pid: process.pid }));
  return true;
}

function holder(lock) {
  try {
    return JSON.parse(readFileSync(join(lock, "holder"), "utf8"));
  } catch {
    return null; // just being taken, or just released
  }
}

function abandoned(lock) {
  const { pid } = holder(lock) ?? {};
  if (pid === undefined) return age(lock) > NAMELESS_HOLD_MS;
  return !alive(pid) || age(lock) > LONGEST_HOLD_MS;
}

function age(path) {
  return Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
}

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
