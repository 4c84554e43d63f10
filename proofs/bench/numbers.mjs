/** The arithmetic of the benchmarks: no clock, no I/O. */

/** @param {number[]} values */
export function median(values) {
  return quantile(values, 0.5);
}

/**
 * Between two values, what lies between them in proportion.
 * @param {number[]} values
 * @param {number} part from 0 to 1
 */
export function quantile(values, part) {
  const sorted = [...values].sort((a, b) => a - b);
  const position = (sorted.length - 1) * part;
  const below = sorted[Math.floor(position)];
  return below + (sorted[Math.ceil(position)] - below) * (position - Math.floor(position));
}

/**
 * How many times as much ours is, round by round, so that what slows the machine down for a while slows both.
 * @param {number[]} ours @param {number[]} theirs of the same rounds
 */
export function ratio(ours, theirs) {
  return median(ours.map((value, round) => value / theirs[round]));
}

/**
 * The list, begun with another item each round, so that none always runs first.
 * @template T
 * @param {T[]} list
 * @param {number} round
 * @returns {T[]}
 */
export function rotated(list, round) {
  const start = round % list.length;
  return [...list.slice(start), ...list.slice(0, start)];
}

/** Three significant digits, thousands apart: `12,300`, `4.56`. @param {number | null | undefined} value */
export function figure(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const digits = value === 0 ? 1 : Math.floor(Math.log10(Math.abs(value))) + 1;
  if (digits >= 3) return Math.round(Number(value.toPrecision(3))).toLocaleString("en-US");
  return value.toFixed(3 - Math.max(digits, 1));
}
