/* `impact-pledge/badge`: a sentence about a pledge for servers and e-mails, and `<impact-badge>` for pages. */

import { attributesOf, languageOf, part, sentenceOf, sheetOf } from "./element.ts";

/**
 * The sentences of a badge, one for each plural category of `Intl.PluralRules`, such as `one` or `few`. A
 * category without a sentence uses `other`. In a sentence, `{}` stands for the number. If a sentence has no
 * `{}`, the number and a space precede the sentence.
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
  /** The quantity: a number greater than 0, such as a pledge's `impact.amount`. */
  amount: number;
  /** The language of the sentences, written as in HTML (`de`, `pt-BR`) or as in ICU (`pt_BR`). */
  lang: string;
}

/** The attributes of `<impact-badge>`, for a framework that type-checks HTML elements, such as React. */
export interface ImpactBadgeAttributes extends ImpactWords {
  /** The quantity. If it is not a number greater than 0, the element shows its own text. `src` replaces it. */
  amount?: number | string | undefined;
  /** The address of a shop's public total, such as `https://pledges.example.org/impact/unit_1`. */
  src?: string | undefined;
  /** The ID of an offering of the total. Default: the one with the largest quantity. */
  offering?: string | undefined;
  /** The language of the sentences. Default: the `lang` of the closest element that has one. */
  lang?: string | undefined;
  /** The link of the badge: an `http:` or `https:` URL, or one relative to the page. */
  href?: string | undefined;
  /** The `rel` attribute of the badge's link. */
  rel?: string | undefined;
}

/**
 * Returns the sentence for a quantity, in the plural form that the language requires. The result is text, not
 * HTML.
 * @throws {TypeError} if `amount` is not a number greater than 0, or no sentence fits it
 * @throws {RangeError} if `lang` is not a language tag
 * @example
 * ```js
 * import { impactText } from "impact-pledge/badge";
 *
 * const words = { one: "{} tree with this order", other: "{} trees with this order" };
 * console.log(impactText({ amount: 3, lang: "en", ...words })); // 3 trees with this order
 * ```
 */
export function impactText({ amount, lang, ...words }: ImpactTextOptions): string {
  if (!(Number.isFinite(amount) && amount > 0))
    throw new TypeError("`amount` must be a number greater than 0");
  return sentenceOf(amount, tagOf(lang), words);
}

/** The name of a locale, as written by ICU and POSIX. */
const ICU =
  /^(?:(root|c|posix)|([a-z]{2,8}(?:[-_][a-z]{4})?(?:[-_](?:[a-z]{2}|\d{3}))?))(?:[_.@]|$)/i;

/**
 * Returns the language tag (language, script and region) of an ICU or POSIX locale name: `de_DE`, `de_DE.UTF-8`, `zh_Hans_CN`,
 * `de__PHONEBOOK` or `de@collation=phonebook`. Returns a language tag unchanged.
 */
function tagOf(locale: string): string {
  const [, none, name] = String(locale).match(ICU) ?? [];
  return none ? "und" : (name?.replaceAll("_", "-") ?? locale);
}

// ---- The element ---------------------------------------------------------------------------------------

/** An offering in a shop's public total. */
interface OfferingTotal {
  offeringId: string;
  quantity: number;
}

const NAME = "impact-badge";
/** The attributes that are also properties, because some frameworks, such as Lit and Angular, set properties. */
const PROPERTIES = "amount src offering zero one two few many other href rel".split(" ");
/** How long a badge waits for its total, in milliseconds. */
const TOTAL_MS = 5_000;

/**
 * The styles of a badge. Colours follow the page's `color-scheme`. A badge is hidden if it has neither a
 * valid number nor its own text.
 */
const CSS = `
:host{display:inline-block}
:host([hidden]),:host(:empty) a:has(slot){display:none}
a{display:inline-flex;align-items:baseline;gap:.5em;padding:.25em .75em;border:1px solid transparent;border-radius:1.1em;background:var(--impact-background,light-dark(#e5f2e8,#1b3426));color:var(--impact-color,light-dark(#1d4d33,#bde6ca));text-decoration:none}
a:any-link{text-decoration:underline}
[part=icon]{flex:none;width:.75em;height:.75em;border-radius:100% 0;background:currentColor;forced-color-adjust:none}
[part=text]{unicode-bidi:plaintext}`;

function badge(): CustomElementConstructor {
  let sheet: CSSStyleSheet | undefined;
  class Badge extends HTMLElement {
    readonly #link = part("a", "badge");
    readonly #text = part("span", "text");
    #src = "";
    #totals: readonly OfferingTotal[] = [];

    constructor() {
      super();
      sheet ??= sheetOf(CSS);
      const root = this.attachShadow({ mode: "open" });
      root.adoptedStyleSheets = [sheet]; // not inline, because a Content-Security-Policy may forbid that
      this.#link.append(part("span", "icon"), this.#text);
      root.append(this.#link);
      new MutationObserver(() => this.#show()).observe(this, { attributes: true });
    }

    connectedCallback() {
      for (const name of PROPERTIES) {
        const own = Object.getOwnPropertyDescriptor(this, name); // set before the element was defined
        if (own && delete (this as never)[name]) Object.assign(this, { [name]: own.value });
      }
      this.#show();
    }

    #show() {
      const {
          href = "",
          rel = "",
          src = "",
          offering,
          ...words
        } = attributesOf(this) as unknown as ImpactBadgeAttributes,
        link = this.#link;
      Object.assign(link, { href, rel });
      if (!(href && /^https?:$/.test(link.protocol))) link.removeAttribute("href");
      if (src !== this.#src) void this.#load(src);
      try {
        const total = this.#totals.find((it) => !offering || it.offeringId === offering);
        this.#text.textContent = impactText({
          ...words,
          amount: Number(src ? total?.quantity : words.amount),
          lang: languageOf(this),
        });
      } catch {
        this.#text.replaceChildren(document.createElement("slot")); // the element's own text
      }
    }

    /** Reads a total. If there is none within 5 s, the badge shows its own text. */
    async #load(src: string) {
      this.#src = src;
      let totals: readonly OfferingTotal[] = [];
      this.#totals = totals;
      if (!src) return;
      try {
        const signal = AbortSignal.timeout(TOTAL_MS);
        const answer = await fetch(src, { credentials: "omit", signal });
        ({ totals = [] } = await answer.json());
      } catch {}
      if (src !== this.#src) return; // changed meanwhile
      this.#totals = totals;
      this.#show();
    }
  }
  for (const name of PROPERTIES) Object.defineProperty(Badge.prototype, name, reflected(name));
  return Badge;
}

/** Returns a property that reads and writes the attribute of its name. */
const reflected = (name: string): PropertyDescriptor & ThisType<HTMLElement> => ({
  get() {
    return this.getAttribute(name);
  },
  set(value: unknown) {
    if (value === undefined || value === null) this.removeAttribute(name);
    else this.setAttribute(name, String(value));
  },
});

// At the end of the module, because badges that are already in the page are rendered immediately.
const registry = globalThis.customElements as CustomElementRegistry | undefined; // undefined on a server
if (registry && !registry.get(NAME)) registry.define(NAME, badge());
