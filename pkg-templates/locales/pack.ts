/* Builds a locale pack from the texts of a language. */

import type { Issue, LocalePack } from "../validate/index.ts";

/** Codes of issues that a shopper cannot cause by typing; they share one text. */
const UNREADABLE = [
  "lone_surrogate",
  "invalid_utf8",
  "too_deep",
  "malformed_json",
  "unreadable",
  "unknown_pointer",
];

/** Texts by the plural categories of `Intl.PluralRules`, with `#` for the count. */
type Forms = { readonly [Category in Intl.LDMLPluralRule]?: string } & { readonly other: string };

/** The texts by code; `number` is the text for values that must be a number. */
interface Texts {
  readonly required: string;
  readonly number: string;
  readonly unknown_member: string;
  readonly duplicate_member: string;
  readonly too_few_items: Forms;
  readonly too_many_items: Forms;
  readonly not_positive: string;
  readonly not_allowed: string;
  readonly invalid_email: string;
  readonly invalid_uri: string;
  readonly invalid_date_time: string;
  readonly unreadable: string;
  readonly too_low: Forms;
  readonly too_high: Forms;
  readonly invalid_value: string;
  readonly more_issues: Forms;
  readonly summary: Forms;
  readonly submit_failed: string;
  readonly retry: string;
}

type Codes = Record<string, unknown>;

/** Builds a locale pack. @param locale a BCP 47 language tag */
export function pack(locale: string, { number, ...texts }: Texts & Codes): LocalePack {
  for (const code in texts)
    if ((texts[code] as Forms).other) texts[code] = counted(locale, texts[code] as Forms);
  for (const code of UNREADABLE) texts[code] = texts.unreadable;
  return {
    ...texts,
    invalid_type: ({ meta }: Issue) => (meta.expected === "number" ? number : texts.unreadable),
    not_finite: number,
  } as unknown as LocalePack;
}

/** Returns the function that chooses the text for the count of an issue. */
function counted(locale: string, forms: Forms) {
  return ({ meta, count = (meta.minimum ?? meta.maximum)! }: Issue) => {
    const category = (globalThis.Intl?.PluralRules as unknown)
      ? new Intl.PluralRules(locale).select(count)
      : "other"; // some engines have no `Intl.PluralRules`
    return (forms[category] ?? forms.other).replace("#", count.toLocaleString(locale));
  };
}
