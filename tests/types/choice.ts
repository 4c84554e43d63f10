// Valid attributes of a choice compile, and wrong ones don't.
import "impact-pledge/choice";
import type { ImpactChoiceAttributes } from "impact-pledge/choice";

export const attributes: ImpactChoiceAttributes[] = [
  {},
  { price: "0.50", currency: "EUR", one: "{} Baum", other: "{} Bäume", lang: "de" },
  { other: "{} puuta", minus: "Vähennä", plus: "Lisää", few: undefined },
];
// @ts-expect-error a price is a text, because 0.1 is no exact number
export const price: ImpactChoiceAttributes = { price: 0.5 };
// @ts-expect-error no language has this category
export const category: ImpactChoiceAttributes = { tow: "trees" };
