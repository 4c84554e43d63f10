/** The steps of a test run: each is a command and a way to count what it tested. */
import { fileTimes } from "./file-times.mjs";
import { duration, log, table } from "./output.mjs";
import { run } from "./run.mjs";

const LONGEST_FILES = 5;

/**
 * @typedef {{passed: number, failed: number}} Counts
 * @typedef {{name: string, command: string[], count: (output: string, isOk: boolean) => Counts, env?: NodeJS.ProcessEnv}} Step
 * @typedef {Counts & {name: string, milliseconds: number, files: import("./file-times.mjs").FileTime[]}} Result
 */

/** A command that passes or fails as a whole. */
export const oneCheck = (_output, isOk) => ({ passed: Number(isOk), failed: Number(!isOk) });

/** Adds up cargo's `test result: ok. 3 passed; 0 failed; …` lines. */
export const cargoTests = (output) =>
  sum(
    [...output.matchAll(/^test result: \w+\. (\d+) passed; (\d+) failed;/gm)].map(
      ([, passed, failed]) => ({ passed: Number(passed), failed: Number(failed) }),
    ),
  );

/** Reads the closing lines of Node's test runner: `ℹ pass 3`, `# fail 0`. Tests may print the like before. */
export function nodeTests(output) {
  const count = (word) =>
    Number([...output.matchAll(new RegExp(`^[ℹ#] ${word} (\\d+)$`, "gm"))].at(-1)?.[1] ?? 0);
  return { passed: count("pass"), failed: count("fail") + count("cancelled") };
}

/** @param {Counts[]} counts @returns {Counts} */
export const sum = (counts) =>
  counts.reduce((a, b) => ({ passed: a.passed + b.passed, failed: a.failed + b.failed }), {
    passed: 0,
    failed: 0,
  });

/**
 * Runs the steps in order, each to its end, and prints the output of those that failed.
 * @param {Step[]} steps
 * @param {{root: string, env: NodeJS.ProcessEnv}} tools
 * @returns {Promise<Result[]>}
 */
export async function runSteps(steps, { root, env }) {
  const results = [];
  for (const [index, step] of steps.entries()) {
    const [title, started] = [`[${index + 1}/${steps.length}] ${step.name}`, Date.now()];
    const took = () => duration(Date.now() - started);
    log(`${title} …`);
    const beat = setInterval(() => log(`${title}: at work for ${took()}`), 30_000);
    const result = await runStep(step, { cwd: root, env: step.env ?? env });
    clearInterval(beat);
    log(`${title}: ${result.passed} passed, ${result.failed} failed (${took()})`);
    results.push({ ...result, name: step.name, milliseconds: Date.now() - started });
  }
  return results;
}

/**
 * Reports the times of all steps and of the slowest files of Node's tests.
 * @param {Result[]} results
 */
export function timesInWords(results) {
  const slowestFirst = (a, b) => b.milliseconds - a.milliseconds;
  const steps = results
    .toSorted(slowestFirst)
    .map(({ name, milliseconds, passed, failed }) => [
      name,
      duration(milliseconds),
      String(passed),
      String(failed),
    ]);
  const files = results
    .flatMap((result) => result.files)
    .sort(slowestFirst)
    .slice(0, LONGEST_FILES)
    .map(({ file, milliseconds }) => [file, duration(milliseconds)]);
  const tables = [table(["STEP", "TIME", "PASSED", "FAILED"], steps)];
  if (files.length > 0) tables.push(table(["FILE", "TIME"], files));
  return tables.join("\n\n");
}

/** @param {Step} step @param {{cwd: string, env: NodeJS.ProcessEnv}} options */
async function runStep({ command, count }, options) {
  const [program = "", ...args] = command;
  const [output, error] = await run(program, args, options).then(
    (output) => [output],
    (error) => [error.output, error],
  );
  const { passed, failed } = count(output, !error);
  const missing = failed === 0 && (error || passed === 0) ? 1 : 0; // a command that failed, or that tested nothing
  if (failed + missing > 0) log(`${output}${error?.message.split("\n")[0] ?? "it ran no test"}`);
  return { passed, failed: failed + missing, files: fileTimes(output) };
}
