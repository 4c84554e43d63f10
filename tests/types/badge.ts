// Valid uses of the badge compile, and wrong ones don't.
import {
  impactText,
  type ImpactBadgeAttributes,
  type ImpactTextOptions,
  type ImpactWords,
} from "impact-pledge/badge";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(..._equal: Equal<A, B> extends true ? [] : [never]) => {};

const words: ImpactWords = { one: "{} Baum", other: "{} Bäume", few: undefined };
same<ReturnType<typeof impactText>, string>();
same<ImpactTextOptions["amount"], number>();
impactText({ amount: 3, lang: "de", ...words });

// @ts-expect-error an amount is a number
impactText({ amount: "3", lang: "de", other: "Bäume" });
// @ts-expect-error a server has no language of its own
impactText({ amount: 3, other: "Bäume" });
// @ts-expect-error `other` is there in every language
impactText({ amount: 3, lang: "de", one: "Baum" });
// @ts-expect-error no language has this category
impactText({ amount: 3, lang: "de", other: "Bäume", tow: "Bäume" });

export const attributes: ImpactBadgeAttributes[] = [
  { amount: 3, other: "trees" },
  { amount: "3", ...words, lang: "de", href: "/impact", rel: undefined },
  { src: "https://pledges.example.org/impact/unit_1", offering: "tree", other: "trees" },
];
// @ts-expect-error nothing is shown without a sentence
export const wrong: ImpactBadgeAttributes = { amount: 3 };
