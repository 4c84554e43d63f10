/** Plants the bugs of `bugs.json` in a copy of `src`, one at a time, and has the simulation find each within a minute. */
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UserError, duration, log } from "../../scripts/lib/output.mjs";
import { run } from "../../scripts/lib/run.mjs";
import { PROFILE, seedsWith } from "./record.mjs";

/** All that the simulation is built of. */
const SOURCES = [
  "Cargo.toml",
  "Cargo.lock",
  "src",
  "proofs/fuzz/targets",
  "proofs/simulation",
  "tests/support",
];

/** In `file`, `old`, which stands there once, becomes `new`. @typedef {{bug: string, file: string, old: string, new: string}} Bug */

/** @returns {Bug[]} */
export const readBugs = () =>
  JSON.parse(readFileSync(join(import.meta.dirname, "bugs.json"), "utf8"));

/**
 * The text of a file with the bug in it.
 * @param {string} text
 * @param {Bug} bugged
 * @returns {string}
 */
export function plant(text, { bug, file, old, new: replacement }) {
  if (text.split(old).length !== 2)
    throw new UserError(
      `"${bug}": its text must stand in \`${file}\` once: mend proofs/simulation/bugs.json`,
    );
  return text.replace(old, () => replacement);
}

/** @param {import("../../scripts/lib/tools.mjs").Tools} tools */
export async function findBugs({ root, native }) {
  const folder = join(root, "target", "bugs");
  const options = {
    cwd: folder,
    env: {
      ...native.env,
      CARGO_TARGET_DIR: join(folder, "target"),
      FROM: "0",
      MINUTES: "1",
      RUST_BACKTRACE: "0",
    },
  };
  for (const source of SOURCES) rmSync(join(folder, source), { recursive: true, force: true });
  for (const source of SOURCES)
    cpSync(join(root, source), join(folder, source), { recursive: true });
  const bugs = readBugs();
  /** @type {string[]} */
  const missed = [];
  for (const [index, bug] of bugs.entries()) {
    const [original, copy] = [join(root, bug.file), join(folder, bug.file)];
    writeFileSync(copy, plant(readFileSync(original, "utf8"), bug));
    await run(native.cargo, seedsWith(...PROFILE, "--no-run"), options);
    const started = Date.now();
    const violation = await firstViolation(native.cargo, options);
    if (!violation) missed.push(bug.bug);
    log(
      `[${index + 1}/${bugs.length}] ${bug.bug}: ${violation ?? "not found"} (${duration(Date.now() - started)})`,
    );
    writeFileSync(copy, readFileSync(original));
  }
  if (missed.length > 0)
    throw new UserError(
      `the simulation did not find within a minute that ${missed.join("; that ")}`,
    );
  log(`${bugs.length} bugs planted, all found`);
}

/** Its seed and its invariant; undefined if there is none. */
async function firstViolation(cargo, options) {
  try {
    await run(cargo, seedsWith(...PROFILE), options);
  } catch ({ message, output }) {
    const [violation] = output.match(/seed \d+: ".*" is violated/) ?? [];
    if (violation) return violation;
    throw new UserError(`the simulation failed without a violation: ${message}`);
  }
}
