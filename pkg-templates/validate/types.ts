/* The public types of the validator. */
import type { CreatePledgeTransactionRequest, IssueCode } from "../generated/request.ts";

/**
 * A kind of issue. Its message is a fixed text, or is joined from a start, one of several middle parts, and
 * an end.
 */
export type Kind = readonly [
  code: IssueCode,
  message: string | readonly [start: string, parts: readonly string[], end: string],
  meta?: IssueMeta,
];

/** An issue whose members can still be changed, before it is returned. */
export type NewIssue = { -readonly [Name in keyof Issue]: Issue[Name] };

/** A problem of a request: a rule of the contract (§4.1) that it breaks. */
export interface Issue {
  /** The path of the value, such as `["pledges", 0, "impact", "amount"]`; empty for the request itself. */
  readonly path: ReadonlyArray<string | number>;
  /** The path as a JSON Pointer (RFC 6901), such as `/pledges/0/impact/amount`. */
  readonly pointer: string;
  /** The kind of issue, for programs. */
  readonly code: IssueCode;
  /** An English message that follows the path in a sentence, such as `is required`. */
  readonly message: string;
  /** The expected and the actual value, for your own messages. */
  readonly meta: IssueMeta;
  /** Only with code `more_issues`: the number of issues that were left out. */
  readonly count?: number | undefined;
}

/** Details of an issue. The code determines the members; many codes have none. */
export interface IssueMeta {
  /** The JSON type that the value must have (`invalid_type`). */
  readonly expected?: "string" | "number" | "array" | "object";
  /** The type that the value has (`invalid_type`); `unserializable` if JSON cannot represent it, such as a function. */
  readonly actual?:
    | "null"
    | "boolean"
    | "number"
    | "string"
    | "array"
    | "object"
    | "unserializable";
  /** The minimum number of items (`too_few_items`), or the minimum of the value (`not_positive`). */
  readonly minimum?: number;
  /** Whether the value must be greater than `minimum`. */
  readonly exclusive?: boolean;
  /** The maximum number of items (`too_many_items`). */
  readonly maximum?: number;
  /** The allowed values (`not_allowed`) or names of members (`unknown_member`). */
  readonly allowed?: readonly string[];
}

/** The message of an issue, or a function that returns it; `undefined` keeps the default message. */
export type Message<I extends Issue = Issue> = string | ((issue: I) => string | undefined);

/** Messages by code, such as a locale pack. Codes without an entry keep their default message. */
export type MessageMap<I extends Issue = Issue> = {
  readonly [code in IssueCode]?: Message<I> | undefined;
};

/** The texts of a form that are not messages of issues. */
export interface FormTexts {
  /** The summary when a form cannot be sent; `count` is the number of fields with a problem. */
  readonly summary: string | ((about: { readonly count: number }) => string);
  /** The message when `onSubmit` has failed. */
  readonly submit_failed: string;
  /** The label of the button that sends the form again. */
  readonly retry: string;
  /** The message for a number below a field's `min` or above its `max`; `count` is that limit as written in HTML. */
  readonly too_low: LimitText;
  readonly too_high: LimitText;
  /**
   * The message for any other problem that the browser finds, such as with a `step` or a `pattern`. A field
   * with a `title` shows the title instead.
   */
  readonly invalid_value: string;
}

type LimitText = string | ((about: { readonly count: string }) => string);

/** All texts for shoppers in one language, such as `impact-pledge/locales/de`. */
export type LocalePack = Required<MessageMap> & FormTexts;

/**
 * Messages for issues: a locale pack, a map by code, or a function. If the function returns `undefined`, the
 * default message stays.
 */
export type Messages<I extends Issue = Issue> = MessageMap<I> | ((issue: I) => string | undefined);

/** The options of a check. */
export interface ValidateOptions {
  /** Your own messages. Default: English messages for developers. */
  readonly messages?: Messages | undefined;
  /**
   * The maximum number of issues to return, a whole number greater than 0. If a request has more, one issue
   * with code `more_issues` is added. Its `count` is the number of issues that were left out. With 1, only
   * the first issue is returned, and `validate` reads the request no further. Default: 1,000.
   */
  readonly maxIssues?: number | undefined;
}

/** The result of `safeParse`: the request, or all of its issues. */
export type SafeParseResult =
  | { readonly data: CreatePledgeTransactionRequest; readonly issues?: undefined }
  | { readonly data?: undefined; readonly issues: Issue[] };

/**
 * The options of a conversion to JSON Schema. For a `target` that is not named here, the conversion throws an
 * `Error`.
 */
export interface JsonSchemaOptions {
  readonly target: "draft-2020-12" | "draft-07" | "openapi-3.0" | (string & {});
  readonly libraryOptions?: Record<string, unknown> | undefined;
}

/** The schema of a request: Standard Schema v1 and Standard JSON Schema v1, both synchronous. */
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
