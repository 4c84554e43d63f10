/**
 * Tests that each deliberate bug of `npm run prove -- planted` can still be put into the current code.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { plant, readBugs } from "../proofs/simulation/bugs.mjs";

for (const bug of readBugs()) {
  test(`can be planted: ${bug.bug}`, () => {
    assert.ok(plant(join(import.meta.dirname, "../.."), bug).size > 0);
  });
}
