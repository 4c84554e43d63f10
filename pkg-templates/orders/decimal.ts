/*
 * Exact decimals: whole numbers of units of 10^-20. An amount has at most 15 digits and 20 decimal places, as
 * `src/pledges/orders/amount.rs` says.
 */
import { type Found, type Members, scalar } from "./json.ts";

/** Returns the number in a value: a number, a text of one, or an object whose `value` is one. */
export function decimal(value: Found): bigint | undefined {
  const text = scalar((value as Members)?.["value"] ?? value);
  const [, whole, fraction = ""] = text.match(/^(-?\d{1,15})(?:\.(\d{1,20}))?$/) ?? [];
  return (whole && BigInt(whole + fraction.padEnd(20, "0"))) as bigint | undefined;
}

/** Writes a decimal of 0 or more without zeros at its end; undefined for others. */
export const write = (units = -1n): string | undefined =>
  units < 0n
    ? undefined
    : `${units}`
        .padStart(21, "0")
        .replace(/.{20}$/, ".$&")
        .replace(/\.?0*$/, "");
