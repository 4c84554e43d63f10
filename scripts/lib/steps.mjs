/** The steps of a test run: each is a command and a way to count what it tested. */
import { spawn } from "node:child_process";
import { duration, say, stillAtWork } from "./report.mjs";

const HEARTBEAT_MS = 30_000;

/**
 * @typedef {{passed: number, failed: number}} Count
 * @typedef {object} Step
 * @property {string} name what `npm test -- name` calls it
 * @property {[string, ...string[]]} command
 * @property {(output: string, code: number | string) => Count} count
 * @property {NodeJS.ProcessEnv} [env]
 */

/** A command that passes or fails as a whole. */
export const oneCheck = (_output, code) => (code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 });

/** Adds up cargo's `test result: ok. 3 passed; 0 failed; …` lines. @param {string} output */
export function cargoTests(output) {
  return sum([...output.matchAll(/^test result: \w+\. (\d+) passed; (\d+) failed;/gm)].map(([, passed, failed]) => ({ passed: Number(passed), failed: Number(failed) })));
}

/** Reads the closing lines of Node's test runner: `ℹ pass 3`, `# fail 0`. Tests may print the like before. @param {string} output */
export function nodeTests(output) {
  const count = (word) => Number([...output.matchAll(new RegExp(`^[ℹ#] ${word} (\\d+)$`, "gm"))].at(-1)?.[1] ?? 0);
  return { passed: count("pass"), failed: count("fail") + count("cancelled") };
}

const sum = (counts) => counts.reduce((a, b) => ({ passed: a.passed + b.passed, failed: a.failed + b.failed }), { passed: 0, failed: 0 });

/**
 * Runs the steps in order, each to its end, and says what failed and why.
 * @param {Step[]} steps
 * @param {{root: string, env: NodeJS.ProcessEnv}} place
 * @returns {Promise<Count>}
 */
export async function runSteps(steps, place) {
  const counts = [];
  for (const step of steps) counts.push(await runStep(step, place));
  return sum(counts);
}

async function runStep(step, place) {
  const started = Date.now();
  say(`${step.name} …`);
  const { code, output } = await execute(step, place);
  const count = judged(step.count(output, code), code);
  if (count.failed > 0) process.stderr.write(`${output.trimEnd()}\n`);
  say(`${step.name}: ${count.passed} passed, ${count.failed} failed${count.note ?? ""} (${duration(Date.now() - started)})`);
  return count;
}

/** A command that failed has a failure even if its output shows none, and one that tested nothing has not passed. */
function judged({ passed, failed }, code) {
  if (code !== 0 && failed === 0) return { passed, failed: 1, note: `, exit code ${code}` };
  if (passed + failed === 0) return { passed, failed: 1, note: ", it ran no test" };
  return { passed, failed };
}

function execute({ name, command: [program, ...args], env }, place) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: place.root, env: env ?? place.env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
    const started = Date.now();
    const beat = setInterval(() => say(stillAtWork(name, started, output)), HEARTBEAT_MS);
    const end = (code) => (clearInterval(beat), resolve({ code, output }));
    child.on("error", (error) => ((output += error.message), end(-1)));
    child.on("close", (code, signal) => end(code ?? signal));
  });
}
