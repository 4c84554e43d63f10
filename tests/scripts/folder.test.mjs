/** A folder that is made anew holds a whole build at any time. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { replaceFolder } from "../../scripts/lib/cache.mjs";

function scratch(t) {
  const folder = mkdtempSync(join(tmpdir(), "folder-test-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return { place: join(folder, "pkg"), workshop: join(folder, "build") };
}

test("the old build is there until the new one is whole, and nothing of it after", async (t) => {
  const { place, workshop } = scratch(t);
  await replaceFolder(place, workshop, async (fresh) => {
    for (const name of ["kept", "dropped"]) writeFileSync(join(fresh, name), "first");
  });
  await replaceFolder(place, workshop, async (fresh) => {
    writeFileSync(join(fresh, "kept"), "second");
    assert.deepEqual(readdirSync(place).sort(), ["dropped", "kept"]);
    assert.equal(readFileSync(join(place, "kept"), "utf8"), "first");
  });
  assert.deepEqual(readdirSync(place), ["kept"]);
  assert.equal(readFileSync(join(place, "kept"), "utf8"), "second");
  assert.deepEqual(readdirSync(workshop), [], "nothing is left lying about");
});

test("a build that fails leaves the old one", async (t) => {
  const { place, workshop } = scratch(t);
  await replaceFolder(place, workshop, async (fresh) =>
    writeFileSync(join(fresh, "file"), "whole"),
  );
  const failing = replaceFolder(place, workshop, async (fresh) => {
    writeFileSync(join(fresh, "file"), "half");
    throw new Error("no room");
  });
  await assert.rejects(failing, { message: "no room" });
  assert.equal(readFileSync(join(place, "file"), "utf8"), "whole");
  assert.deepEqual(readdirSync(workshop), []);
});
