/* `impact-pledge/choice`: `<impact-choice>`, with which a buyer adds pledges to an order. */

import type { ImpactWords } from "./badge.ts";
import { attributesOf, languageOf, part, sentenceOf, sheetOf } from "./element.ts";

/** The attributes of `<impact-choice>`, for a framework that type-checks HTML elements, such as React. */
export interface ImpactChoiceAttributes extends Partial<ImpactWords> {
  /** The price of one unit, such as `0.50`. */
  price?: string | undefined;
  /** The currency of the price: an ISO 4217 code, such as `EUR`. */
  currency?: string | undefined;
  /** The language of the element. Default: the `lang` of the closest element that has one. */
  lang?: string | undefined;
  /** The name of the minus button, which the label of the input follows. Default: "Decrease" in the language. */
  minus?: string | undefined;
  /** The name of the plus button, which the label of the input follows. Default: "Increase" in the language. */
  plus?: string | undefined;
}

const NAME = "impact-choice";

const BUTTONS = [
  { key: "minus", sign: "−", isUp: false },
  { key: "plus", sign: "+", isUp: true },
] as const;

/** The names of the buttons by language. They are written here because a page may load this one file alone. */
const NAMES: Record<string, { minus: string; plus: string }> = {
  da: { minus: "Reducer", plus: "Forøg" },
  de: { minus: "Verringern", plus: "Erhöhen" },
  en: { minus: "Decrease", plus: "Increase" },
  es: { minus: "Disminuir", plus: "Aumentar" },
  fr: { minus: "Diminuer", plus: "Augmenter" },
  it: { minus: "Diminuisci", plus: "Aumenta" },
  ja: { minus: "減らす", plus: "増やす" },
  nl: { minus: "Verlagen", plus: "Verhogen" },
  pl: { minus: "Zmniejsz", plus: "Zwiększ" },
  pt: { minus: "Diminuir", plus: "Aumentar" },
  sv: { minus: "Minska", plus: "Öka" },
  zh: { minus: "减少", plus: "增加" },
};

const CSS = `
:host{display:inline-flex;flex-wrap:wrap;align-items:center;gap:.5em}
:host([hidden]),[hidden]{display:none!important}
button{min-width:2.75em;min-height:2.75em;border:1px solid;border-radius:.5em;background:none;color:inherit;font:inherit;cursor:pointer}
button:focus-visible{outline:2px solid;outline-offset:2px}
:disabled,[aria-disabled=true]{opacity:.5;cursor:default}
output{unicode-bidi:plaintext}`;

// ---- The controls of the page -------------------------------------------------------------------------

const controlsIn = (element: Element) =>
  element.querySelectorAll<HTMLInputElement>("input:not([type=hidden]),select");

const numberIn = (element: Element) =>
  element.querySelector<HTMLInputElement>("input[type=number]");

const labelOf = ({ ariaLabel, labels }: HTMLInputElement) =>
  ariaLabel ?? [...(labels ?? [])].map((label) => label.textContent.trim()).join(" ");

/** Returns the sum of the numbers that the controls would post, or `NaN` if one of them is invalid or no number. */
function amountOf(controls: Iterable<HTMLInputElement>): number {
  let amount = 0;
  for (const { type, checked, value, validity } of controls)
    if (checked || !/^(checkbox|radio)$/.test(type))
      amount += validity.valid && /^\d{0,15}(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
  return amount;
}

/** Returns the number after a step, as the browser computes it from `min`, `max` and `step`, or undefined at a limit. */
function stepped(input: HTMLInputElement, isUp: boolean): number | undefined {
  const copy = input.cloneNode() as HTMLInputElement,
    before = input.valueAsNumber || 0;
  if (/^any$/i.test(copy.step)) copy.step = "1"; // a step of any size is none
  if (isUp) copy.stepUp();
  else copy.stepDown();
  const after = copy.valueAsNumber,
    isMade = isUp ? after > before : after < before && after >= 0;
  return isMade ? after : undefined;
}

/** Makes a step, and lets the page know as if the buyer had used the control. */
function step(input: HTMLInputElement | null, isUp: boolean): void {
  if (!input || input.matches(":read-only")) return;
  const value = stepped(input, isUp);
  if (value === undefined) return;
  input.valueAsNumber = value; // not `value`, whose changes React does not see
  input.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

// ---- Texts ---------------------------------------------------------------------------------------------

/** Returns the sentence and the sum. Returns an empty text if there is neither, or if one cannot be shown. */
function textOf(
  amount: number,
  lang: string,
  { price, currency, ...words }: Record<string, string>,
): string {
  if (Number.isNaN(amount)) return "";
  try {
    const sentence = words.other && sentenceOf(amount, lang, words),
      sum = price && sumOf(String(amount), price, lang, currency!);
    return [sentence, sum].filter(Boolean).join(" · ");
  } catch {
    return "";
  }
}

/** Multiplies exactly: a binary fraction would turn 3 × 1.005 into less than 3.015. */
function sumOf(amount: string, price: string, lang: string, currency: string): string {
  const fractions = [amount, price].map((text) => text.match(/^\d+(?:\.(\d+))?$/)![1] ?? ""),
    product = BigInt(amount.replace(".", "")) * BigInt(price.replace(".", "")),
    exact = `${product}e-${fractions.join("").length}`;
  return new Intl.NumberFormat(lang, { style: "currency", currency }).format(exact as never);
}

// ---- The element ---------------------------------------------------------------------------------------

function choice(): CustomElementConstructor {
  let sheet: CSSStyleSheet | undefined;
  return class extends HTMLElement {
    readonly #buttons = BUTTONS.map((each) => ({ ...each, button: part("button", each.key) }));
    readonly #sum = part("output", "sum");
    readonly #observer = new MutationObserver(() => this.#show());
    #listening: AbortController | undefined;

    constructor() {
      super();
      sheet ??= sheetOf(CSS);
      const root = this.attachShadow({ mode: "open" });
      root.adoptedStyleSheets = [sheet]; // not inline, because a Content-Security-Policy may forbid that
      for (const { button, sign, isUp } of this.#buttons) {
        button.type = "button";
        button.textContent = sign;
        button.onclick = () => step(numberIn(this), isUp);
        root.append(button);
      }
      this.#buttons[0]!.button.after(document.createElement("slot"));
      root.append(this.#sum);
      for (const event of ["input", "change", "focusin"])
        this.addEventListener(event, () => this.#show());
    }

    connectedCallback() {
      const root = this.getRootNode(),
        show = () => this.#show();
      this.#listening = new AbortController();
      const { signal } = this.#listening;
      this.#observer.observe(this, { attributes: true, childList: true, subtree: true });
      // Around the element: a `fieldset` is disabled, or the language changes.
      this.#observer.observe(root, { attributeFilter: ["disabled", "lang"], subtree: true });
      root.addEventListener("reset", () => setTimeout(show), { signal }); // the event precedes the reset
      addEventListener("pageshow", show, { signal }); // the browser has restored what the buyer chose
      show();
    }

    disconnectedCallback() {
      this.#observer.disconnect();
      this.#listening?.abort();
    }

    /** Shows the buttons and the sum for the controls as they are now. Changes no value. */
    #show() {
      const attributes = attributesOf(this),
        lang = languageOf(this).replaceAll("_", "-"),
        controls = controlsIn(this),
        number = numberIn(this),
        text = textOf(amountOf(controls), lang, attributes),
        [only, another] = controls;
      if (this.#sum.textContent !== text) this.#sum.textContent = text;
      if (only && !another && (only.ariaDescription ?? "") !== text)
        only.ariaDescription = text || null;
      for (const { button, key, isUp } of this.#buttons) {
        button.hidden = !number;
        if (!number) continue;
        const names = NAMES[lang.slice(0, 2).toLowerCase()] ?? NAMES.en!;
        button.ariaLabel = [attributes[key] || names[key], labelOf(number)].join(": ");
        button.disabled = number.matches(":read-only");
        // Not `disabled` at a limit: the button would lose the focus.
        button.ariaDisabled = String(stepped(number, isUp) === undefined);
      }
    }
  };
}

// At the end of the module, because choices that are already in the page are shown immediately.
const registry = globalThis.customElements as CustomElementRegistry | undefined; // undefined on a server
if (registry && !registry.get(NAME)) registry.define(NAME, choice());
