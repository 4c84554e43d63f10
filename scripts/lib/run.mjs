/** Runs other programs, never through a shell. */
import { delimiter } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { x, xSync } from "tinyexec";
import which from "which";
import { npmScript } from "./bootstrap.mjs";
import { UserError, duration, tail } from "./output.mjs";

const ASK_MS = 20_000;

/**
 * Returns the path of a program, or null if it is not found.
 * @param {string} name
 * @param {...(string | undefined)} folders the folders to search instead of those in PATH
 */
export const find = (name, ...folders) =>
  which.sync(name, { nothrow: true, path: folders.filter(Boolean).join(delimiter) || undefined });

/**
 * Returns the environment with these folders first in PATH.
 * @param {NodeJS.ProcessEnv} env
 * @param {string[]} folders
 */
export const withPath = (env, ...folders) => ({
  ...env,
  PATH: [...folders, env.PATH ?? env.Path ?? ""].join(delimiter),
});

/**
 * Returns the trimmed output of a program that runs briefly, or null if it failed.
 * @param {import("node:child_process").SpawnOptions} [options]
 */
export function ask(command, args, options) {
  try {
    return xSync(command, args, {
      timeout: ASK_MS,
      throwOnError: true,
      nodeOptions: options,
    }).stdout.trim();
  } catch {
    return null;
  }
}

/**
 * Runs a program and waits for its end.
 * @param {string} command
 * @param {string[]} args
 * @param {import("node:child_process").SpawnOptions & {timeout?: number, show?: boolean}} [options] `timeout` in
 *   milliseconds; `show`: the program writes directly to this process's standard error
 * @returns {Promise<string>} its standard output. If it fails, rejects with a {@link UserError} that has all `output` and the `exitCode`
 */
export async function run(command, args, { timeout, show = false, ...nodeOptions } = {}) {
  /** @type {import("node:child_process").StdioOptions} */
  const stdio = show ? ["ignore", 2, 2] : ["ignore", "pipe", "pipe"];
  const child = x(command, args, { throwOnError: true, nodeOptions: { stdio, ...nodeOptions } });
  try {
    return (await (timeout === undefined ? child : inTime(child, timeout))).stdout;
  } catch ({ message, exitCode, output: { stdout, stderr } = { stdout: "", stderr: "" } }) {
    throw Object.assign(new UserError(`${message}\n${tail(stdout + stderr, 20)}`.trimEnd()), {
      output: stdout + stderr,
      exitCode,
    });
  }
}

/**
 * Waits for a program to end, and stops the program at its timeout. After the timeout, does not wait for the
 * end of the output, because another process that the program started may keep the output open for ever.
 */
async function inTime(child, timeout) {
  const {
    process: { spawnfile, stdout, stderr },
  } = child;
  const output = { stdout: "", stderr: "" };
  stdout?.on("data", (text) => (output.stdout += text));
  stderr?.on("data", (text) => (output.stderr += text));
  const end = new AbortController();
  const late = sleep(timeout, undefined, { signal: end.signal }).then(() => {
    child.kill("SIGKILL");
    for (const stream of [stdout, stderr]) stream?.destroy();
    const message = `\`${spawnfile}\` was stopped after ${duration(timeout)}`;
    throw Object.assign(new Error(message), { output });
  });
  late.catch(() => {});
  return Promise.race([child, late]).finally(() => end.abort());
}

/**
 * Runs npm, as {@link run} runs other programs.
 * @param {string[]} args
 * @param {Parameters<typeof run>[2]} [options]
 */
export function npm(args, options) {
  const script = npmScript();
  return script ? run(process.execPath, [script, ...args], options) : run("npm", args, options);
}
