/** Runs the project's scripts as a user does. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prepareTools } from "../../scripts/lib/tools.mjs";

export const tools = await prepareTools();

/** @param {import("node:test").TestContext} t @returns {string} a folder that goes with the test */
export function scratch(t) {
  const folder = mkdtempSync(join(tmpdir(), "impact-pledge-test-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * @param {string} name such as `keys`
 * @param {string[]} args
 * @param {{input?: string, env?: NodeJS.ProcessEnv}} [options]
 * @returns {Promise<{code: number | NodeJS.Signals | null, out: string, problem: string}>}
 */
export function script(name, args, { input = "", env = {} } = {}) {
  const child = start(name, args, { env });
  child.stdin.on("error", () => {}); // it may end without reading
  child.stdin.end(input);
  return child.done;
}

/**
 * The same while it runs: `done` is what {@link script} returns, `out()` and `problem()` are what it has printed so far.
 * @param {string} name
 * @param {string[]} args
 * @param {{env?: NodeJS.ProcessEnv}} [options]
 */
export function start(name, args, { env = {} } = {}) {
  const child = spawn(process.execPath, [join(tools.root, "scripts", "run.mjs"), name, ...args], {
    env: { ...tools.env, ...env },
    stdio: "pipe",
  });
  const texts = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"])
    child[stream].setEncoding("utf8").on("data", (text) => (texts[stream] += text));
  /** @type {ReturnType<typeof script>} */
  const done = new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) =>
      resolve({ code: code ?? signal, out: texts.stdout, problem: texts.stderr }),
    );
  });
  return Object.assign(child, { out: () => texts.stdout, problem: () => texts.stderr, done });
}
