import type { CreatePledgeTransactionRequest, Issue, IssueCode } from "./validate.js";

/** What can be in a form: an input, a select, a textarea, or a custom element that takes part in forms. */
export type FormField = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement | HTMLElement;

/** A problem, and the field that it belongs to. */
export interface FormIssue extends Issue {
  /** `null` if the form has no field for it. */
  readonly field: FormField | null;
}

/** The words for a problem; `undefined` leaves the package's own. */
export type FormMessage = string | ((issue: FormIssue) => string | undefined);

export interface BindFormOptions {
  /** Your words, by the code of a problem. Codes without an entry keep the package's own words. */
  messages?: { readonly [code in IssueCode]?: FormMessage } | undefined;
  /** What a screen reader hears when a form with problems was to be sent. */
  summary?: ((count: number) => string) | undefined;
  /**
   * Takes the payload of a valid form in place of the browser, which otherwise posts the form. Until a promise that
   * it returns is settled, the form is `aria-busy` and is not sent again.
   */
  onSubmit?: ((payload: CreatePledgeTransactionRequest, event: SubmitEvent) => unknown) | undefined;
  /** Takes all problems, shown or not, whenever they have changed, and once at first. */
  onIssues?: ((issues: FormIssue[]) => void) | undefined;
}

/** What a form says. */
export type FormReading<I extends Issue> =
  | { readonly valid: true; readonly payload: CreatePledgeTransactionRequest; readonly issues: readonly I[] }
  | { readonly valid: false; readonly payload: unknown; readonly issues: readonly I[] };

export interface FormBinding {
  /** What the form says now; shows nothing. */
  read(): FormReading<FormIssue>;
  /** Checks again, after values were set by program. */
  refresh(): void;
  /** Leaves the form as it was before. */
  unbind(): void;
}

/**
 * Checks a form as it is filled in. The names of its fields are paths of the request: `reference`,
 * `recipient.email`, `pledges.0.impact.amount`, and `notifications` for each of several boxes. Other fields are left
 * alone, but for the browser's own rules.
 *
 * A problem is shown when its field was left or chosen, and until it is solved: in the element with
 * `data-problem="{name}"`, or in a paragraph of class `impact-pledge-problem` behind the field.
 */
export function bindForm(form: HTMLFormElement, options?: BindFormOptions): FormBinding;

/** A problem of posted data, and the name of the field that it belongs to. */
export interface PostedIssue extends Issue {
  /** `null` if no field was posted for it. */
  readonly name: string | null;
}

export interface ReadFormOptions {
  /**
   * Which fields the shopper could not see: they tell what an item is, not that there is one. As posted data does
   * not say it, name them here: `(name) => name.endsWith(".offeringId")`.
   */
  hidden?: ((name: string) => boolean) | undefined;
}

/** What a form said that was posted to your server, by the same rules as in the page. */
export function readForm(data: FormData | URLSearchParams | Iterable<readonly [string, unknown]>, options?: ReadFormOptions): FormReading<PostedIssue>;
