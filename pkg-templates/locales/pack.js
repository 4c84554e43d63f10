/** A locale pack from the texts of its language. */

/** What a shopper cannot have typed. */
const UNREADABLE = [
  "lone_surrogate",
  "invalid_utf8",
  "too_deep",
  "malformed_json",
  "unreadable",
  "unknown_pointer",
];

/**
 * @param {string} locale BCP 47
 * @param {Record<string, string | {other: string, [category: string]: string}>} texts by code: a text, or several by the
 *   categories of `Intl.PluralRules` with `#` for the count; `number` is for what must be one
 */
export function pack(locale, { number, ...texts }) {
  for (const code in texts) if (texts[code].other) texts[code] = counted(locale, texts[code]);
  for (const code of UNREADABLE) texts[code] = texts.unreadable;
  return {
    ...texts,
    invalid_type: ({ meta }) => (meta.expected === "number" ? number : texts.unreadable),
    not_finite: number,
  };
}

/** The text for the count that an issue is about. */
function counted(locale, forms) {
  return ({ meta, count = meta.minimum ?? meta.maximum }) => {
    const category = globalThis.Intl?.PluralRules
      ? new Intl.PluralRules(locale).select(count)
      : "other"; // some engines have none
    return (forms[category] ?? forms.other).replace("#", count.toLocaleString(locale));
  };
}
