/**
 * Tests that the top-level domains in `src/buyer/recipient/domains.txt` equal those of the package `tlds`, which
 * follows IANA's list. `UPDATE=1` rewrites the file.
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import domains from "tlds" with { type: "json" };

const FILE = join(import.meta.dirname, "../../src/buyer/recipient/domains.txt");

test("the top-level domains are up to date", () => {
  const expected = `${domains.join("\n")}\n`;
  if (process.env.UPDATE) writeFileSync(FILE, expected);
  assert.equal(readFileSync(FILE, "utf8"), expected, "run this with UPDATE=1");
});
