/** Runs the steps of a test run, several commands at a time, and counts the tests that passed and failed. */
import { availableParallelism, totalmem } from "node:os";
import { duration, log, table } from "./output.mjs";
import { run } from "./run.mjs";

const LONGEST = 8;
const MEMORY_OF_A_TASK = 2 ** 31;
const BEAT_MS = 30_000;
/**
 * The timeout of a command, far longer than any command takes in a fresh clone. It makes sure that the output
 * of a command that hangs is printed.
 */
const DEADLINE_MS = 20 * 60_000;

/**
 * A command that belongs to a step. `needs`: names of earlier tasks that must have passed; `holds`: a resource that
 * only one task at a time may use.
 * @typedef {{passed: number, failed: number}} Counts
 * @typedef {(output: string, isOk: boolean) => Counts} Count
 * @typedef {{step: string, name: string, command: string[], count: Count, env?: NodeJS.ProcessEnv, needs?: string[], holds?: string}} Task
 * @typedef {Counts & {step: string, name: string, milliseconds: number}} Result
 */

/** Counts a command as one test, which passes or fails. @type {Count} */
export const oneCheck = (_output, isOk) => ({ passed: Number(isOk), failed: Number(!isOk) });

/** Adds up the counts in cargo's lines `test result: ok. 3 passed; 0 failed; …`. */
export const cargoTests = (output) =>
  sum(
    [...output.matchAll(/^test result: \w+\. (\d+) passed; (\d+) failed;/gm)].map(
      ([, passed, failed]) => ({ passed: Number(passed), failed: Number(failed) }),
    ),
  );

/**
 * Reads the counts from the last lines of Node's test runner: `ℹ pass 3`, `# fail 0`. Earlier lines that look
 * like these may come from a test.
 */
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

/** The number of tasks that run at the same time: one for each processor, or fewer if there is not enough memory. */
const SIDE_BY_SIDE = Math.max(
  1,
  Math.min(availableParallelism(), Math.floor(totalmem() / MEMORY_OF_A_TASK)),
);

/**
 * Runs all tasks, several at a time, and prints the output of those that failed. Whenever there is room, starts the first
 * task that can run. A task fails if a task that it needs has failed.
 * @param {Task[]} tasks those that should start first are first; each comes after the tasks that it needs
 * @param {{root: string, env: NodeJS.ProcessEnv}} tools
 * @param {number} [deadline] the timeout of each task, in milliseconds
 * @returns {Promise<Result[]>}
 */
export async function runTasks(tasks, { root, env }, deadline = DEADLINE_MS) {
  const waiting = [...tasks];
  /** @type {Map<Task, Promise<void>>} */
  const running = new Map();
  /** @type {Map<Task, Result & {output: string}>} */
  const results = new Map();

  const play = async (task) => {
    const broken = neededBy(task).find((needed) => results.get(needed)?.failed);
    const started = Date.now();
    const options = { cwd: root, env: task.env ?? env, timeout: deadline };
    const { output, ...counts } = broken
      ? { passed: 0, failed: 1, output: `not run, because ${broken.name} failed` }
      : await runCommand(task.command, task.count, options);
    const milliseconds = Date.now() - started;
    results.set(task, { ...counts, output, step: task.step, name: task.name, milliseconds });
    if (counts.failed > 0) log(output);
    log(
      `[${results.size}/${tasks.length}] ${task.name}: ${counts.passed} passed, ${counts.failed} failed (${duration(milliseconds)})`,
    );
  };
  const neededBy = ({ needs = [] }) => tasks.filter(({ name }) => needs.includes(name));
  const canRun = (task) =>
    neededBy(task).every((needed) => results.has(needed)) &&
    !(task.holds && [...running.keys()].some(({ holds }) => holds === task.holds));
  const startNext = () => {
    const index = running.size < SIDE_BY_SIDE ? waiting.findIndex(canRun) : -1;
    const [task] = index < 0 ? [] : waiting.splice(index, 1);
    if (task) {
      const played = play(task).finally(() => running.delete(task));
      running.set(task, played);
    }
    return task;
  };

  const atWork = () => [...running.keys()].map(({ name }) => name).join(", ");
  const beat = setInterval(() => log(`running: ${atWork()}`), BEAT_MS);
  while (results.size < tasks.length) {
    while (startNext());
    await Promise.race(running.values());
  }
  clearInterval(beat);
  return tasks.flatMap((task) => results.get(task) ?? []);
}

/**
 * Reports the time of each step: the sum of its tasks' times. For a step with several tasks, also reports the
 * longest ones.
 * @param {Result[]} results
 */
export function timesInWords(results) {
  const steps = Map.groupBy(results, ({ step }) => step);
  const slowestFirst = (a, b) => b.milliseconds - a.milliseconds;
  const rows = [...steps]
    .map(([name, tasks]) => ({
      name,
      ...sum(tasks),
      milliseconds: tasks.reduce((total, task) => total + task.milliseconds, 0),
    }))
    .sort(slowestFirst)
    .map(({ name, milliseconds, passed, failed }) => [
      name,
      duration(milliseconds),
      String(passed),
      String(failed),
    ]);
  const files = results
    .filter(({ step, name }) => step !== name)
    .sort(slowestFirst)
    .slice(0, LONGEST)
    .map(({ name, milliseconds }) => [name, duration(milliseconds)]);
  const tables = [table(["STEP", "TIME", "PASSED", "FAILED"], rows)];
  if (files.length > 0) tables.push(table(["FILE", "TIME"], files));
  return tables.join("\n\n");
}

/** @param {string[]} command @param {Count} count @param {{cwd: string, env: NodeJS.ProcessEnv, timeout: number}} options */
async function runCommand([program = "", ...args], count, options) {
  const [output, error] = await run(program, args, options).then(
    (output) => [output],
    (error) => [error.output, error],
  );
  const { passed, failed } = count(output, !error);
  const missing = failed === 0 && (error || passed === 0) ? 1 : 0; // a command that failed, or that tested nothing
  return {
    passed,
    failed: failed + missing,
    output: `${output}${error?.message.split("\n")[0] ?? "it ran no test"}`,
  };
}
