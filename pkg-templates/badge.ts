/* `impact-pledge/badge`: what is pledged in words, for servers and e-mails, and `<impact-badge>` for pages. */

/**
 * Sentences by the plural categories of `Intl.PluralRules`, such as `one` and `few`; a category without one takes that of
 * `other`. In a sentence, `{}` is the number; where there is no `{}`, the number stands in front, with a blank.
 */
export interface ImpactWords {
  zero?: string | undefined;
  one?: string | undefined;
  two?: string | undefined;
  few?: string | undefined;
  many?: string | undefined;
  other: string;
}

/** The options of {@link impactText}. */
export interface ImpactTextOptions extends ImpactWords {
  /** What is pledged: greater than 0, as in a pledge's `impact.amount`. */
  amount: number;
  /** The language of the sentences, as HTML writes it (`de`, `pt-BR`), or ICU (`pt_BR`). */
  lang: string;
}

/** The attributes of `<impact-badge>`, for the types of a framework. */
export interface ImpactBadgeAttributes extends ImpactWords {
  /** Where it is no number greater than 0, the element shows its own text. */
  amount: number | string;
  /** The language of the sentences. Default: that of the closest element that has one. */
  lang?: string | undefined;
  /** Where the badge leads to: an address of `http:` or `https:`, or one relative to the page. */
  href?: string | undefined;
  /** The `rel` of that link. */
  rel?: string | undefined;
}

/** All that a `number` is sure of: 0.1 + 0.2 is 0.3. */
const DIGITS = { maximumSignificantDigits: 15 };

/**
 * Returns what is pledged in words, as text (not HTML), in the plural of its language.
 * @throws {TypeError} if `amount` is no number greater than 0, or there is no sentence for it
 * @throws {RangeError} if `lang` is no language tag
 * @example
 * ```js
 * import { impactText } from "impact-pledge/badge";
 *
 * const words = { one: "{} tree with this order", other: "{} trees with this order" };
 * console.log(impactText({ amount: 3, lang: "en", ...words })); // 3 trees with this order
 * ```
 */
export function impactText({ amount, lang: locale, ...words }: ImpactTextOptions): string {
  if (!(Number.isFinite(amount) && amount > 0))
    throw new TypeError("`amount` must be a number greater than 0");
  const lang = tagOf(locale),
    sentence = words[new Intl.PluralRules(lang, DIGITS).select(amount)] || words.other;
  if (!sentence) throw new TypeError("`other` must be a sentence");
  const number = new Intl.NumberFormat(lang, DIGITS).format(amount);
  return sentence.includes("{}") ? sentence.replaceAll("{}", number) : `${number} ${sentence}`;
}

/** A locale's name as ICU and POSIX write it. */
const ICU =
  /^(?:(root|c|posix)|([a-z]{2,8}(?:[-_][a-z]{4})?(?:[-_](?:[a-z]{2}|\d{3}))?))(?:[_.@]|$)/i;

/**
 * Returns the language tag of such a name: language, script and region. Examples are `de_DE`, `de_DE.UTF-8`, `zh_Hans_CN`,
 * `de__PHONEBOOK` and `de@collation=phonebook`. A language tag stays as it is.
 */
function tagOf(locale: string): string {
  const [, none, name] = String(locale).match(ICU) ?? [];
  return none ? "und" : (name?.replaceAll("_", "-") ?? locale);
}

// ---- The element ---------------------------------------------------------------------------------------

const NAME = "impact-badge";

/** The colours follow the page's `color-scheme`. A badge without text of its own and without a number is not shown. */
const CSS = `
:host{display:inline-block}
:host([hidden]),:host(:empty) a:has(slot){display:none}
a{display:inline-flex;align-items:baseline;gap:.5em;padding:.25em .75em;border:1px solid transparent;border-radius:1.1em;background:var(--impact-background,light-dark(#e5f2e8,#1b3426));color:var(--impact-color,light-dark(#1d4d33,#bde6ca));text-decoration:none}
a:any-link{text-decoration:underline}
[part=icon]{flex:none;width:.75em;height:.75em;border-radius:100% 0;background:currentColor;forced-color-adjust:none}
[part=text]{unicode-bidi:plaintext}`;

function badge(): CustomElementConstructor {
  let sheet: CSSStyleSheet | undefined;
  return class extends HTMLElement {
    readonly #link = part("a", "badge");
    readonly #text = part("span", "text");

    constructor() {
      super();
      sheet ??= sheetOf(CSS);
      const root = this.attachShadow({ mode: "open" });
      root.adoptedStyleSheets = [sheet]; // not inline: a policy may forbid that
      this.#link.append(part("span", "icon"), this.#text);
      root.append(this.#link);
      new MutationObserver(() => this.#show()).observe(this, { attributes: true });
    }

    connectedCallback() {
      this.#show();
    }

    #show() {
      const { href = "", rel = "", ...words } = attributesOf(this),
        link = this.#link;
      Object.assign(link, { href, rel });
      if (!(href && /^https?:$/.test(link.protocol))) link.removeAttribute("href");
      try {
        this.#text.textContent = impactText({
          ...words,
          amount: Number(words.amount),
          lang: languageOf(this),
        });
      } catch {
        this.#text.replaceChildren(document.createElement("slot")); // the element's own text
      }
    }
  };
}

const part = <Name extends "a" | "span">(name: Name, part: string): HTMLElementTagNameMap[Name] =>
  Object.assign(document.createElement(name), { part });

const attributesOf = ({ attributes }: Element) =>
  Object.fromEntries(
    [...attributes].map(({ name, value }) => [name, value]),
  ) as unknown as ImpactBadgeAttributes;

/** Returns the language of an element: its own, or that of the closest element around it, across the borders of shadow trees. */
function languageOf(element: Element): string {
  const { host } = element.getRootNode() as Partial<ShadowRoot>,
    own = element.closest<HTMLElement>("[lang]");
  if (!own && host) return languageOf(host);
  return (own ?? document.documentElement).lang || navigator.language;
}

function sheetOf(text: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync?.(text); // jsdom under Jest has no such function
  return sheet;
}

// Last: what the page has already is shown at once.
const registry = globalThis.customElements as CustomElementRegistry | undefined; // there is none on a server
if (registry && !registry.get(NAME)) registry.define(NAME, badge());
