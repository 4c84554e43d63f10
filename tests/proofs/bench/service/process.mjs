/** Reads the memory and processor time of a process from `/proc`; only on Linux. */
import { readFileSync } from "node:fs";
import { ask } from "../../../../scripts/lib/run.mjs";

const TICKS_PER_SECOND = Number(ask("getconf", ["CLK_TCK"]) ?? 100);

/**
 * Returns the user and system time of all threads of a process, in microseconds.
 * @param {number} pid
 * @returns {number | null}
 */
export function cpuMicroseconds(pid) {
  const text = read(`/proc/${pid}/stat`);
  if (text === null) return null;
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" "); // the name before it may hold anything
  const [user, system] = fields.slice(11, 13).map(Number);
  return ((user + system) / TICKS_PER_SECOND) * 1e6;
}

/** Returns the resident memory of a process, in bytes. @param {number} pid @returns {number | null} */
export function residentBytes(pid) {
  const [, kilobytes] = read(`/proc/${pid}/status`)?.match(/^VmRSS:\s+(\d+) kB$/m) ?? [];
  return kilobytes === undefined ? null : Number(kilobytes) * 1024;
}

function read(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}
