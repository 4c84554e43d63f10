/** The steps of a test run: each is a command and a way to count what it tested. */
import { run, step as show } from "./run.mjs";

/**
 * @typedef {{passed: number, failed: number}} Count
 * @typedef {object} Step
 * @property {string} name what `npm test -- name` calls it
 * @property {[string, ...string[]]} command
 * @property {(output: string, isOk: boolean) => Count} count
 * @property {NodeJS.ProcessEnv} [env]
 */

/** A command that passes or fails as a whole. */
export const oneCheck = (_output, isOk) => ({ passed: Number(isOk), failed: Number(!isOk) });

/** Adds up cargo's `test result: ok. 3 passed; 0 failed; …` lines. @param {string} output */
export const cargoTests = (output) => sum([...output.matchAll(/^test result: \w+\. (\d+) passed; (\d+) failed;/gm)].map(([, passed, failed]) => ({ passed: Number(passed), failed: Number(failed) })));

/** Reads the closing lines of Node's test runner: `ℹ pass 3`, `# fail 0`. Tests may print the like before. @param {string} output */
export function nodeTests(output) {
  const count = (word) => Number([...output.matchAll(new RegExp(`^[ℹ#] ${word} (\\d+)$`, "gm"))].at(-1)?.[1] ?? 0);
  return { passed: count("pass"), failed: count("fail") + count("cancelled") };
}

const sum = (counts) => counts.reduce((a, b) => ({ passed: a.passed + b.passed, failed: a.failed + b.failed }), { passed: 0, failed: 0 });

/**
 * Runs the steps in order, each to its end, and prints the output of those that failed.
 * @param {Step[]} steps
 * @param {{root: string, env: NodeJS.ProcessEnv}} place
 * @returns {Promise<Count>}
 */
export async function runSteps(steps, place) {
  const counts = [];
  for (const [index, step] of steps.entries()) counts.push(await runStep(step, place, `[${index + 1}/${steps.length}] ${step.name}`));
  return sum(counts);
}

async function runStep({ command: [program, ...args], env, count }, place, title) {
  const work = (tell) => run(program, args, { cwd: place.root, env: env ?? place.env, tell }).then((output) => counted(count(output, true), output), (error) => counted(count(error.output, false), error.output, error.message));
  const result = await show(title, work, ({ passed, failed, note = "" }) => ({ text: `${passed} passed, ${failed} failed${note}`, ok: failed === 0 }));
  if (result.failed > 0) process.stderr.write(`${result.output.trimEnd() || result.message}\n`);
  return result;
}

/** A command that failed has a failure even if its output shows none, and one that tested nothing has not passed. */
function counted({ passed, failed }, output, message) {
  if (message !== undefined && failed === 0) return { passed, failed: 1, output, message, note: `: ${message.split("\n")[0]}` };
  if (passed + failed === 0) return { passed, failed: 1, output, note: ", it ran no test" };
  return { passed, failed, output };
}
