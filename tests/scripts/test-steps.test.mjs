/** Tests that a test run counts only tests that really ran, and counts no other test as passed. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import {
  cargoTests,
  nodeTests,
  oneCheck,
  runTasks,
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
const task = (script, count, more) => ({
  step: "step",
  name: "task",
  command: [process.execPath, "-e", script],
  count,
  ...more,
});
const total = async (...tasks) => sum(await runTasks(tasks, place));

test("cargo's results are added up", () =>
  assert.deepEqual(cargoTests(CARGO), { passed: 5, failed: 1 }));
test("Node's results are read, and a cancelled test counts as failed", () =>
  assert.deepEqual(nodeTests(SPEC), { passed: 3, failed: 3 }));
test("the output of a test is not read as a result", () =>
  assert.deepEqual(nodeTests(`ℹ pass 70\nℹ fail 7\n${SPEC}`), { passed: 3, failed: 3 }));
test("Node's results are read in TAP, too", () =>
  assert.deepEqual(nodeTests("# tests 1\n# pass 1\n# fail 0\n"), { passed: 1, failed: 0 }));

const TWO_PASS = "console.log('ℹ pass 2\\nℹ fail 0');";
const runs = [
  {
    about: "a check that exits well is one passed",
    task: task("", oneCheck),
    passed: 1,
    failed: 0,
  },
  {
    about: "a check that exits badly is one failed",
    task: task("process.exit(3)", oneCheck),
    passed: 0,
    failed: 1,
  },
  {
    about: "a command that tested nothing has failed",
    task: task("", cargoTests),
    passed: 0,
    failed: 1,
  },
  {
    about: "a command that exits badly has failed, whatever it counted",
    task: task(`${TWO_PASS} process.exit(1)`, nodeTests),
    passed: 2,
    failed: 1,
  },
  {
    about: "a command that isn't there has failed",
    task: { ...task("", oneCheck), command: ["/no/such/command"] },
    passed: 0,
    failed: 1,
  },
];
for (const { about, task, passed, failed } of runs)
  test(about, async () => assert.deepEqual(await total(task), { passed, failed }));

test("a task that hangs is stopped, and its output is shown, even if a process that it started keeps running", async () => {
  const other = `const { pid } = require("child_process").spawn(process.execPath, ["-e", "setTimeout(() => {}, 60_000)"], { stdio: "inherit" }); console.log("PID", pid);`;
  const blocked = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);";
  const stopped = async (hang) => {
    const results = await runTasks([task(`${TWO_PASS} ${hang}`, nodeTests)], place, 10_000);
    assert.deepEqual(sum(results), { passed: 2, failed: 1 });
    const [{ output }] = /** @type {any[]} */ (results);
    assert.match(output, /^ℹ pass 2\n(?:.*\n)*`.+` was stopped after 10 s$/);
    const [, pid] = output.match(/PID (\d+)/) ?? [];
    if (pid) process.kill(Number(pid)); // it is there
  };
  await Promise.all(["setInterval(() => {}, 1_000);", other, blocked].map(stopped));
});

test("a task is not run, and counts as failed, if a task that it needs has failed", async () => {
  const build = task("process.exit(1)", oneCheck, { name: "build" });
  const user = task(TWO_PASS, nodeTests, { name: "user", needs: ["build"] });
  assert.deepEqual(await total(build, user), { passed: 0, failed: 2 });
});

test("a task begins once the tasks that it needs have ended, and no other task holds the same resource", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tasks-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = JSON.stringify(join(folder, "lines"));
  const noted = (name, more) =>
    task(
      `const { appendFileSync } = require("node:fs"); appendFileSync(${file}, "begin ");
       setTimeout(() => { appendFileSync(${file}, "end "); ${TWO_PASS} }, 100);`,
      nodeTests,
      { name, ...more },
    );
  const tasks = [
    noted("a", { holds: "folder" }),
    noted("b", { holds: "folder" }),
    noted("c", { needs: ["b"] }),
  ];
  assert.deepEqual(await total(...tasks), { passed: 6, failed: 0 });
  assert.equal(readFileSync(join(folder, "lines"), "utf8"), "begin end ".repeat(3));
});

test("the longest times are printed first: each step with the sum of its tasks, and the files", () => {
  const result = (step, name, milliseconds) => ({ step, name, milliseconds, passed: 1, failed: 0 });
  const lines = timesInWords([
    result("fmt", "fmt", 2_000),
    result("e2e", "tests/e2e/a.test.mjs", 2_000),
    result("e2e", "tests/e2e/b.test.mjs", 61_000),
  ]).split("\n");
  assert.deepEqual(lines, [
    "STEP  TIME        PASSED  FAILED",
    "e2e   1 min 03 s  2       0",
    "fmt   2 s         1       0",
    "",
    "FILE                  TIME",
    "tests/e2e/b.test.mjs  1 min 01 s",
    "tests/e2e/a.test.mjs  2 s",
  ]);
});
