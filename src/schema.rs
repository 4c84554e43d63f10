//! The shape of a create request (§4.1), written once.
//!
//! Everything that must agree about the request is driven by [`REQUEST`] or generated from it:
//! the check of JSON bytes, the check of JavaScript values, the JSON Schema, `openapi.yaml`, the
//! TypeScript request type and the JavaScript encoder. A rule changes in one row.

/// A JSON object with a closed set of members: any other member is refused.
#[derive(Debug)]
pub struct Object {
    /// Name of the type in JSON Schema, OpenAPI and TypeScript.
    pub name: &'static str,
    /// One sentence for the reader of the generated types.
    pub doc: &'static str,
    /// The members, in the order in which problems are reported. At most 32.
    pub members: &'static [Member],
}

/// One member of an [`Object`].
#[derive(Debug)]
pub struct Member {
    /// The member's JSON name.
    pub name: &'static str,
    /// Whether its absence is a problem.
    pub required: bool,
    /// What its value must be.
    pub kind: Kind,
    /// Where an accepted value goes.
    pub slot: Slot,
    /// One sentence for the reader of the generated types.
    pub doc: &'static str,
}

/// What a value must be.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A string, in a format.
    Text(Format),
    /// A finite number, strictly greater than 0.
    PositiveNumber,
    /// One of these strings.
    Choice(&'static [&'static str]),
    /// An object of this shape.
    Object(&'static Object),
    /// An array.
    Array(&'static Array),
}

/// An array whose items are all of one kind.
#[derive(Debug)]
pub struct Array {
    /// What each item must be.
    pub item: Kind,
    /// Fewest items allowed.
    pub min_items: u32,
    /// Most items allowed; `None` is no limit.
    pub max_items: Option<u32>,
}

/// The format of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Any string, the empty one included.
    Any,
    /// JSON Schema `email`: an RFC 5321 mailbox.
    Email,
    /// JSON Schema `uri`: an RFC 3986 URI with a scheme.
    Uri,
    /// JSON Schema `date-time`: an RFC 3339 date-time.
    DateTime,
}

/// Where an accepted value goes: names each leaf and each repeated object of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each slot is the member of the same name")]
pub enum Slot {
    Reference,
    Recipient,
    RecipientEmail,
    RecipientFirstName,
    RecipientName,
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
    Notification,
}

/// Fewest pledges in a request (§8).
pub const MIN_PLEDGES: u32 = 1;
/// Most notification services in a request (§8).
pub const MAX_NOTIFICATIONS: u32 = 3;

/// The notification services (§2.6), in the contract's order.
pub const NOTIFICATION_TYPES: &[&str] =
    &["Email", "MessagingServiceA", "MessagingServiceB", "MessagingServiceC"];

const fn required(name: &'static str, kind: Kind, slot: Slot, doc: &'static str) -> Member {
    Member { name, required: true, kind, slot, doc }
}

const fn optional(name: &'static str, kind: Kind, slot: Slot, doc: &'static str) -> Member {
    Member { name, required: false, kind, slot, doc }
}

const TEXT: Kind = Kind::Text(Format::Any);
const URI: Kind = Kind::Text(Format::Uri);

/// The body of `POST /v2/pledge-transaction` (§4.1).
pub static REQUEST: Object = Object {
    name: "CreatePledgeTransactionRequest",
    doc: "What a shop sends to record the pledges of one transaction.",
    members: &[
        required("reference", TEXT, Slot::Reference, "Your unique reference, such as an order ID."),
        required(
            "recipient",
            Kind::Object(&RECIPIENT),
            Slot::Recipient,
            "Who the pledges are for.",
        ),
        required("pledges", Kind::Array(&PLEDGES), Slot::Pledge, "The pledges, at least one."),
        optional(
            "trigger",
            Kind::Object(&TRIGGER),
            Slot::Trigger,
            "The action that caused the pledges.",
        ),
        optional(
            "notifications",
            Kind::Array(&NOTIFICATIONS),
            Slot::Notification,
            "The services that alert the recipient, at most three.",
        ),
    ],
};

static RECIPIENT: Object = Object {
    name: "RecipientRequest",
    doc: "Who the pledges are for.",
    members: &[
        required("email", Kind::Text(Format::Email), Slot::RecipientEmail, "E-mail address."),
        optional("firstName", TEXT, Slot::RecipientFirstName, "First name."),
        optional("name", TEXT, Slot::RecipientName, "Full name."),
    ],
};

static PLEDGES: Array =
    Array { item: Kind::Object(&PLEDGE), min_items: MIN_PLEDGES, max_items: None };

static PLEDGE: Object = Object {
    name: "PledgeRequest",
    doc: "An impact commitment tied to one impact offering.",
    members: &[
        required("impact", Kind::Object(&IMPACT), Slot::Impact, "What is pledged, and how much."),
        optional("detail", Kind::Object(&DETAIL), Slot::Detail, "What the timeline shows of it."),
    ],
};

static IMPACT: Object = Object {
    name: "ImpactRequest",
    doc: "A quantity of one impact offering.",
    members: &[
        required(
            "amount",
            Kind::PositiveNumber,
            Slot::ImpactAmount,
            "Quantity pledged towards the offering, greater than 0.",
        ),
        required("offeringId", TEXT, Slot::ImpactOfferingId, "ID of the impact offering."),
    ],
};

static DETAIL: Object = Object {
    name: "PledgeDetailRequest",
    doc: "Describes a pledge on the timeline.",
    members: &[
        optional("name", TEXT, Slot::DetailName, "Name of the pledge."),
        optional("description", TEXT, Slot::DetailDescription, "Description of the pledge."),
        optional(
            "nounSingular",
            TEXT,
            Slot::DetailNounSingular,
            "Singular noun for the item category.",
        ),
        optional("nounPlural", TEXT, Slot::DetailNounPlural, "Plural noun for the item category."),
        optional("image", URI, Slot::DetailImage, "Image shown on the timeline."),
        optional(
            "externalId",
            TEXT,
            Slot::DetailExternalId,
            "Your ID of the item, such as a line-item code.",
        ),
        optional("externalUrl", URI, Slot::DetailExternalUrl, "Address of the item."),
    ],
};

static TRIGGER: Object = Object {
    name: "TriggerRequest",
    doc: "The action that caused the pledges.",
    members: &[
        optional(
            "date",
            Kind::Text(Format::DateTime),
            Slot::TriggerDate,
            "When the action was triggered.",
        ),
        optional(
            "phrase",
            TEXT,
            Slot::TriggerPhrase,
            "Action phrase, a short verb phrase such as \"placed an order\".",
        ),
        optional("externalUrl", URI, Slot::TriggerExternalUrl, "Address of the action."),
    ],
};

static NOTIFICATIONS: Array = Array {
    item: Kind::Choice(NOTIFICATION_TYPES),
    min_items: 0,
    max_items: Some(MAX_NOTIFICATIONS),
};
