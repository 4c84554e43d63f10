/**
 * Exact decimals with BigInt: digits and a power of ten. This module shares no code with the project's own
 * arithmetic.
 */

/** @typedef {{digits: bigint, power: number}} Exact */

const MOST_UNITS = 2n ** 53n - 1n;
/** @type {Exact} */
export const ZERO = { digits: 0n, power: 0 };

/** Parses a decimal such as `12.50`, `1e-7` or `12e308`. @param {string} text @returns {Exact} */
export function exact(text) {
  const [, whole, fraction = "", exponent = "0"] =
    text.match(/^(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/) ?? [];
  if (whole === undefined) throw new Error(`\`${text}\` is no decimal`);
  return { digits: BigInt(whole + fraction), power: Number(exponent) - fraction.length };
}

/** @param {Exact} a @param {Exact} b @returns {Exact} */
export function plus(a, b) {
  const power = Math.min(a.power, b.power);
  return { digits: unitsOf(a, power) + unitsOf(b, power), power };
}

/** @param {Exact} a @param {Exact} b @returns {Exact} */
export const times = (a, b) => ({ digits: a.digits * b.digits, power: a.power + b.power });

/** @param {Exact[]} all */
export const sum = (all) => all.reduce(plus, ZERO);

/**
 * Returns a decimal as a whole number of units of 10^`power`. `power` must not exceed the decimal's own
 * power.
 * @param {Exact} decimal
 * @param {number} power
 */
const unitsOf = ({ digits, power: own }, power) => digits * 10n ** BigInt(own - power);

/** Returns a decimal in cents, rounded half away from zero. @param {Exact} decimal @returns {bigint} */
export function cents({ digits, power }) {
  if (power >= -2) return unitsOf({ digits, power }, -2);
  const divisor = 10n ** BigInt(-2 - power);
  return (digits + divisor / 2n) / divisor;
}

/**
 * Formats a decimal as digits without trailing zeros, and a power of ten. Equal decimals have equal texts.
 * @param {Exact} decimal
 */
export function scientific({ digits, power }) {
  if (digits === 0n) return "0e0";
  const text = String(digits);
  let end = text.length;
  while (text[end - 1] === "0") end -= 1; // a pattern such as /0+$/ takes quadratic time
  return `${text.slice(0, end)}e${power + text.length - end}`;
}

/**
 * Returns a decimal as a database column stores it, as a whole number of units of 10^-places. Returns null if
 * it is not a whole number of such units, or more than 2^53 - 1 of them.
 * @param {Exact} decimal
 * @param {number} places
 */
export function units({ digits, power }, places) {
  const excess = -places - power;
  const divisor = excess > 0 ? 10n ** BigInt(excess) : 1n;
  if (digits % divisor !== 0n) return null;
  const whole = excess > 0 ? digits / divisor : unitsOf({ digits, power }, -places);
  return whole <= MOST_UNITS ? Number(whole) : null;
}
