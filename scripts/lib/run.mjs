/** Running other programs: always bounded or visible, never through a shell. */
import { spawn, spawnSync } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { duration, say, stillAtWork } from "./report.mjs";

const HEARTBEAT_MS = 30_000;
const windows = process.platform === "win32";

/** Is this a file that can be run? @param {string} path */
export function runnable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Where a program lies, or null. @param {string} name @param {string} [path] folders, as in PATH */
export function which(name, path = process.env.PATH ?? "") {
  const folders = path.split(delimiter).filter(Boolean);
  return folders.map((folder) => join(folder, windows ? `${name}.exe` : name)).find(runnable) ?? null;
}

/** What a quick program printed, trimmed, or null when it failed. */
export function ask(command, args, { env = process.env, timeout = 20_000, cwd } = {}) {
  const answer = spawnSync(command, args, { env, timeout, cwd, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  return answer.status === 0 ? answer.stdout.trim() : null;
}

/**
 * Runs a program to its end. On a terminal its output is shown as it comes; elsewhere it is kept, and a line
 * every half minute says that it is still at work.
 * @param {string} command
 * @param {string[]} args
 * @param {{cwd?: string, env?: NodeJS.ProcessEnv, timeout?: number, name?: string, show?: boolean}} [options]
 *   `timeout` in milliseconds; `show`: pass the output through (default: when standard error is a terminal)
 * @returns {Promise<{ok: boolean, output: string, why: string}>} `why` names the reason when not `ok`
 */
export function run(command, args, options = {}) {
  const { cwd, env = process.env, timeout, name = command, show = process.stderr.isTTY } = options;
  const started = Date.now();
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env, timeout, stdio: ["ignore", show ? 2 : "pipe", show ? 2 : "pipe"] });
    const chunks = [];
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => chunks.push(chunk));
    const output = () => Buffer.concat(chunks).toString();
    const heartbeat = setInterval(() => {
      if (!show) say(stillAtWork(name, started, output()));
    }, HEARTBEAT_MS);
    const end = (ok, why) => {
      clearInterval(heartbeat);
      resolve({ ok, why, output: output() });
    };
    child.on("error", (error) => end(false, error.message));
    child.on("close", (code, signal) => end(code === 0, reason(command, code, signal, timeout)));
  });
}

function reason(command, code, signal, timeout) {
  if (signal && timeout) return `\`${command}\` was stopped after ${duration(timeout)}`;
  return signal ? `\`${command}\` was ended by ${signal}` : `\`${command}\` exited with ${code}`;
}

/** PATH with these folders first. @param {NodeJS.ProcessEnv} env @param {(string | null)[]} folders */
export function withPath(env, ...folders) {
  const path = [...folders.filter(Boolean), env.PATH ?? env.Path ?? ""].join(delimiter);
  return { ...env, PATH: path };
}
