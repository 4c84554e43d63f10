/** Tests that builds and cache entries are always complete, even if creating them fails or is interrupted. */
import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { cacheFolder, entry, locked, replaceFolder, usedEntry } from "../../scripts/lib/cache.mjs";

function scratch(t) {
  const folder = mkdtempSync(join(tmpdir(), "cache-test-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("the cache is in the folder that IMPACT_PLEDGE_CACHE names, else in the system's folder for caches", (t) => {
  const before = process.env.IMPACT_PLEDGE_CACHE;
  t.after(() => {
    if (before === undefined) delete process.env.IMPACT_PLEDGE_CACHE;
    else process.env.IMPACT_PLEDGE_CACHE = before;
  });
  process.env.IMPACT_PLEDGE_CACHE = "/own";
  assert.equal(cacheFolder(), "/own");
  delete process.env.IMPACT_PLEDGE_CACHE;
  assert.match(cacheFolder(), /[Cc]aches?.*impact-pledge/);
});

test("an entry is created once, even if many processes want it at once, and then kept", async (t) => {
  const path = join(scratch(t), "tool-1");
  let made = 0;
  const make = async (folder) => {
    made += 1;
    await sleep(50);
    writeFileSync(join(folder, "tool"), `${made}`);
  };
  await Promise.all(Array.from({ length: 5 }, () => entry(path, make)));
  await entry(path, make);
  assert.equal(readFileSync(join(path, "tool"), "utf8"), "1");
});

test("entries that were not used for two weeks are removed when another entry is used or created", async (t) => {
  const folder = scratch(t);
  const daysAgo = (days) => new Date(Date.now() - days * 24 * 3_600_000);
  const make = async (fresh) => writeFileSync(join(fresh, "result"), "");
  for (const [name, days] of [
    ["old", 15],
    ["recent", 13],
    ["used", 15],
  ]) {
    await entry(join(folder, name), make);
    utimesSync(join(folder, name), daysAgo(days), daysAgo(days));
  }
  const never = () => assert.fail("it is there");
  assert.equal(await usedEntry(join(folder, "used"), never), join(folder, "used"));
  assert.deepEqual(readdirSync(folder).sort(), ["recent", "used"]);
  utimesSync(join(folder, "recent"), daysAgo(15), daysAgo(15));
  await usedEntry(join(folder, "new"), make);
  assert.deepEqual(readdirSync(folder).sort(), ["new", "used"]);
});

test("an entry that can't be completed leaves nothing, and the next attempt creates it", async (t) => {
  const folder = scratch(t);
  const path = join(folder, "tool-1");
  const half = async (fresh) => {
    writeFileSync(join(fresh, "tool"), "half");
    throw new Error("no network");
  };
  await assert.rejects(entry(path, half), /no network/);
  assert.deepEqual(readdirSync(folder), []);
  await entry(path, async (fresh) => writeFileSync(join(fresh, "tool"), "whole"));
  assert.equal(readFileSync(join(path, "tool"), "utf8"), "whole");
});

test("the remains of a killed run are removed, and its lock is taken over", async (t) => {
  const folder = scratch(t);
  const path = join(folder, "tool-1");
  mkdirSync(join(folder, ".tool-1"));
  writeFileSync(join(folder, ".tool-1", "half"), "");
  mkdirSync(`${path}.lock`);
  const anHourAgo = new Date(Date.now() - 3_600_000); // a running holder would have refreshed it
  utimesSync(`${path}.lock`, anHourAgo, anHourAgo);
  await entry(path, async (fresh) => writeFileSync(join(fresh, "tool"), "whole"));
  assert.deepEqual([readdirSync(folder), readdirSync(path)], [["tool-1"], ["tool"]]);
});

test("a lock is held until the work ends, even when it fails", async (t) => {
  const path = join(scratch(t), "work");
  await assert.rejects(
    locked(path, async () => {
      assert.ok(existsSync(`${path}.lock`));
      throw new Error("failed");
    }),
    /failed/,
  );
  assert.ok(!existsSync(`${path}.lock`));
});

test("a new build replaces the old one once it is complete, and leaves it if it fails", async (t) => {
  const [place, workshop] = [join(scratch(t), "pkg"), scratch(t)];
  const build = (names, end = () => {}) =>
    replaceFolder(place, workshop, async (fresh) => {
      for (const name of names) writeFileSync(join(fresh, name), "");
      end();
    });
  const fail = () => {
    throw new Error("no room");
  };
  await build(["kept", "dropped"]);
  await assert.rejects(build(["half"], fail), { message: "no room" });
  assert.deepEqual(readdirSync(place).sort(), ["dropped", "kept"]);
  await build(["kept"], () => assert.deepEqual(readdirSync(place).sort(), ["dropped", "kept"]));
  assert.deepEqual([readdirSync(place), readdirSync(workshop)], [["kept"], []]);
});
