/** Load by wrk: one slice of time on one service with one kind of request. */
import { join } from "node:path";
import { installDebian } from "../../../scripts/lib/debian.mjs";
import { UserError, log, tail } from "../../../scripts/lib/output.mjs";
import { find, run } from "../../../scripts/lib/run.mjs";
import { cpuMicroseconds } from "./process.mjs";

const SCRIPT = join(import.meta.dirname, "wrk.lua");

/** Where wrk is; installs Debian's where that can be done. @returns {Promise<string>} */
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
 * @property {number} perSecond
 * @property {number} p50 in microseconds
 * @property {number} p99 in microseconds
 * @property {number | null} cpu microseconds of the server's per request
 */

/**
 * @param {string} program
 * @param {{origin: string, pid: number, file: string, connections: number, seconds: number, errors: "all" | "some" | "none"}} load
 *   `errors`: how many of the answers have to be
 * @returns {Promise<Slice>}
 */
export async function slice(program, { origin, pid, file, connections, seconds, errors }) {
  const before = cpuMicroseconds(pid);
  const args = [
    "--threads",
    "1",
    "--connections",
    String(connections),
    "--duration",
    `${seconds}s`,
    "--timeout",
    "10s",
    "--script",
    SCRIPT,
    origin,
    "--",
    file,
  ];
  const output = await run(program, args);
  const after = cpuMicroseconds(pid);
  const [, line] = output.match(/^RESULT (.*)$/m) ?? [];
  if (!line) throw new UserError(`wrk failed: ${tail(output, 5)}`);
  const counted = JSON.parse(line);
  mustBeAsExpected(counted, errors);
  const { requests, microseconds, p50, p99 } = counted;
  return {
    requests,
    perSecond: (requests / microseconds) * 1e6,
    p50,
    p99,
    cpu: before === null || after === null ? null : (after - before) / requests,
  };
}

function mustBeAsExpected({ requests, refused, broken }, errors) {
  if (requests === 0) throw new UserError("no request was answered");
  if (broken > 0)
    throw new UserError(`${broken} of ${requests} requests were cut off or timed out`);
  const isExpected = {
    none: refused === 0,
    some: refused > 0 && refused < requests,
    all: refused === requests,
  };
  if (!isExpected[errors])
    throw new UserError(`${refused} of ${requests} answers were errors, not ${errors}`);
}
