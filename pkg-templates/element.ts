/* What the custom elements of the package share: sentences in the plural of a language, attributes, and styles. */

/** Limits numbers to 15 significant digits, so that 0.1 + 0.2 is shown as 0.3. */
const DIGITS = { maximumSignificantDigits: 15 };

/**
 * Returns the sentence for a quantity, in the plural form that the language requires.
 * @param words the sentences by plural category
 * @throws {TypeError} if no sentence fits
 * @throws {RangeError} if `lang` is not a language tag
 */
export function sentenceOf(
  amount: number,
  lang: string,
  words: { [Category in Intl.LDMLPluralRule]?: string | undefined },
): string {
  const sentence = words[new Intl.PluralRules(lang, DIGITS).select(amount)] || words.other;
  if (!sentence) throw new TypeError("`other` must be a sentence");
  const number = new Intl.NumberFormat(lang, DIGITS).format(amount);
  return sentence.includes("{}") ? sentence.replaceAll("{}", number) : `${number} ${sentence}`;
}

/**
 * Returns the language of an element, or of its closest ancestor that has one. Also searches ancestors outside
 * of the element's shadow tree.
 */
export function languageOf(element: Element): string {
  const { host } = element.getRootNode() as Partial<ShadowRoot>,
    own = element.closest<HTMLElement>("[lang]");
  if (!own && host) return languageOf(host);
  return (own ?? document.documentElement).lang || navigator.language;
}

export const attributesOf = ({ attributes }: Element): Record<string, string> =>
  Object.fromEntries([...attributes].map(({ name, value }) => [name, value]));

/** Creates an element of a shadow tree, with its name for `::part`. */
export const part = <Name extends "a" | "span" | "button" | "output">(
  name: Name,
  part: string,
): HTMLElementTagNameMap[Name] => Object.assign(document.createElement(name), { part });

export function sheetOf(text: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync?.(text); // jsdom under Jest has no such function
  return sheet;
}
