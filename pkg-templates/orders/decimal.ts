/* Exact decimals. */
import { MAX_AMOUNT } from "../generated/orders.ts";

/** A whole number of units of 10^-places. */
export interface Decimal {
  units: bigint;
  places: number;
}

export function parse(text: string): Decimal | undefined {
  const [, sign, whole = "", fraction = ""] = text.match(/^(-?)(\d*)\.?(\d*)$/) ?? [];
  return whole + fraction && text.length <= MAX_AMOUNT
    ? { units: BigInt(sign + whole + fraction), places: fraction.length }
    : undefined;
}

/** Writes a decimal of 0 or more without zeros at its end; undefined for others. */
export function write({ units, places }: Decimal): string | undefined {
  const digits = `${units}`.padStart(places + 1, "0");
  const point = digits.length - places;
  return units < 0n
    ? undefined
    : `${digits.slice(0, point)}.${digits.slice(point)}`.replace(/\.?0*$/, "");
}
