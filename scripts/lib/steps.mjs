/** The steps of a test run: each is a command and a way to count what it tested. */
import { duration, say } from "./report.mjs";
import { run } from "./run.mjs";

const HEARTBEAT_MS = 30_000;

/**
 * @typedef {{passed: number, failed: number}} Count
 * @typedef {{name: string, command: [string, ...string[]], count: (output: string, isOk: boolean) => Count, env?: NodeJS.ProcessEnv}} Step
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

/** Runs the steps in order, each to its end, and prints the output of those that failed. @param {Step[]} steps */
export async function runSteps(steps, { root, env }) {
  const counts = [];
  for (const [index, step] of steps.entries()) {
    const [title, started] = [`[${index + 1}/${steps.length}] ${step.name}`, Date.now()];
    say(`${title} …`);
    const beat = setInterval(() => say(`${title}: at work for ${duration(Date.now() - started)}`), HEARTBEAT_MS);
    const { passed, failed } = await runStep(step, { cwd: root, env: step.env ?? env });
    clearInterval(beat);
    say(`${title}: ${passed} passed, ${failed} failed (${duration(Date.now() - started)})`);
    counts.push({ passed, failed });
  }
  return sum(counts);
}

async function runStep({ command: [program, ...args], count }, options) {
  try {
    const output = await run(program, args, options);
    const result = count(output, true);
    if (result.passed + result.failed > 0) return result;
    say(`${output}it ran no test`);
    return { passed: 0, failed: 1 };
  } catch ({ message, output }) {
    say(`${output}${message.split("\n")[0]}`);
    const { passed, failed } = count(output, false);
    return { passed, failed: Math.max(failed, 1) }; // even if its output shows none
  }
}
