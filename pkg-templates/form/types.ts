/* The public types of `impact-pledge/form`. */
import type {
  CreatePledgeTransactionRequest,
  FormTexts,
  Issue,
  MessageMap,
  Messages,
} from "../validate/index.ts";

/** The DOM type of this name; `never` in programs compiled without the DOM types, such as servers. */
export type Dom<Name extends string> = typeof globalThis extends {
  readonly [N in Name]: { readonly prototype: infer T };
}
  ? T
  : never;

/** A field of a form: an input, a select, a textarea, or a form-associated custom element. */
export type FormField =
  | Dom<"HTMLInputElement">
  | Dom<"HTMLSelectElement">
  | Dom<"HTMLTextAreaElement">
  | Dom<"HTMLElement">;

/** An issue of a form in a page. */
export interface FormIssue extends Issue {
  /** The field that the issue belongs to; `null` if the form has no such field. */
  readonly field: FormField | null;
}

/**
 * The texts of a form: a locale pack, texts by issue code, or a function. Default: English texts for
 * shoppers.
 */
export type FormMessages =
  | (MessageMap<FormIssue> & { readonly [key in keyof FormTexts]?: FormTexts[key] | undefined })
  | ((issue: FormIssue) => string | undefined);

/** The payload of a form; `null` if the form is `optional` and no pledge is chosen. */
export type FormPayload<Optional extends boolean = false> =
  | CreatePledgeTransactionRequest
  | (Optional extends true ? null : never);

/** Options of both `bindForm` and `readForm`. Set them alike, so that page and server read the same payload. */
export interface FormOptions<Optional extends boolean = false> {
  /**
   * Whether a shopper may choose no pledge. If true, and no pledge is chosen, the payload is `null` and
   * counts as valid. Pledges with an empty amount are always left out of the payload. With this option,
   * pledges with the amount zero (`0`, `0.0`, `-0`) are left out, too. Default: `false`.
   */
  optional?: Optional | undefined;
  /**
   * The time zone of dates and local times: an IANA name such as `Europe/Berlin`. Default: UTC. Set another
   * zone both in the page and on the server.
   *
   * The values of HTML's date and datetime-local controls become RFC 3339 date-times. For example,
   * `2026-01-31T12:00` becomes `2026-01-31T12:00:00+01:00`. A date such as `2026-01-31` means midnight. At
   * the start of summer time, a skipped time moves forward by the length of the gap. At the end of summer
   * time, a local time that occurs twice means the earlier instant. Other text and dates that do not exist
   * stay unchanged.
   */
  timeZone?: string | undefined;
}

/** The options of {@link bindForm}. */
export interface BindFormOptions<Optional extends boolean = false> extends FormOptions<Optional> {
  /** Your own texts. Codes without an entry keep their default text. */
  messages?: FormMessages | undefined;
  /** Returns the text for screen readers when a form with `count` problems was submitted. */
  summary?: ((count: number) => string) | undefined;
  /**
   * Called when a valid form is submitted. It receives the payload, and the data that the browser would post:
   * the whole form, including your own fields. Without `onSubmit`, the browser posts the form. While the
   * promise that `onSubmit` returns is pending, the form is `aria-busy` and cannot be submitted again.
   *
   * `onSubmit` can return or throw an object with a non-empty array `issues`. Examples are a
   * `ValidationError`, the result of a Standard Schema, and the response of your server. The form then shows
   * these issues in the same way as `report`. If `onSubmit` throws anything else, the form says that it was
   * not sent, beside a button to retry. The error then goes to `reportError`.
   */
  onSubmit?: ((payload: FormPayload<Optional>, submission: FormSubmission) => unknown) | undefined;
  /** Called with all issues, shown or not: once at the beginning, and whenever they change. */
  onIssues?: ((issues: FormIssue[]) => void) | undefined;
}

/** The submission of a form in a page. */
export interface FormSubmission {
  /** The data that the browser would post: all fields of the form, and the button that was pressed. */
  readonly data: Dom<"FormData">;
  readonly event: Dom<"SubmitEvent">;
}

/**
 * The payload of a form and its issues. The members of an invalid payload may have any type, and a binding that
 * is not active has no payload. After `const { valid, payload } = readForm(data)`, TypeScript knows the payload's
 * type where `valid` is true.
 */
export type FormReading<I extends Issue, Optional extends boolean = false> =
  | { readonly valid: true; readonly payload: FormPayload<Optional>; readonly issues: readonly I[] }
  | {
      readonly valid: false;
      readonly payload: { readonly [member: string]: unknown } | undefined;
      readonly issues: readonly I[];
    };

/** An issue to show in a form: from a Standard Schema, a server, or this package. */
export interface ReportedIssue {
  /** The text to show. */
  readonly message: string;
  /** The path in the payload, such as `["recipient", "email"]`. */
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
  /** The path as a JSON Pointer, such as `/recipient/email`. Used if there is no `path`. */
  readonly pointer?: string | undefined;
  /**
   * An issue code of this package. If `messages` has a text for this code, the form shows that text.
   * Otherwise, a message for developers is replaced by the default text for shoppers.
   */
  readonly code?: string | undefined;
}

/** Controls the checks of a form. The result of {@link bindForm}. */
export interface FormBinding<Optional extends boolean = false> {
  /**
   * Whether this package checks the form in the page. While this is false, the other functions have no
   * effect.
   *
   * It becomes false when you call `unbind`. Where WebAssembly cannot run, it stays false until the rules are
   * loaded as plain JavaScript (see `ready`). If that fails, it never becomes true. One reason why
   * WebAssembly cannot run is a Content-Security-Policy without `'wasm-unsafe-eval'`.
   */
  readonly isActive: boolean;
  /** Reads the current payload and issues without showing them; `{ valid: false, issues: [] }` while inactive. */
  read(): FormReading<FormIssue, Optional>;
  /** Checks the form again. Call it after your program has set values. */
  refresh(): void;
  /**
   * Shows the issues that a server found in the last payload. They replace the issues of an earlier call.
   * Each issue is shown beside its field until the field is edited. Issues without a field are shown in the
   * form's live region until the form is submitted again. The first field with an issue gets the focus. The
   * issues do not prevent another submission. At most 1,000 are read; issues without a message are ignored.
   */
  report(issues: readonly ReportedIssue[]): void;
  /** Ends the checks and restores the form. */
  unbind(): void;
}

/** An issue of posted data. */
export interface PostedIssue extends Issue {
  /** The name of the field that the issue belongs to; `null` if that field was not posted. */
  readonly name: string | null;
}

/** The options of {@link readForm}. */
export interface ReadFormOptions<Optional extends boolean = false> extends FormOptions<Optional> {
  /** Your own texts. Default: English texts for shoppers. */
  messages?: Messages<PostedIssue> | undefined;
  /** The maximum number of issues to return, as for `validate`. Default: 1,000. */
  maxIssues?: number | undefined;
}

/** Posted data of a form, as names and values. Values other than strings, such as files, are ignored. */
export type PostedData =
  | Iterable<readonly [string, unknown]>
  | Dom<"FormData">
  | Dom<"URLSearchParams">;

/** The options of {@link fieldAttributes}. */
export interface FieldAttributesOptions<Jsx extends boolean = false> {
  /** Whether a shopper may choose no pledge. Fields of pledges are then not required, and amounts may be 0. */
  optional?: boolean | undefined;
  /** Whether to use React's names: `inputMode` and `autoComplete`. */
  jsx?: Jsx | undefined;
}

/** Attributes of an input. Attributes that do not apply are absent. */
export type FieldAttributes<Jsx extends boolean = false> = {
  readonly name: string;
  readonly type: "checkbox" | "datetime-local" | "email" | "number" | "text" | "url";
  readonly required?: true;
  readonly min?: string;
  /** `any` for numbers and date-times, so that browsers accept decimals and seconds. */
  readonly step?: string;
} & (Jsx extends true
  ? { readonly inputMode?: "decimal"; readonly autoComplete?: "email" | "given-name" | "name" }
  : { readonly inputmode?: "decimal"; readonly autocomplete?: "email" | "given-name" | "name" });
