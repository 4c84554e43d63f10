/**
 * A reporter of Node's test runner: a line for each file, of how long it took. {@link fileTimes}
 * reads the lines.
 */
import { relative } from "node:path";

/** @param {AsyncIterable<{type: string, data: {file?: string, duration_ms: number}}>} events */
export default async function* reportFileTimes(events) {
  for await (const { type, data } of events) {
    if (type !== "test:summary" || data.file === undefined) continue;
    yield `file took ${Math.round(data.duration_ms)} ms: ${relative(process.cwd(), data.file)}\n`;
  }
}

/** @typedef {{file: string, milliseconds: number}} FileTime */

/** @param {string} output of a test run with this reporter @returns {FileTime[]} */
export const fileTimes = (output) =>
  [...output.matchAll(/^file took (\d+) ms: (.+)$/gm)].map(([, milliseconds, file]) => ({
    file,
    milliseconds: Number(milliseconds),
  }));
