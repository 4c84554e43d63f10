// generated from src/pledges/schema.rs: `UPDATE=1 cargo test --test native generated` writes it anew.

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

/** A service that alerts the recipient: `Email`, if the operator has switched e-mails on; the others are recorded only. */
export type NotificationType =
  | "Email" | "MessagingServiceA" | "MessagingServiceB" | "MessagingServiceC";

/** The kind of an issue. The list of codes is closed. */
export type IssueCode =
  | "invalid_type" | "required" | "unknown_member" | "duplicate_member" | "too_few_items" | "too_many_items"
  | "not_positive" | "not_finite" | "not_allowed" | "invalid_email" | "invalid_uri" | "invalid_date_time"
  | "lone_surrogate" | "invalid_utf8" | "too_deep" | "malformed_json" | "unreadable" | "unknown_pointer"
  | "more_issues";
