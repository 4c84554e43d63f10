/* What the service answers; a test compares these types with the tables of `src/schema.rs`. */
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
  /** Total value: a decimal with two places, such as `"12.50"`. More places are rounded half away from zero. */
  amount: string;
  currencyCode: CurrencyCode;
  /** When it was paid (date-time); null until then. */
  paidAt: string | null;
}

/** What a request may leave out is null in an answer. */
type Answered<T> = { [K in keyof T]-?: undefined extends T[K] ? NonNullable<T[K]> | null : T[K] };

/** Who pledges are for. */
export type Recipient = Answered<RecipientRequest>;
/** The action that caused the pledges. */
export type Trigger = Answered<TriggerRequest>;
/** A quantity of one impact offering. */
export type Impact = Answered<ImpactRequest>;
/** What the timeline shows of a pledge; null what was not supplied. */
export type PledgeDetail = Answered<PledgeDetailRequest>;

/** A pledge, as a create answers it. */
export interface Pledge {
  /** Unique ID: `p_…`. */
  id: string;
  impact: Impact;
  detail: PledgeDetail;
}

/** A pledge, as a get answers it. */
export interface RetrievedPledge {
  /** Unique ID: `p_…`. */
  id: string;
  impact: Impact;
  details: PledgeDetail[];
  recipient: Recipient;
}

/** A notification service that was asked for. */
export interface Notification {
  type: NotificationType | (string & {});
  /** `Pending` is the only status that the contract shows. */
  status: "Pending" | (string & {});
}

/** A pledge transaction, as a create answers it. Members that the service adds pass through untyped. */
export interface PledgeTransaction {
  /** Unique ID: `ptran_…`. */
  id: string;
  /** Your reference. */
  reference: string;
  /** Creation time (date-time). */
  createdAt: string;
  /** Whether a live key made it. */
  isLive: boolean;
  charge: Charge;
  recipient: Recipient;
  trigger: Trigger;
  /** One entry per requested pledge. */
  pledges: Pledge[];
  /** One entry per requested notification service. */
  notifications: Notification[];
  /** Address of the timeline: for the recipient alone, never to be made public. */
  timelineUrl: string;
}

/** A pledge transaction, as a get answers it. The optional members are those that a service may leave out. */
export interface RetrievedPledgeTransaction {
  /** Creation time (date-time). */
  createdAt: string;
  /** Your reference. */
  reference: string;
  /** Whether a live key made it. */
  isLive: boolean;
  charge: Charge;
  trigger: Trigger;
  pledges: RetrievedPledge[];
  notifications?: Notification[] | null;
  /** Address of the timeline: for the recipient alone, never to be made public. */
  timelineUrl?: string | null;
  id?: string | null;
  recipient?: Recipient | null;
}
