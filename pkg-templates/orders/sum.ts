/* Sums of amounts. */
import { write } from "./decimal.ts";
import { type Json, decimal, select } from "./path.ts";

/**
 * Returns the sum of the amounts at a path such as `+transactions[].amount`, which is negated after a minus sign. It is
 * undefined if an amount is absent, or if the sum is negative.
 * @param minor the number of decimal places of amounts in the smallest unit, which must be whole
 */
export function sumAt(node: Json, [term = ""]: string[], minor?: number): string | undefined {
  const [list = ""] = term.slice(1).split("[");
  const found = select(node, term.slice(1));
  const decimals = found.map(decimal).filter((each) => each !== undefined);
  if (select(node, list)[0] === undefined || decimals.length < found.length) return undefined;
  const places = Math.max(0, ...decimals.map((each) => each.places));
  if (minor !== undefined && places) return undefined;
  let units = 0n;
  for (const each of decimals) units += each.units * 10n ** BigInt(places - each.places);
  return write({ units: term.startsWith("-") ? -units : units, places: minor ?? places });
}
