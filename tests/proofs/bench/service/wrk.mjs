/** Loads one service with one kind of request for a limited time, with wrk. */
import { join } from "node:path";
import { installDebian } from "../../../../scripts/setup/debian.mjs";
import { UserError, log, tail } from "../../../../scripts/lib/output.mjs";
import { find, run } from "../../../../scripts/lib/run.mjs";
import { cpuMicroseconds } from "./process.mjs";

const SCRIPT = join(import.meta.dirname, "wrk.lua");

/** Returns the path of wrk. Installs Debian's package where that is possible. @returns {Promise<string>} */
export async function wrk() {
  const found = find("wrk");
  if (found) return found;
  log("wrk is missing: getting Debian's");
  await installDebian(
    "wrk",
    ["wrk"],
    "install it (`apt-get install wrk`, `brew install wrk`), then run this again",
  );
  return find("wrk") ?? "wrk";
}

/**
 * @typedef {object} Slice
 * @property {number} requests
 * @property {number} microseconds the duration of the load
 * @property {number | null} cpu microseconds of processor time that the server has spent
 */

/**
 * Loads a service with wrk for some seconds, and measures the processor time of the service's process.
 * @param {string} program
 * @param {{origin: string, pid: number, file: string, connections: number, seconds: number, refused:
 *   boolean}} load `refused`: true if every answer must be an error, false if none may be
 * @returns {Promise<Slice>}
 */
export async function slice(program, { origin, pid, file, connections, seconds, refused }) {
  const before = cpuMicroseconds(pid);
  const flags = `--threads 1 --connections ${connections} --duration ${seconds}s --timeout 10s`;
  const args = [...flags.split(" "), "--script", SCRIPT, origin, "--", file];
  const output = await run(program, args);
  const after = cpuMicroseconds(pid);
  const [, line] = output.match(/^RESULT (.*)$/m) ?? [];
  if (!line) throw new UserError(`wrk failed: ${tail(output, 5)}`);
  const counted = JSON.parse(line);
  mustBeAsExpected(counted, refused);
  const { requests, microseconds } = counted;
  return { requests, microseconds, cpu: before === null || after === null ? null : after - before };
}

function mustBeAsExpected({ requests, refused, broken }, isRefused) {
  if (requests === 0) throw new UserError("no request was answered");
  if (broken > 0)
    throw new UserError(`${broken} of ${requests} requests were cut off or timed out`);
  if (refused !== (isRefused ? requests : 0))
    throw new UserError(`${refused} of ${requests} answers were errors`);
}
