/** Running other programs, never through a shell; and what is shown meanwhile. */
import { delimiter } from "node:path";
import { x, xSync } from "tinyexec";
import which from "which";
import yoctoSpinner from "yocto-spinner";
import { npmScript } from "./bootstrap.mjs";
import { Stop, duration, tail } from "./report.mjs";

const ASK_MS = 20_000;
const HEARTBEAT_MS = process.stderr.isTTY && !process.env.CI ? 1_000 : 30_000;
const MOST_LETTERS = 120;

/** Where a program lies, or null. @param {string} name @param {...(string | undefined)} folders instead of those of PATH */
export const find = (name, ...folders) => which.sync(name, { nothrow: true, path: folders.filter(Boolean).join(delimiter) || undefined });

/** What a quick program printed, trimmed, or null when it failed. @param {import("node:child_process").SpawnOptions} [options] */
export function ask(command, args, options) {
  try {
    return xSync(command, args, { timeout: ASK_MS, throwOnError: true, nodeOptions: options }).stdout.trim();
  } catch {
    return null;
  }
}

/**
 * Runs a program to its end.
 * @param {string} command
 * @param {string[]} args
 * @param {import("node:child_process").SpawnOptions & {timeout?: number, tell?: (line: string) => void}} [options]
 *   `tell` gets each line as it is printed
 * @returns {Promise<string>} what it printed; rejects with a {@link Stop} that ends with its last lines when it fails
 */
export async function run(command, args, { timeout, tell = () => {}, ...nodeOptions } = {}) {
  const lines = [];
  try {
    const child = x(command, args, { timeout, throwOnError: true, nodeOptions: { stdio: ["ignore", "pipe", "pipe"], ...nodeOptions } });
    for await (const line of child) tell(lines.push(line) && line);
    return lines.join("\n");
  } catch (error) {
    const reason = error.name === "AbortError" ? `\`${command}\` was stopped after ${duration(timeout)}` : error.message;
    throw Object.assign(new Stop(`${reason}\n${tail(lines.join("\n"), 20)}`.trimEnd()), { output: lines.join("\n") });
  }
}

/** Runs npm as {@link run} runs programs. */
export const npm = (args, options) => (npmScript() ? run(process.execPath, [npmScript(), ...args], options) : run("npm", args, options));

/**
 * Shows a step while it is at work: on a terminal with the last line that it told, elsewhere with that every half minute.
 * @template T
 * @param {string} title
 * @param {(tell: (line: string) => void) => Promise<T>} work
 * @param {(result: T) => {text: string, ok: boolean}} [outcome] how it is shown at the end
 * @returns {Promise<T>}
 */
export async function step(title, work, outcome = () => ({ text: "done", ok: true })) {
  const [started, spinner] = [Date.now(), yoctoSpinner({ text: title, handleSignals: false }).start()];
  let last = "";
  const took = () => duration(Date.now() - started);
  const beat = setInterval(() => (spinner.text = `${title}: at work for ${took()}${last && `: ${last.slice(0, MOST_LETTERS)}`}`), HEARTBEAT_MS);
  try {
    const result = await work((line) => (last = line.trim() || last));
    const { text, ok } = outcome(result);
    spinner[ok ? "success" : "error"](`${title}: ${text} (${took()})`);
    return result;
  } catch (error) {
    spinner.error(`${title}: failed after ${took()}`);
    throw error;
  } finally {
    clearInterval(beat);
  }
}

/** PATH with these folders first. @param {NodeJS.ProcessEnv} env @param {string[]} folders */
export const withPath = (env, ...folders) => ({ ...env, PATH: [...folders, env.PATH ?? env.Path ?? ""].join(delimiter) });
