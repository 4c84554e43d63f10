/** A test run counts what ran, and nothing that didn't run counts as passed. */
import assert from "node:assert/strict";
import test from "node:test";
import {
  cargoTests,
  nodeTests,
  oneCheck,
  runSteps,
  sum,
  timesInWords,
} from "../../scripts/lib/test-steps.mjs";

const CARGO = `
running 2 tests
test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

   Doc-tests impact_pledge
test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s
`;
const SPEC = "✔ a (1ms)\nℹ tests 6\nℹ suites 0\nℹ pass 3\nℹ fail 1\nℹ cancelled 2\nℹ skipped 0\n";

const place = { root: process.cwd(), env: process.env };
const step = (script, count) => ({
  name: "step",
  command: [process.execPath, "-e", script],
  count,
});
const total = async (...steps) => sum(await runSteps(steps, place));

test("cargo's results are added up", () =>
  assert.deepEqual(cargoTests(CARGO), { passed: 5, failed: 1 }));
test("Node's results are read, and a cancelled test has failed", () =>
  assert.deepEqual(nodeTests(SPEC), { passed: 3, failed: 3 }));
test("what a test prints itself is no result", () =>
  assert.deepEqual(nodeTests(`ℹ pass 70\nℹ fail 7\n${SPEC}`), { passed: 3, failed: 3 }));
test("Node's results are read in TAP, too", () =>
  assert.deepEqual(nodeTests("# tests 1\n# pass 1\n# fail 0\n"), { passed: 1, failed: 0 }));

test("a check that exits well is one passed", async () =>
  assert.deepEqual(await total(step("", oneCheck)), { passed: 1, failed: 0 }));
test("a check that exits badly is one failed", async () =>
  assert.deepEqual(await total(step("process.exit(3)", oneCheck)), { passed: 0, failed: 1 }));
test("a step that tested nothing has failed", async () =>
  assert.deepEqual(await total(step("", cargoTests)), { passed: 0, failed: 1 }));
test("a step that exits badly has failed, whatever it counted", async () => {
  const crashes = step("console.log('ℹ pass 2\\nℹ fail 0'); process.exit(1)", nodeTests);
  assert.deepEqual(await total(crashes), { passed: 2, failed: 1 });
});
test("a command that isn't there has failed", async () => {
  const missing = { name: "missing", command: ["/no/such/command"], count: oneCheck };
  assert.deepEqual(await total(missing), { passed: 0, failed: 1 });
});
test("the steps are summed", async () => {
  const two = step("console.log('ℹ pass 2\\nℹ fail 0')", nodeTests);
  assert.deepEqual(await total(two, step("", oneCheck), step("process.exit(1)", oneCheck)), {
    passed: 3,
    failed: 1,
  });
});

test("what took longest is printed first: each step, and the files that Node's runner names", async () => {
  const nodes = step(
    "console.log('file took 61000 ms: tests/b.test.mjs\\nfile took 2000 ms: tests/a.test.mjs\\nℹ pass 2\\nℹ fail 0'); setTimeout(() => {}, 1_000)",
    nodeTests,
  );
  const results = await runSteps([{ ...step("", oneCheck), name: "quick" }, nodes], place);
  const lines = timesInWords(results).split("\n");
  assert.match(lines[0], /^STEP +TIME +PASSED +FAILED$/);
  assert.match(lines[1], /^step +\d+ s +2 +0$/);
  assert.match(lines[2], /^quick +\d+ s +1 +0$/);
  assert.deepEqual(lines.slice(3), [
    "",
    "FILE              TIME",
    "tests/b.test.mjs  1 min 01 s",
    "tests/a.test.mjs  2 s",
  ]);
});
