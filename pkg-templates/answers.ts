/* The responses of the service (§2). A test compares these types with the tables of `src/pledges/schema.rs`. */
import type {
  ImpactRequest,
  NotificationType,
  PledgeDetailRequest,
  RecipientRequest,
  TriggerRequest,
} from "./validate/index.ts";

/** The currencies of a charge (ISO 4217). */
export type CurrencyCode = "USD" | "GBP" | "EUR";

/** The monetary value of a pledge transaction (§2.2). */
export interface Charge {
  /**
   * The total as a decimal with two places, such as `"12.50"`. The client rounds a total with more places,
   * halves away from zero.
   */
  amount: string;
  currencyCode: CurrencyCode;
  /** Time of payment (RFC 3339 date-time); null while unpaid. */
  paidAt: string | null;
}

/**
 * Converts a type of the request to its form in responses. In a response, optional members that were not sent
 * are null.
 */
type Answered<T> = { [K in keyof T]-?: undefined extends T[K] ? NonNullable<T[K]> | null : T[K] };

/** The person for whom the pledges are made (§2.3). */
export type Recipient = Answered<RecipientRequest>;
/** The action that caused the pledges (§2.4). */
export type Trigger = Answered<TriggerRequest>;
/** A quantity of one impact offering (§2.5). */
export type Impact = Answered<ImpactRequest>;
/** The description of a pledge on the timeline (§2.5); members that were not supplied are null. */
export type PledgeDetail = Answered<PledgeDetailRequest>;

/** A pledge in the response to a create request (§2.5). */
export interface Pledge {
  /** Unique ID: `p_…`. */
  id: string;
  impact: Impact;
  detail: PledgeDetail;
}

/** A pledge in the response to a get request (§4.2). */
export interface RetrievedPledge {
  /** Unique ID: `p_…`. */
  id: string;
  impact: Impact;
  details: PledgeDetail[];
  recipient: Recipient;
}

/**
 * A requested notification (§2.6). For `Email`, the service sends one e-mail, if its operator has enabled
 * e-mails for the unit. For any other type, it sends one message, if the operator has attached a messenger of
 * that type.
 */
export interface Notification {
  type: NotificationType | (string & {});
  /** Always `Pending`, even after an e-mail was sent: the contract defines no other status. */
  status: "Pending" | (string & {});
}

/**
 * A pledge transaction in the response to a create request (§2.1). The object keeps members that the contract
 * does not list, but this type omits them.
 */
export interface PledgeTransaction {
  /** Unique ID: `ptran_…`. */
  id: string;
  /** Your reference, such as the order number. */
  reference: string;
  /** Time of creation (RFC 3339 date-time). */
  createdAt: string;
  /** Whether the transaction was created with a live key. */
  isLive: boolean;
  charge: Charge;
  recipient: Recipient;
  trigger: Trigger;
  /** One entry per requested pledge. */
  pledges: Pledge[];
  /** One entry per requested notification service. */
  notifications: Notification[];
  /** URL of the timeline, for the recipient only: anyone who has it can open the page. Never make it public. */
  timelineUrl: string;
}

/** A pledge transaction in the response to a get request (§4.2). A service may leave out the optional members. */
export interface RetrievedPledgeTransaction {
  /** Time of creation (RFC 3339 date-time). */
  createdAt: string;
  /** Your reference. */
  reference: string;
  /** Whether the transaction was created with a live key. */
  isLive: boolean;
  charge: Charge;
  trigger: Trigger;
  pledges: RetrievedPledge[];
  notifications?: Notification[] | null;
  /** URL of the timeline. It is a secret of the recipient: never make it public. */
  timelineUrl?: string | null;
  id?: string | null;
  recipient?: Recipient | null;
}
