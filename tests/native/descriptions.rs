//! Describes the request's values, for the generated files.

use impact_pledge::pledges::schema::Slot;

/// Returns the name and the description of an object's type in the request. `None` stands for the request
/// itself.
pub const fn object_type(slot: Option<Slot>) -> Option<(&'static str, &'static str)> {
    Some(match slot {
        None => (
            "CreatePledgeTransactionRequest",
            "What a shop sends to record the pledges of one transaction.",
        ),
        Some(Slot::Recipient) => ("RecipientRequest", "Who the pledges are for."),
        Some(Slot::Pledge) => {
            ("PledgeRequest", "An impact commitment tied to one impact offering.")
        }
        Some(Slot::Impact) => ("ImpactRequest", "A quantity of one impact offering."),
        Some(Slot::Detail) => ("PledgeDetailRequest", "Describes a pledge on the timeline."),
        Some(Slot::Trigger) => ("TriggerRequest", "The action that caused the pledges."),
        Some(_) => return None,
    })
}

/// Returns a sentence that describes the value.
pub const fn slot_doc(slot: Slot) -> &'static str {
    match slot {
        Slot::Reference => "Your unique reference, such as an order ID.",
        Slot::Recipient => "Who the pledges are for.",
        Slot::RecipientEmail => "E-mail address.",
        Slot::RecipientFirstName => "First name.",
        Slot::RecipientName => "Full name.",
        Slot::Pledges => "The pledges, at least one.",
        Slot::Pledge => "An impact commitment tied to one impact offering.",
        Slot::Impact => "What is pledged, and how much.",
        Slot::ImpactAmount => "Quantity pledged towards the offering, greater than 0.",
        Slot::ImpactOfferingId => "ID of the impact offering.",
        Slot::Detail => "What the timeline shows of it.",
        Slot::DetailName => "Name of the pledge.",
        Slot::DetailDescription => "Description of the pledge.",
        Slot::DetailNounSingular => "Singular noun for the item category.",
        Slot::DetailNounPlural => "Plural noun for the item category.",
        Slot::DetailImage => "Image shown on the timeline.",
        Slot::DetailExternalId => "Your ID of the item, such as a line-item code.",
        Slot::DetailExternalUrl => "Address of the item.",
        Slot::Trigger => "The action that caused the pledges.",
        Slot::TriggerDate => "When the action was triggered.",
        Slot::TriggerPhrase => "Action phrase, a short verb phrase such as \"placed an order\".",
        Slot::TriggerExternalUrl => "Address of the action.",
        Slot::Notifications => "The services that alert the recipient, at most three.",
        Slot::Notification => "A service that alerts the recipient.",
        Slot::ChargeAmount | Slot::Error | Slot::Message | Slot::Unread => "",
    }
}
