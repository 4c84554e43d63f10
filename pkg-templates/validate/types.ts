/* What the validator takes and gives. */
import type { CreatePledgeTransactionRequest, IssueCode } from "../generated/request.ts";

/** A kind of issue: its code, its message and its `meta`. A message is a text, or a beginning, what may follow, and what stands behind that. */
export type Kind = readonly [
  code: IssueCode,
  message: string | readonly [start: string, parts: readonly string[], end: string],
  meta?: IssueMeta,
];

/** An issue that is being made. */
export type NewIssue = { -readonly [Name in keyof Issue]: Issue[Name] };

/** One problem of a request. */
export interface Issue {
  /** The steps from the request down, such as `["pledges", 0, "impact", "amount"]`; empty for the request itself. */
  readonly path: ReadonlyArray<string | number>;
  /** The same as an RFC 6901 JSON Pointer, such as `/pledges/0/impact/amount`. */
  readonly pointer: string;
  /** What kind of problem it is. */
  readonly code: IssueCode;
  /** What must be done, in English, to be read behind the path. */
  readonly message: string;
  /** What the rule asks for, and what was there: for messages of your own. */
  readonly meta: IssueMeta;
  /** Of code `more_issues` alone: how many problems there are beyond those returned. */
  readonly count?: number | undefined;
}

/** By code: `invalid_type` has `expected` and `actual`; other codes as their members say, or none of them. */
export interface IssueMeta {
  /** The JSON type that the value must be. */
  readonly expected?: "string" | "number" | "array" | "object";
  /** The type that it is; `unserializable` is what JSON cannot carry, such as a function. */
  readonly actual?:
    | "null"
    | "boolean"
    | "number"
    | "string"
    | "array"
    | "object"
    | "unserializable";
  /** The least items (`too_few_items`), or the number that the value must exceed (`not_positive`). */
  readonly minimum?: number;
  /** Whether `minimum` itself is refused. */
  readonly exclusive?: boolean;
  /** The most items (`too_many_items`). */
  readonly maximum?: number;
  /** The values (`not_allowed`) or the members (`unknown_member`) that may be there. */
  readonly allowed?: readonly string[];
}

/** The text of an issue; `undefined` leaves the package's own. */
export type Message<I extends Issue = Issue> = string | ((issue: I) => string | undefined);

/** Texts by the codes of issues, such as a locale pack; codes without an entry keep the package's texts. */
export type MessageMap<I extends Issue = Issue> = {
  readonly [code in IssueCode]?: Message<I> | undefined;
};

/** What a form shows besides issues. */
export interface FormTexts {
  /** How many fields have a problem, when a form was to be sent. */
  readonly summary: string | ((about: { readonly count: number }) => string);
  /** That `onSubmit` has failed. */
  readonly submit_failed: string;
  /** The button that sends the form again. */
  readonly retry: string;
}

/** The texts of one language, for shoppers: for every code, and for the form. */
export type LocalePack = Required<MessageMap> & FormTexts;

/** A locale pack such as `impact-pledge/locales/de`, a map by code, or a function of the issue. */
export type Messages<I extends Issue = Issue> = MessageMap<I> | ((issue: I) => string | undefined);

/** The options of every check. */
export interface ValidateOptions {
  /** Texts of your own in place of the developer's messages, which are English. */
  readonly messages?: Messages | undefined;
  /**
   * How many issues are returned at most, a whole number from 1; 1,000 unless set. Where there are more, one of code
   * `more_issues` follows, with the count of the others.
   */
  readonly maxIssues?: number | undefined;
}

/** The version of a JSON Schema: `draft-2020-12`, `draft-07` or `openapi-3.0`; any other target throws. */
export interface JsonSchemaOptions {
  readonly target: "draft-2020-12" | "draft-07" | "openapi-3.0" | (string & {});
  readonly libraryOptions?: Record<string, unknown> | undefined;
}

/** Standard Schema v1 and Standard JSON Schema v1, synchronous. */
export interface CreatePledgeTransactionSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "impact-pledge";
    readonly types?:
      | {
          readonly input: CreatePledgeTransactionRequest;
          readonly output: CreatePledgeTransactionRequest;
        }
      | undefined;
    readonly validate: (
      value: unknown,
      options?: { readonly libraryOptions?: Record<string, unknown> | undefined } | undefined,
    ) =>
      | { readonly value: CreatePledgeTransactionRequest; readonly issues?: undefined }
      | { readonly issues: ReadonlyArray<Issue> };
    readonly jsonSchema: {
      readonly input: (options: JsonSchemaOptions) => Record<string, unknown>;
      readonly output: (options: JsonSchemaOptions) => Record<string, unknown>;
    };
  };
}
