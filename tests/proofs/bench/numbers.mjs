/** The arithmetic of the benchmarks, without clock or I/O. */
import { generator } from "./data.mjs";

/** Returns the middle value, or the mean of the two in the middle. @param {number[]} values */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
}

/** Returns the smallest value that at least this share of the values does not exceed. @param {number[]} values */
export function quantile(values, share) {
  return values.toSorted((a, b) => a - b)[Math.max(Math.ceil(values.length * share) - 1, 0)];
}

/**
 * Returns the median of the ratios `ours[i] / theirs[i]`, one ratio for each round. A temporary load on the
 * machine affects both figures of a round, so it hardly affects their ratio.
 * @param {number[]} ours
 * @param {number[]} theirs the figures to compare with, of the same rounds
 */
export function ratio(ours, theirs) {
  return median(ours.map((value, round) => value / theirs[round]));
}

/** The number of random divisions into halves that {@link noise} tries. */
const DIVISIONS = 2_000;

/**
 * Returns the noise of a measurement: the ratio that two identical builds may show by chance. To find it,
 * divides the figures of both builds into halves at random, many times. In 95 % of the divisions, the ratio
 * of the halves' medians is at most the noise.
 * @param {number[]} ours
 * @param {number[]} twins as many figures, from an identical build
 */
export function noise(ours, twins) {
  const random = generator(1);
  const all = [...ours, ...twins];
  const ratios = Array.from({ length: DIVISIONS }, () => {
    shuffle(all, random);
    const quotient = median(all.slice(0, ours.length)) / median(all.slice(ours.length));
    return Math.max(quotient, 1 / quotient);
  });
  return ratios.toSorted((a, b) => a - b)[Math.ceil(DIVISIONS * 0.95) - 1];
}

function shuffle(list, random) {
  for (let last = list.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [list[last], list[other]] = [list[other], list[last]];
  }
}

/**
 * Returns the quotient of two medians, such as `1.23 ×`. Returns `level` if the difference is within the
 * noise.
 * @param {number[]} above @param {number[]} below @param {number} noise
 */
export function compared(above, below, noise) {
  const quotient = median(above) / median(below);
  return Math.max(quotient, 1 / quotient) <= noise ? "level" : `${figure(quotient)} ×`;
}

/**
 * Returns the list, starting with a different item each round, so that no item always runs first.
 * @template T
 * @param {T[]} list
 * @param {number} round
 * @returns {T[]}
 */
export function rotated(list, round) {
  const start = round % list.length;
  return [...list.slice(start), ...list.slice(0, start)];
}

/**
 * Formats a number with three significant digits and separators of thousands, such as `12,300` or `4.56`.
 * @param {number} value
 */
export function figure(value) {
  const digits = value === 0 ? 1 : Math.floor(Math.log10(Math.abs(value))) + 1;
  if (digits >= 3) return Math.round(Number(value.toPrecision(3))).toLocaleString("en-US");
  return value.toFixed(3 - Math.max(digits, 1));
}

/** Formats the median of the runs and their range, such as `2.04 (2.03–2.05)`; – if nothing was measured. */
export function spread(values, unit = "") {
  if (values.length === 0) return "–";
  const middle = `${figure(median(values))}${unit}`;
  if (values.length === 1) return middle;
  return `${middle} (${figure(Math.min(...values))}–${figure(Math.max(...values))})`;
}
