/** Texts with a count in them. */

/**
 * @param {string} locale BCP 47
 * @param {{other: string, [category: string]: string}} forms by the categories of `Intl.PluralRules`; `#` stands for the count
 * @returns {(count: number) => string}
 */
export function plural(locale, forms) {
  return (count) => {
    const category = globalThis.Intl?.PluralRules ? new Intl.PluralRules(locale).select(count) : "other"; // some engines have none
    return (forms[category] ?? forms.other).replace("#", count.toLocaleString(locale));
  };
}
