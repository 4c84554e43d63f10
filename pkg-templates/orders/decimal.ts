/* Exact decimals: whole numbers of units of 10^-40. An amount of 40 characters has no more decimal places. */
import { MAX_AMOUNT } from "../generated/orders.ts";
import { type Found, member, scalar } from "./json.ts";

/** Returns the number in a value: a number, a text of one, or an object whose `value` is one. */
export function decimal(value: Found): bigint | undefined {
  const text = scalar(member(value, "value") ?? value);
  const [, whole, fraction] = text.match(/^(?=.*\d)(-?\d*)\.?(\d*)$/) ?? [];
  return whole === undefined || text.length > MAX_AMOUNT
    ? undefined
    : BigInt(whole + fraction!.padEnd(MAX_AMOUNT, "0"));
}

/** Writes a decimal of 0 or more without zeros at its end; undefined for others. */
export function write(units = -1n): string | undefined {
  const digits = `${units}`.padStart(MAX_AMOUNT + 1, "0");
  return units < 0n
    ? undefined
    : `${digits.slice(0, -MAX_AMOUNT)}.${digits.slice(-MAX_AMOUNT)}`.replace(/\.?0*$/, "");
}
