/**
 * Times competing libraries on the same inputs, taking turns in one process. The file is plain JavaScript, so
 * that it runs in Node and in a browser.
 */
import { rotated } from "../numbers.mjs";

/**
 * @typedef {object} Competitor
 * @property {string} name
 * @property {(input: any) => ArrayLike<any>} check gives all problems
 * @property {number} [most] the number of problems that it reports at most, if not all
 * @property {(problem: any) => number} touch reads path and message, as code that shows a problem does
 */

/**
 * Measures the competitors in turns, by processor time where the platform tells it: other programs on the
 * machine then count little.
 * @param {Competitor[]} competitors
 * @param {any[]} inputs the inputs to check, all different
 * @param {{rounds: number, batchMs: number}} plan
 * @returns {Promise<Record<string, number[]>>} for each competitor, the microseconds of one check in each round
 */
export async function duel(competitors, inputs, { rounds, batchMs }) {
  /** @type {Record<string, number[]>} */
  const times = Object.fromEntries(competitors.map(({ name }) => [name, []]));
  const counts = new Map();
  for (const competitor of competitors)
    counts.set(competitor, calibrate(competitor, inputs, batchMs));
  for (let round = 0; round < rounds; round += 1) {
    for (const competitor of rotated(competitors, round)) {
      times[competitor.name].push(batch(competitor, inputs, counts.get(competitor)));
    }
    await new Promise((resolve) => setTimeout(resolve, 0)); // lets the page handle events
  }
  return times;
}

/**
 * Runs a competitor until it is warmed up. Returns how many of its checks fill a batch of `batchMs`
 * milliseconds.
 */
function calibrate(competitor, inputs, batchMs) {
  let count = 1;
  for (;;) {
    const took = (batch(competitor, inputs, count) * count) / 1_000;
    if (took >= batchMs) return Math.max(1, Math.round((count * batchMs) / took));
    count *= 2;
  }
}

let sink = 0;

/** Returns milliseconds: the processor time of the process in Node, else the time that has passed. */
function now() {
  if (typeof document === "object") return performance.now();
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Measures a number of checks in a row. @returns {number} microseconds of one check */
function batch({ check, touch }, inputs, count) {
  const started = now();
  for (let index = 0, turn = 0; turn < count; turn += 1) {
    const problems = check(inputs[index]);
    for (let index = 0; index < problems.length; index += 1) sink += touch(problems[index]);
    index = index + 1 < inputs.length ? index + 1 : 0;
  }
  return ((now() - started) * 1_000) / count;
}

/** Returns a number that depends on all values that were read, so that no engine optimizes the reads away. */
export const touched = () => sink;
