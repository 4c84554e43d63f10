/** Runs the project's commands, in this process or as a user does, and opens the records that they work on. */
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { commandsFor } from "../../scripts/lib/commands.mjs";
import { openKv } from "../../scripts/lib/kv.mjs";
import { groups } from "../../scripts/lib/operations.mjs";
import { exitCodeOf } from "../../scripts/lib/output.mjs";
import { MIGRATIONS_FOLDER } from "../../scripts/lib/places.mjs";
import { prepareTools } from "../../scripts/setup/tools.mjs";

export const tools = await prepareTools();
/** The names of the ledger's migrations, in their order. */
export const MIGRATIONS = readdirSync(join(tools.root, MIGRATIONS_FOLDER)).sort();

/**
 * Creates an empty folder for a test.
 * @param {import("node:test").TestContext} t
 * @returns {string} a folder that is removed after the test
 */
export function scratch(t) {
  const folder = mkdtempSync(join(tmpdir(), "impact-pledge-test-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Exit code and output of a command.
 * @typedef {{code: number | NodeJS.Signals | null, out: string, problem: string}} Ended
 */

/**
 * Runs a command in this process. If `kv` is given, the command uses this open namespace.
 * @param {string} name such as `keys`
 * @param {string[]} args
 * @param {{input?: string, isTTY?: boolean, env?: NodeJS.ProcessEnv, kv?: import("../../scripts/lib/kv.mjs").Kv}} [options]
 * @returns {Promise<Ended>}
 */
export async function run(name, args, { input = "", isTTY = false, env = {}, kv } = {}) {
  const program = await programOf(name);
  const ended = { code: 0, out: "", problem: "" };
  const to = {
    out: (text) => (ended.out += text),
    err: (text) => (ended.problem += text),
    input: Object.assign(Readable.from([Buffer.from(input)]), { isTTY }),
    env: { ...tools.env, ...env },
    kv,
  };
  ended.code = await exitCodeOf(() => program.run(args, to), args, to);
  return ended;
}

async function programOf(name) {
  if (groups.includes(name)) return commandsFor(name);
  return (await import(`../../scripts/${name}.mjs`)).default;
}

/**
 * Runs a command in a process of its own, as a user does.
 * @param {string} name
 * @param {string[]} args
 * @param {{input?: string, env?: NodeJS.ProcessEnv}} [options]
 * @returns {Promise<Ended>}
 */
export function script(name, args, { input = "", env = {} } = {}) {
  const child = start(name, args, { env });
  child.stdin.on("error", () => {}); // the command may exit without reading
  child.stdin.end(input);
  return child.done;
}

/**
 * Starts a command in a process of its own. In the result, `done` resolves to the command's exit code and
 * output, as {@link script} does. `out()` and `problem()` return the output so far.
 * @param {string} name
 * @param {string[]} args
 * @param {{env?: NodeJS.ProcessEnv}} [options]
 */
export function start(name, args, { env = {} } = {}) {
  const of = groups.includes(name) ? ["operator", name] : [name];
  const child = spawn(process.execPath, [join(tools.root, "scripts", "run.mjs"), ...of, ...args], {
    env: { ...tools.env, ...env },
    stdio: "pipe",
  });
  const texts = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"])
    child[stream].setEncoding("utf8").on("data", (text) => (texts[stream] += text));
  /** @type {Promise<Ended>} */
  const done = new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) =>
      resolve({ code: code ?? signal, out: texts.stdout, problem: texts.stderr }),
    );
  });
  return Object.assign(child, { out: () => texts.stdout, problem: () => texts.stderr, done });
}

/**
 * Opens an empty local KV. Closes it when the test ends.
 * @param {import("node:test").TestContext} t
 */
export async function localKv(t) {
  const kv = await openKv(tools, { persistTo: scratch(t) });
  t.after(() => kv.close());
  return kv;
}

/**
 * Returns the records of a KV by their names.
 * @param {import("../../scripts/lib/kv.mjs").Kv} kv
 * @returns {Promise<Record<string, {value: string | null, metadata: unknown}>>}
 */
export async function contents(kv) {
  const records = await Array.fromAsync(kv.read(kv.names()));
  return Object.fromEntries(
    records.map(({ name, value, metadata }) => [name, { value, metadata }]),
  );
}
