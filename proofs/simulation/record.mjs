/** The native simulation, whose seeds come as recordings. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { UserError } from "../../scripts/lib/output.mjs";

/** Fast, with the checks of a debug build. */
export const PROFILE = ["--profile", "simulation"];

/** For cargo: the test that plays seeds, alone. */
export const seedsWith = (...flags) => [
  "test",
  "--quiet",
  "--all-features",
  ...flags,
  "--test",
  "simulation",
  "--",
  "--nocapture",
  "no_seed",
];

/**
 * Plays seeds natively, no faster than they are taken. Throws a {@link UserError} with what it printed if one violates a promise.
 * @param {import("../../scripts/lib/tools.mjs").Tools} tools
 * @param {NodeJS.ProcessEnv} env which seeds: `SEED`, `SEEDS`, or `FROM` and `MINUTES`
 * @returns {AsyncGenerator<{seed: number, events: object[]}>}
 */
export async function* record({ root, native }, env, ...flags) {
  const child = spawn(native.cargo, seedsWith(...flags), {
    cwd: root,
    env: { ...native.env, ...env, RECORD: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [closed, problem] = [once(child, "close"), text(child.stderr)];
  try {
    for await (const line of linesOf(child.stdout))
      if (line.startsWith("{")) yield JSON.parse(line);
    const [code] = await closed;
    if (code !== 0) throw new UserError(`the native simulation failed\n${await problem}`);
  } finally {
    child.kill();
  }
}

/** Readline would read a thousand lines ahead, of half a megabyte each. */
async function* linesOf(stream) {
  let line = [];
  for await (const chunk of stream.setEncoding("utf8")) {
    const [end, ...starts] = chunk.split("\n");
    line.push(end);
    for (const start of starts) {
      yield line.join("");
      line = [start];
    }
  }
}
