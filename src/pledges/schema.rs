//! Tables that define a create request (§4.1) and the answers (§2, §4.2, §7).
//!
//! Each rule of the request is a row of the table [`REQUEST`]. The check of JSON bytes reads this table.
//! Everything else is generated from it: the check of JavaScript values, the table for forms, the JSON Schema
//! and the request's TypeScript types. A test compares `openapi.yaml` with it.
//!
//! The other tables define the answers, which a client checks. Tests compare these tables with the answers'
//! TypeScript types and with `openapi.yaml`.

use strum::FromRepr;

/// The shape of a JSON object. A request may have only these members; an answer may also have others.
#[derive(Debug)]
pub struct Object {
    /// The members. Issues are reported in this order. An object of a request has at most 7 members.
    pub members: &'static [Member],
}

#[derive(Debug)]
pub struct Member {
    pub name: &'static str,
    /// Whether the member must be present. In an answer, a member that may be absent may also be null.
    pub required: bool,
    pub kind: Kind,
    /// The name by which code that walks the schema receives the value.
    pub slot: Slot,
}

#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Text(Format),
    /// A finite number, strictly greater than 0.
    PositiveNumber,
    Choice(&'static [&'static str]),
    Object(&'static Object),
    Array(&'static Array),
    /// `true` or `false`; in answers only.
    Boolean,
    /// A decimal, as a string or a number; in answers only.
    Decimal,
}

/// An array whose items all have the same kind.
#[derive(Debug)]
pub struct Array {
    pub item: Kind,
    /// The name by which code that walks the schema receives an item.
    pub slot: Slot,
    pub min_items: u32,
    /// The largest allowed number of items; `None` for no limit.
    pub max_items: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, FromRepr)]
#[repr(u8)]
pub enum Format {
    /// Any string, including the empty one.
    Any,
    /// JSON Schema `email`: an RFC 5321 mailbox.
    Email,
    /// JSON Schema `uri`: an RFC 3986 URI with a scheme.
    Uri,
    /// JSON Schema `date-time`: an RFC 3339 date-time.
    DateTime,
}

/// The name of a value in a body. Parents come before their children, and members are in the order of their
/// object. Issues are reported in the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Slot {
    Reference,
    Recipient,
    RecipientEmail,
    RecipientFirstName,
    RecipientName,
    Pledges,
    Pledge,
    Impact,
    ImpactAmount,
    ImpactOfferingId,
    Detail,
    DetailName,
    DetailDescription,
    DetailNounSingular,
    DetailNounPlural,
    DetailImage,
    DetailExternalId,
    DetailExternalUrl,
    Trigger,
    TriggerDate,
    TriggerPhrase,
    TriggerExternalUrl,
    Notifications,
    Notification,
    /// `charge.amount` of an answer.
    ChargeAmount,
    /// The `error` member of an error's body.
    Error,
    /// The `message` member of an error's body.
    Message,
    /// Any other value of an answer. A client checks the value, but does not use it.
    Unread,
}

/// The notification services (§2.6), in the contract's order.
pub const NOTIFICATION_TYPES: &[&str] =
    &["Email", "MessagingServiceA", "MessagingServiceB", "MessagingServiceC"];

const fn required(name: &'static str, kind: Kind, slot: Slot) -> Member {
    Member { name, required: true, kind, slot }
}

const fn optional(name: &'static str, kind: Kind, slot: Slot) -> Member {
    Member { name, required: false, kind, slot }
}

const TEXT: Kind = Kind::Text(Format::Any);
const EMAIL: Kind = Kind::Text(Format::Email);
const URI: Kind = Kind::Text(Format::Uri);
const DATE_TIME: Kind = Kind::Text(Format::DateTime);

/// The body of `POST /v2/pledge-transaction` (§4.1).
pub static REQUEST: Object = Object {
    members: &[
        required("reference", TEXT, Slot::Reference),
        required("recipient", Kind::Object(&RECIPIENT), Slot::Recipient),
        required("pledges", Kind::Array(&PLEDGES), Slot::Pledges),
        optional("trigger", Kind::Object(&TRIGGER), Slot::Trigger),
        optional("notifications", Kind::Array(&NOTIFICATIONS), Slot::Notifications),
    ],
};

/// The kind of a create request's body: a [`REQUEST`].
pub static BODY: Kind = Kind::Object(&REQUEST);

static RECIPIENT: Object = Object {
    members: &[
        required("email", EMAIL, Slot::RecipientEmail),
        optional("firstName", TEXT, Slot::RecipientFirstName),
        optional("name", TEXT, Slot::RecipientName),
    ],
};

static PLEDGES: Array = Array {
    item: Kind::Object(&PLEDGE),
    slot: Slot::Pledge,
    min_items: 1, // §8
    max_items: None,
};

static PLEDGE: Object = Object {
    members: &[
        required("impact", Kind::Object(&IMPACT), Slot::Impact),
        optional("detail", Kind::Object(&DETAIL), Slot::Detail),
    ],
};

static IMPACT: Object = Object {
    members: &[
        required("amount", Kind::PositiveNumber, Slot::ImpactAmount),
        required("offeringId", TEXT, Slot::ImpactOfferingId),
    ],
};

static DETAIL: Object = Object {
    members: &[
        optional("name", TEXT, Slot::DetailName),
        optional("description", TEXT, Slot::DetailDescription),
        optional("nounSingular", TEXT, Slot::DetailNounSingular),
        optional("nounPlural", TEXT, Slot::DetailNounPlural),
        optional("image", URI, Slot::DetailImage),
        optional("externalId", TEXT, Slot::DetailExternalId),
        optional("externalUrl", URI, Slot::DetailExternalUrl),
    ],
};

static TRIGGER: Object = Object {
    members: &[
        optional("date", DATE_TIME, Slot::TriggerDate),
        optional("phrase", TEXT, Slot::TriggerPhrase),
        optional("externalUrl", URI, Slot::TriggerExternalUrl),
    ],
};

static NOTIFICATIONS: Array = Array {
    item: Kind::Choice(NOTIFICATION_TYPES),
    slot: Slot::Notification,
    min_items: 0,
    max_items: Some(3), // §8
};

// ---- Answers. They share tables with the request, but their formats are not checked ------------

/// The currencies of a charge (§2.2).
pub const CURRENCIES: &[&str] = &["USD", "GBP", "EUR"];

const fn given(name: &'static str, kind: Kind) -> Member {
    required(name, kind, Slot::Unread)
}

const fn nullable(name: &'static str, kind: Kind) -> Member {
    optional(name, kind, Slot::Unread)
}

const fn list(item: Kind) -> Array {
    Array { item, slot: Slot::Unread, min_items: 0, max_items: None }
}

/// The answer to a create request (§2.1).
pub static CREATED: Object = Object {
    members: &[
        given("id", TEXT),
        given("reference", TEXT),
        given("createdAt", TEXT),
        given("isLive", Kind::Boolean),
        given("charge", Kind::Object(&CHARGE)),
        given("recipient", Kind::Object(&RECIPIENT)),
        given("trigger", Kind::Object(&TRIGGER)),
        given("pledges", Kind::Array(&CREATED_PLEDGES)),
        given("notifications", Kind::Array(&ANSWERED_NOTIFICATIONS)),
        given("timelineUrl", TEXT),
    ],
};

/// The answer to a get request (§4.2).
pub static RETRIEVED: Object = Object {
    members: &[
        given("createdAt", TEXT),
        given("reference", TEXT),
        given("isLive", Kind::Boolean),
        given("charge", Kind::Object(&CHARGE)),
        given("trigger", Kind::Object(&TRIGGER)),
        given("pledges", Kind::Array(&RETRIEVED_PLEDGES)),
        nullable("notifications", Kind::Array(&ANSWERED_NOTIFICATIONS)),
        nullable("timelineUrl", TEXT),
        // Not in the table of §4.2, but accepted by a client.
        nullable("id", TEXT),
        nullable("recipient", Kind::Object(&RECIPIENT)),
    ],
};

/// An error (§7).
pub static ERROR: Object = Object {
    members: &[
        required("error", TEXT, Slot::Error),
        optional("message", TEXT, Slot::Message),
        nullable("isLive", Kind::Boolean),
    ],
};

static CHARGE: Object = Object {
    members: &[
        required("amount", Kind::Decimal, Slot::ChargeAmount),
        given("currencyCode", Kind::Choice(CURRENCIES)),
        nullable("paidAt", TEXT),
    ],
};

static CREATED_PLEDGES: Array = list(Kind::Object(&CREATED_PLEDGE));

static CREATED_PLEDGE: Object = Object {
    members: &[
        given("id", TEXT),
        given("impact", Kind::Object(&IMPACT)),
        given("detail", Kind::Object(&DETAIL)),
    ],
};

static RETRIEVED_PLEDGES: Array = list(Kind::Object(&RETRIEVED_PLEDGE));

static RETRIEVED_PLEDGE: Object = Object {
    members: &[
        given("id", TEXT),
        given("impact", Kind::Object(&IMPACT)),
        given("details", Kind::Array(&ANSWERED_DETAILS)),
        given("recipient", Kind::Object(&RECIPIENT)),
    ],
};

static ANSWERED_DETAILS: Array = list(Kind::Object(&DETAIL));

static ANSWERED_NOTIFICATIONS: Array = list(Kind::Object(&ANSWERED_NOTIFICATION));

static ANSWERED_NOTIFICATION: Object =
    Object { members: &[given("type", TEXT), given("status", TEXT)] };
