/* What the form's functions take and give. */
import type {
  CreatePledgeTransactionRequest,
  FormTexts,
  Issue,
  MessageMap,
  Messages,
} from "../validate/index.ts";

/** The DOM's type of that name; `never` where a program is compiled without the DOM, as on a server. */
export type Dom<Name extends string> = typeof globalThis extends {
  readonly [N in Name]: { readonly prototype: infer T };
}
  ? T
  : never;

/** What can be in a form: an input, a select, a textarea, or a custom element that takes part in forms. */
export type FormField =
  | Dom<"HTMLInputElement">
  | Dom<"HTMLSelectElement">
  | Dom<"HTMLTextAreaElement">
  | Dom<"HTMLElement">;

/** A problem of a form in a page. */
export interface FormIssue extends Issue {
  /** The field that it belongs to; `null` if the form has none for it. */
  readonly field: FormField | null;
}

/** The texts of a form: a locale pack, a map by the codes of issues, or a function of the issue. English for shoppers, unless set. */
export type FormMessages =
  | (MessageMap<FormIssue> & { readonly [key in keyof FormTexts]?: FormTexts[key] | undefined })
  | ((issue: FormIssue) => string | undefined);

/** The payload of a form; `null` only of one that is `optional`, when no pledge is chosen. */
export type FormPayload<Optional extends boolean = false> =
  | CreatePledgeTransactionRequest
  | (Optional extends true ? null : never);

/** What both `bindForm` and `readForm` take: with the same values, page and server read the same payload. */
export interface FormOptions<Optional extends boolean = false> {
  /**
   * Whether a buyer may choose no pledge: then the payload is `null`, without an issue. Not chosen is an item of
   * `pledges` whose amounts are all empty or zero (`0`, `0.0`, `-0`), or in which nothing is filled in. Where others are
   * chosen, it is left out.
   */
  optional?: Optional | undefined;
  /**
   * The IANA name of the time zone, such as `Europe/Berlin`, in which dates and local times are read: what HTML's
   * controls submit, such as `2026-01-31` and `2026-01-31T12:00`, becomes an RFC 3339 date-time such as
   * `2026-01-31T12:00:00+01:00`, a date the midnight at which it begins. A local time that is skipped as summer time
   * begins is as much later as is skipped; of one that comes twice the earlier is meant. Other text, dates that do not
   * exist included, stays as it is. Unless set, it is the browser's own zone in the page, and UTC in `readForm`.
   */
  timeZone?: string | undefined;
}

/** The options of {@link bindForm}. */
export interface BindFormOptions<Optional extends boolean = false> extends FormOptions<Optional> {
  /** Texts of your own. Codes without an entry keep the package's texts. */
  messages?: FormMessages | undefined;
  /** The text for screen readers when a form with so many problems was to be sent. */
  summary?: ((count: number) => string) | undefined;
  /**
   * Takes the payload of a valid form in place of the browser, which otherwise posts the form. Until a promise that
   * it returns is settled, the form is `aria-busy` and is not sent again.
   *
   * If it returns or throws an object with a non-empty array `issues`, such as a `ValidationError`, a result of a
   * Standard Schema or the answer of your server, these are shown as `report` shows them. If it throws anything else,
   * the form says that it was not sent, with a button that sends it again, and the error goes to `reportError`.
   */
  onSubmit?: ((payload: FormPayload<Optional>, event: Dom<"SubmitEvent">) => unknown) | undefined;
  /** Called with all problems, shown or not, whenever they have changed, and once at first. */
  onIssues?: ((issues: FormIssue[]) => void) | undefined;
}

/** The payload of a form, and its issues. */
export type FormReading<I extends Issue, Optional extends boolean = false> =
  | { readonly valid: true; readonly payload: FormPayload<Optional>; readonly issues: readonly I[] }
  | { readonly valid: false; readonly payload: unknown; readonly issues: readonly I[] };

/** An issue of another program: of a Standard Schema, of a server, or of this package. */
export interface ReportedIssue {
  /** What the buyer reads. */
  readonly message: string;
  /** Where it is in the payload, such as `["recipient", "email"]`. */
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
  /** The same as a JSON Pointer, such as `/recipient/email`, for an issue without `path`. */
  readonly pointer?: string | undefined;
  /** One of this package's has its text by `messages`, and a message for developers becomes one for shoppers. */
  readonly code?: string | undefined;
}

/** What {@link bindForm} returns: the form, for as long as it is checked. */
export interface FormBinding<Optional extends boolean = false> {
  /**
   * Whether the form is checked in the page. Not where the rules cannot run, such as under a Content-Security-Policy
   * without `'wasm-unsafe-eval'`: there the form stays the browser's own, and nothing here does anything.
   */
  readonly isActive: boolean;
  /** The payload and the issues of the form as it is now; not valid, and without issues, where nothing is checked. Shows nothing. */
  read(): FormReading<FormIssue, Optional>;
  /** Checks again, after values were set by program. */
  refresh(): void;
  /**
   * Shows issues that a server found in the payload that was sent last, in place of those shown before: each beside its
   * field until that is edited, those without a field in the form's live region until the form is sent again. They do
   * not hold the form back. The focus goes to the first. At most 1,000 are read; what has no message is ignored.
   */
  report(issues: readonly ReportedIssue[]): void;
  /** Leaves the form as it was before. */
  unbind(): void;
}

/** A problem of posted data. */
export interface PostedIssue extends Issue {
  /** The name of the field that it belongs to; `null` if none was posted for it. */
  readonly name: string | null;
}

/** The options of {@link readForm}. */
export interface ReadFormOptions<Optional extends boolean = false> extends FormOptions<Optional> {
  /**
   * Whether the shopper could not see the field of that name, such as `(name) => name.endsWith(".offeringId")`. Hidden
   * fields alone do not make an item present if it has visible ones. Posted data does not show which are hidden.
   */
  hidden?: ((name: string) => boolean) | undefined;
  /** Texts of your own; English for shoppers, unless set. */
  messages?: Messages<PostedIssue> | undefined;
  /** The most issues to return, as for `validate`. */
  maxIssues?: number | undefined;
}

/** Data that a form posted: names and values. Values that are no strings, such as files, are ignored. */
export type PostedData =
  | Iterable<readonly [string, unknown]>
  | Dom<"FormData">
  | Dom<"URLSearchParams">;

/** The options of {@link fieldAttributes}. */
export interface FieldAttributesOptions<Jsx extends boolean = false> {
  /** Whether no pledge need be chosen: of a pledge nothing is required, and its amount may be 0. */
  optional?: boolean | undefined;
  /** Whether names are React's: `inputMode` and `autoComplete`. */
  jsx?: Jsx | undefined;
}

/** What HTML can check of a field; what does not apply is absent. */
export type FieldAttributes<Jsx extends boolean = false> = {
  readonly name: string;
  readonly type: "checkbox" | "datetime-local" | "email" | "number" | "text" | "url";
  readonly required?: true;
  readonly min?: string;
  /** Always `any`: amounts and times may be as fine as people like. */
  readonly step?: string;
} & (Jsx extends true
  ? { readonly inputMode?: "decimal"; readonly autoComplete?: "email" | "given-name" | "name" }
  : { readonly inputmode?: "decimal"; readonly autocomplete?: "email" | "given-name" | "name" });
