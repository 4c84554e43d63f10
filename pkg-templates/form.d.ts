import type { CreatePledgeTransactionRequest, Issue, IssueCode } from "./validate.js";

/** The DOM's type of that name; `never` where a program is compiled without the DOM, as on a server. */
type Dom<Name extends string> = typeof globalThis extends { readonly [N in Name]: { readonly prototype: infer T } } ? T : never;

/** What can be in a form: an input, a select, a textarea, or a custom element that takes part in forms. */
export type FormField = Dom<"HTMLInputElement"> | Dom<"HTMLSelectElement"> | Dom<"HTMLTextAreaElement"> | Dom<"HTMLElement">;

/** A problem of a form in a page. */
export interface FormIssue extends Issue {
  /** The field that it belongs to; `null` if the form has none for it. */ readonly field: FormField | null;
}

/** The text of a problem; `undefined` leaves the package's own. */
export type FormMessage = string | ((issue: FormIssue) => string | undefined);

export interface BindFormOptions {
  /** Texts of your own, by the code of a problem. Codes without an entry keep the package's texts. */
  messages?: { readonly [code in IssueCode]?: FormMessage } | undefined;
  /** The text for screen readers when a form with so many problems was to be sent. */
  summary?: ((count: number) => string) | undefined;
  /**
   * Takes the payload of a valid form in place of the browser, which otherwise posts the form. Until a promise that
   * it returns is settled, the form is `aria-busy` and is not sent again.
   */
  onSubmit?: ((payload: CreatePledgeTransactionRequest, event: Dom<"SubmitEvent">) => unknown) | undefined;
  /** Called with all problems, shown or not, whenever they have changed, and once at first. */
  onIssues?: ((issues: FormIssue[]) => void) | undefined;
}

/** The payload of a form, and its issues. */
export type FormReading<I extends Issue> =
  | { readonly valid: true; readonly payload: CreatePledgeTransactionRequest; readonly issues: readonly I[] }
  | { readonly valid: false; readonly payload: unknown; readonly issues: readonly I[] };

export interface FormBinding {
  /** The payload and the issues of the form as it is now. Shows nothing. */ read(): FormReading<FormIssue>;
  /** Checks again, after values were set by program. */ refresh(): void;
  /** Leaves the form as it was before. */ unbind(): void;
}

/**
 * Checks a form as it is filled in. The names of its fields are paths of the request: `reference`,
 * `recipient.email`, `pledges.0.impact.amount`, and `notifications` for each of several boxes. Other fields are left
 * alone, but for the browser's own rules.
 *
 * A problem is shown when its field was left or chosen, and until it is solved: in the element with
 * `data-problem="{name}"`, or in a paragraph of class `impact-pledge-problem` behind the field.
 */
export function bindForm(form: Dom<"HTMLFormElement">, options?: BindFormOptions): FormBinding;

/** A problem of posted data. */
export interface PostedIssue extends Issue {
  /** The name of the field that it belongs to; `null` if none was posted for it. */ readonly name: string | null;
}

export interface ReadFormOptions {
  /**
   * Whether the shopper could not see the field of that name, such as `(name) => name.endsWith(".offeringId")`. Hidden
   * fields alone do not make an item present if it has visible ones. Posted data does not show which are hidden.
   */
  hidden?: ((name: string) => boolean) | undefined;
  /** The most issues to return, as for `validate`. */ maxIssues?: number | undefined;
}

/** Data that a form posted: names and values. Values that are no strings, such as files, are ignored. */
export type PostedData = Iterable<readonly [string, unknown]> | Dom<"FormData"> | Dom<"URLSearchParams">;

/** The payload of posted data and its issues, on your server, by the same rules as in the page. Needs no DOM, nor its types. */
export function readForm(data: PostedData, options?: ReadFormOptions): FormReading<PostedIssue>;
