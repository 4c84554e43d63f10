/** One problem of a request. */
export interface Issue {
  /** The steps from the request down, such as `["pledges", 0, "impact", "amount"]`; empty for the request itself. */
  readonly path: ReadonlyArray<string | number>;
  /** The same as an RFC 6901 JSON Pointer, such as `/pledges/0/impact/amount`. */ readonly pointer: string;
  /** What kind of problem it is. */ readonly code: IssueCode;
  /** What must be done, in English, to be read behind the path. */ readonly message: string;
  /** What the rule asks for, and what was there: for messages of your own. */ readonly meta: IssueMeta;
  /** Of code `more_issues` alone: how many problems there are beyond those returned. */
  readonly count?: number | undefined;
}

/** By code: `invalid_type` has `expected` and `actual`; other codes as their members say, or none of them. */
export interface IssueMeta {
  /** The JSON type that the value must be. */ readonly expected?: "string" | "number" | "array" | "object";
  /** The type that it is; `unserializable` is what JSON cannot carry, such as a function. */
  readonly actual?: "null" | "boolean" | "number" | "string" | "array" | "object" | "unserializable";
  /** The least items (`too_few_items`), or the number that the value must exceed (`not_positive`). */
  readonly minimum?: number;
  /** Whether `minimum` itself is refused. */ readonly exclusive?: boolean;
  /** The most items (`too_many_items`). */ readonly maximum?: number;
  /** The values (`not_allowed`) or the members (`unknown_member`) that may be there. */ readonly allowed?: readonly string[];
}

/** The text of an issue; `undefined` leaves the package's own. */
export type Message<I extends Issue = Issue> = string | ((issue: I) => string | undefined);

/** Texts by the codes of issues, such as a locale pack; codes without an entry keep the package's texts. */
export type MessageMap<I extends Issue = Issue> = { readonly [code in IssueCode]?: Message<I> | undefined };

/** What a form shows besides issues. */
export interface FormTexts {
  /** How many fields have a problem, when a form was to be sent. */
  readonly summary: string | ((about: { readonly count: number }) => string);
  /** That `onSubmit` has failed. */ readonly submit_failed: string;
  /** The button that sends the form again. */ readonly retry: string;
}

/** The texts of one language, for shoppers: for every code, and for the form. */
export type LocalePack = Required<MessageMap> & FormTexts;

/** A locale pack such as `impact-pledge/locales/de`, a map by code, or a function of the issue. */
export type Messages<I extends Issue = Issue> = MessageMap<I> | ((issue: I) => string | undefined);

export interface ValidateOptions {
  /** Texts of your own in place of the developer's messages, which are English. */
  readonly messages?: Messages | undefined;
  /**
   * How many issues are returned at most, a whole number from 1; 1,000 unless set. Where there are more, one of code
   * `more_issues` follows, with the count of the others.
   */
  readonly maxIssues?: number | undefined;
}

/**
 * Every problem of a request, in the order of the contract; none when it is valid.
 *
 * A value is read as `JSON.stringify` would send it: own enumerable members count, `toJSON` is called (so a `Date`
 * is its ISO text), and members that are `undefined` are absent. Functions, symbols and bigints, which JSON cannot
 * carry, are issues. Whatever the value does when it is read, nothing is thrown.
 *
 * @example
 * ```js
 * import { validate } from "impact-pledge/validate";
 *
 * const issues = validate({ reference: "order-1", recipient: { email: "ada@" }, pledges: [] });
 * console.log(issues.map(({ pointer, code }) => `${pointer} ${code}`)); // [ '/recipient/email invalid_email', '/pledges too_few_items' ]
 * ```
 */
export declare function validate(value: unknown, options?: ValidateOptions): Issue[];

/**
 * The problems of the value of one place, with full paths: for a field, as the user types.
 *
 * @param pointer RFC 6901, such as `/pledges/0/impact/amount`; one that the request has not is an issue.
 * @param value `undefined` is absent.
 *
 * @example
 * ```js
 * import { validateAt } from "impact-pledge/validate";
 *
 * const [issue] = validateAt("/recipient/email", "ada@");
 * console.log(issue.code); // invalid_email
 * ```
 */
export declare function validateAt(pointer: string, value: unknown, options?: ValidateOptions): Issue[];

/**
 * The problems of a request that is JSON bytes, duplicate members and malformed JSON included.
 *
 * @example
 * ```js
 * import { validateBytes } from "impact-pledge/validate";
 *
 * const body = new TextEncoder().encode('{ "reference": "order-1", "reference": "order-2" }');
 * console.log(validateBytes(body)[0].code); // duplicate_member
 * ```
 */
export declare function validateBytes(json: Uint8Array, options?: ValidateOptions): Issue[];

/** Compiles the WebAssembly ahead. Never needed: it is compiled on first use. */
export declare function ready(): Promise<void>;

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
      | { readonly input: CreatePledgeTransactionRequest; readonly output: CreatePledgeTransactionRequest }
      | undefined;
    readonly validate: (value: unknown, options?: { readonly libraryOptions?: Record<string, unknown> | undefined } | undefined) =>
      | { readonly value: CreatePledgeTransactionRequest; readonly issues?: undefined }
      | { readonly issues: ReadonlyArray<Issue> };
    readonly jsonSchema: {
      readonly input: (options: JsonSchemaOptions) => Record<string, unknown>;
      readonly output: (options: JsonSchemaOptions) => Record<string, unknown>;
    };
  };
}

/**
 * The request's schema for libraries that speak Standard Schema.
 *
 * @example
 * ```js
 * import { createPledgeTransactionSchema } from "impact-pledge/validate";
 *
 * const { issues } = createPledgeTransactionSchema["~standard"].validate({ reference: "order-1" });
 * console.log(issues.map(({ path }) => path.join("."))); // [ 'recipient', 'pledges' ]
 * ```
 */
export declare const createPledgeTransactionSchema: CreatePledgeTransactionSchema;

/** The same schema with options of its own; the `libraryOptions` of a call come before them. */
export declare function createSchema(options?: ValidateOptions): CreatePledgeTransactionSchema;

// What follows is generated from src/schema.rs: `UPDATE=1 cargo test --test generated` writes it anew.

/** What a shop sends to record the pledges of one transaction. */
export interface CreatePledgeTransactionRequest {
  /** Your unique reference, such as an order ID. */ reference: string;
  /** Who the pledges are for. */ recipient: RecipientRequest;
  /** The pledges, at least one. */ pledges: readonly PledgeRequest[];
  /** The action that caused the pledges. */ trigger?: TriggerRequest | undefined;
  /** The services that alert the recipient, at most three. */ notifications?: readonly NotificationType[] | undefined;
}

/** Who the pledges are for. */
export interface RecipientRequest {
  /** E-mail address (an RFC 5321 mailbox). */ email: string;
  /** First name. */ firstName?: string | undefined;
  /** Full name. */ name?: string | undefined;
}

/** An impact commitment tied to one impact offering. */
export interface PledgeRequest {
  /** What is pledged, and how much. */ impact: ImpactRequest;
  /** What the timeline shows of it. */ detail?: PledgeDetailRequest | undefined;
}

/** A quantity of one impact offering. */
export interface ImpactRequest {
  /** Quantity pledged towards the offering, greater than 0. */ amount: number;
  /** ID of the impact offering. */ offeringId: string;
}

/** Describes a pledge on the timeline. */
export interface PledgeDetailRequest {
  /** Name of the pledge. */ name?: string | undefined;
  /** Description of the pledge. */ description?: string | undefined;
  /** Singular noun for the item category. */ nounSingular?: string | undefined;
  /** Plural noun for the item category. */ nounPlural?: string | undefined;
  /** Image shown on the timeline (a URI with a scheme). */ image?: string | undefined;
  /** Your ID of the item, such as a line-item code. */ externalId?: string | undefined;
  /** Address of the item (a URI with a scheme). */ externalUrl?: string | undefined;
}

/** The action that caused the pledges. */
export interface TriggerRequest {
  /** When the action was triggered (an RFC 3339 date-time). */ date?: string | undefined;
  /** Action phrase, a short verb phrase such as "placed an order". */ phrase?: string | undefined;
  /** Address of the action (a URI with a scheme). */ externalUrl?: string | undefined;
}

/** A service that alerts the recipient. */
export type NotificationType =
  | "Email" | "MessagingServiceA" | "MessagingServiceB" | "MessagingServiceC";

/** What kind of problem an issue is. The list is closed. */
export type IssueCode =
  | "invalid_type" | "required" | "unknown_member" | "duplicate_member" | "too_few_items" | "too_many_items"
  | "not_positive" | "not_finite" | "not_allowed" | "invalid_email" | "invalid_uri" | "invalid_date_time"
  | "lone_surrogate" | "invalid_utf8" | "too_deep" | "malformed_json" | "unreadable" | "unknown_pointer"
  | "more_issues";
