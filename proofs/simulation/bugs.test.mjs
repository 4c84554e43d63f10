/** The bugs that `npm run simulate -- --bugs` plants fit the code of today. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { plant, readBugs } from "./bugs.mjs";

for (const bug of readBugs()) {
  test(bug.bug, () => {
    const text = readFileSync(join(import.meta.dirname, "../..", bug.file), "utf8");
    assert.notEqual(plant(text, bug), text);
  });
}
