/** `proofs/bench/service/handler.mjs` runs; none of its times is asserted. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import test from "node:test";
import { promisify } from "node:util";
import { tools } from "../e2e/script.mjs";

test("the service's own time per request is measured, of each kind", async () => {
  const program = join(tools.root, "proofs", "bench", "service", "handler.mjs");
  const { stdout } = await promisify(execFile)(process.execPath, [
    program,
    join(tools.root, "build"),
    "9",
  ]);
  const kinds = stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.match(/^(\S.*\S) +[\d.,]+ µs$/)?.[1]);
  assert.deepEqual(kinds, [
    "POST small",
    "POST of 100 pledges",
    "GET small",
    "GET of 100 pledges",
    "unknown key (401)",
    "invalid (400)",
  ]);
});
