/* The responses of the service. A test compares these types with the tables of `src/schema.rs`. */
import type {
  ImpactRequest,
  NotificationType,
  PledgeDetailRequest,
  RecipientRequest,
  TriggerRequest,
} from "./validate/index.ts";

/** The currencies of a charge (ISO 4217). */
export type CurrencyCode = "USD" | "GBP" | "EUR";

/** The monetary value of a pledge transaction. */
export interface Charge {
  /** The total as a decimal with two places, such as `"12.50"`. The client rounds longer ones half away from zero. */
  amount: string;
  currencyCode: CurrencyCode;
  /** Time of payment (RFC 3339 date-time); null until then. */
  paidAt: string | null;
}

/** Optional members of a request are null in a response if absent. */
type Answered<T> = { [K in keyof T]-?: undefined extends T[K] ? NonNullable<T[K]> | null : T[K] };

/** The person that pledges are made for. */
export type Recipient = Answered<RecipientRequest>;
/** The action that caused the pledges. */
export type Trigger = Answered<TriggerRequest>;
/** A quantity of one impact offering. */
export type Impact = Answered<ImpactRequest>;
/** The description of a pledge on the timeline; members that were not supplied are null. */
export type PledgeDetail = Answered<PledgeDetailRequest>;

/** A pledge in the response to a create. */
export interface Pledge {
  /** Unique ID: `p_…`. */
  id: string;
  impact: Impact;
  detail: PledgeDetail;
}

/** A pledge in the response to a get. */
export interface RetrievedPledge {
  /** Unique ID: `p_…`. */
  id: string;
  impact: Impact;
  details: PledgeDetail[];
  recipient: Recipient;
}

/**
 * A requested notification. For `Email` the service sends the recipient one e-mail, if its operator has switched that on
 * for the unit; the others are recorded only.
 */
export interface Notification {
  type: NotificationType | (string & {});
  /** The contract defines only `Pending`, also once an e-mail was sent. */
  status: "Pending" | (string & {});
}

/** A pledge transaction in the response to a create. Members beyond the contract are kept, but not typed. */
export interface PledgeTransaction {
  /** Unique ID: `ptran_…`. */
  id: string;
  /** Your reference. */
  reference: string;
  /** Time of creation (RFC 3339 date-time). */
  createdAt: string;
  /** Whether it was created with a live key. */
  isLive: boolean;
  charge: Charge;
  recipient: Recipient;
  trigger: Trigger;
  /** One entry per requested pledge. */
  pledges: Pledge[];
  /** One entry per requested notification service. */
  notifications: Notification[];
  /** URL of the timeline. It is a secret of the recipient: never make it public. */
  timelineUrl: string;
}

/** A pledge transaction in the response to a get. A service may leave out the optional members. */
export interface RetrievedPledgeTransaction {
  /** Time of creation (RFC 3339 date-time). */
  createdAt: string;
  /** Your reference. */
  reference: string;
  /** Whether it was created with a live key. */
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
