/** Plants the bugs of `bugs.json` in copies of the source, one at a time, and checks that the simulation finds each. */
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { UserError, duration, log, table } from "../../../scripts/lib/output.mjs";
import { run } from "../../../scripts/lib/run.mjs";

/** The files and folders that the simulation is built from. */
const SOURCES = [
  "Cargo.toml",
  "Cargo.lock",
  "src",
  "tests/proofs/fuzz/targets",
  "tests/proofs/simulation",
  "tests/support",
];
/** The number of seeds that are tried. Every bug is found within a tenth of this number. */
const SEEDS = 2_000;

/**
 * An edit replaces the text `old` of a file with the text `new`. The file must contain `old` exactly once.
 * A bug is an edit with a description. Some bugs need further edits.
 * @typedef {{file: string, old: string, new: string}} Edit
 * @typedef {Edit & {bug: string, also?: Edit[]}} Bug
 */

/** @returns {Bug[]} */
export const readBugs = () =>
  JSON.parse(readFileSync(join(import.meta.dirname, "bugs.json"), "utf8"));

/**
 * Returns the contents of the files that a bug changes, with the bug applied.
 * @param {string} root
 * @param {Bug} bug
 * @returns {Map<string, string>}
 */
export function plant(root, { bug, also = [], ...first }) {
  const files = new Map();
  for (const { file, old, new: replacement } of [first, ...also]) {
    const text = files.get(file) ?? readFileSync(join(root, file), "utf8");
    if (text.split(old).length !== 2)
      throw new UserError(
        `"${bug}": its text must occur once in \`${file}\`: update tests/proofs/simulation/bugs.json`,
      );
    files.set(
      file,
      text.replace(old, () => replacement),
    );
  }
  return files;
}

/**
 * Plants each bug, and checks that the simulation finds it. Throws if the simulation misses a bug.
 * @param {import("../../../scripts/setup/tools.mjs").Tools} tools
 * @param {string} [words] plants only the bugs whose description contains this text
 */
export async function findBugs({ root, native }, words = "") {
  const bugs = readBugs().filter(({ bug }) => bug.includes(words));
  if (bugs.length === 0) throw new UserError(`no planted bug has "${words}" in its description`);
  const left = [...bugs.entries()];
  /** @type {string[][]} */
  const rows = bugs.map(({ bug }) => [bug, "not found", ""]);
  let done = 0;

  /**
   * Takes bugs from the list until it is empty, and tries all of them in one copy of the source. Compiling
   * takes most of the time, and is quicker in a copy that was compiled before.
   */
  const work = async (_, worker) => {
    const folder = copySource(root, join(root, "target", "bugs", `${worker}`));
    for (let next = left.shift(); next; next = left.shift()) {
      const [index, bug] = next;
      const files = plant(root, bug);
      for (const [file, text] of files) writeFileSync(join(folder, file), text);
      const started = Date.now();
      const found = await firstViolation(native, folder).catch(({ message }) => {
        log(message);
        return undefined;
      });
      if (found) rows[index] = [bug.bug, found, duration(Date.now() - started)];
      done += 1;
      log(`[${done}/${bugs.length}] ${bug.bug}: ${found ?? "NOT FOUND"}`);
      for (const file of files.keys()) cpSync(join(root, file), join(folder, file));
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));

  console.log(table(["BUG", "FOUND BY", "IN"], rows));
  const missed = rows.filter(([, , time]) => time === "").map(([bug]) => bug);
  if (missed.length > 0)
    throw new UserError(`the simulation did not find that ${missed.join("; that ")}`);
  log(`${bugs.length} bugs planted, all found`);
}

function copySource(root, folder) {
  for (const source of SOURCES) {
    rmSync(join(folder, source), { recursive: true, force: true });
    cpSync(join(root, source), join(folder, source), { recursive: true });
  }
  return folder;
}

/**
 * Runs the simulation. Returns the first violated invariant and its seed, or undefined if all invariants
 * hold.
 */
async function firstViolation(native, folder) {
  const cargo = ["test", "--quiet", "--all-features", "--test", "simulation"];
  const options = {
    cwd: folder,
    env: {
      ...native.env,
      CARGO_TARGET_DIR: join(folder, "target"),
      RUST_BACKTRACE: "0",
      SEED: "0",
      SEEDS: `${SEEDS}`,
    },
  };
  await run(native.cargo, [...cargo, "--no-run"], options);
  try {
    await run(native.cargo, [...cargo, "--", "no_seed"], options);
  } catch ({ message, output }) {
    const [, seed, invariant] = output.match(/(seed \d+): "(.*)" is violated/) ?? [];
    if (invariant) return `${invariant} (${seed})`;
    throw new UserError(`the simulation failed without a violation: ${message}`);
  }
}
