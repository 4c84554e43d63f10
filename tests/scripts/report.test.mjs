/** What the scripts say while something takes long. */
import assert from "node:assert/strict";
import test from "node:test";
import { stillAtWork } from "../../scripts/lib/report.mjs";

const ROWS = [
  ["", ""],
  ["   Compiling serde v1\n   Compiling itoa v1\n", ": Compiling itoa v1"],
  ['   Compiling serde v1\n{"reason":"compiler-artifact","package_id":"serde"}\n', ": Compiling serde v1"],
  ['{"reason":"compiler-artifact","package_id":"serde"}\n', ""],
  [`${"long ".repeat(100)}\n`, `: ${"long ".repeat(24)}…`],
];

for (const [output, said] of ROWS) {
  test(`of ${JSON.stringify(output.slice(0, 40))} the last line is said that people can read`, () => {
    assert.equal(stillAtWork("cargo build", Date.now(), output), `    cargo build: at work for 0 s${said}`);
  });
}
