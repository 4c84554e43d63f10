//! The sentences of the audit log, by command.

/// The groups of commands that the audit log records, each with the noun for what its commands change.
pub const GROUPS: [(&str, &str); 15] = [
    ("keys", "API keys"),
    ("prices", "Prices"),
    ("units", "Units"),
    ("teams", "Teams"),
    ("people", "People of shops"),
    ("connections", "Shop systems"),
    ("transactions", "Transactions"),
    ("payments", "Payments"),
    ("credits", "Credits"),
    ("fulfilments", "Fulfilment"),
    ("updates", "Updates"),
    ("emails", "E-mails"),
    ("notices", "E-mails to people of the dashboard"),
    ("ledger", "Ledger"),
    ("tasks", "Tasks"),
];

/// The sentence of each command, without its author. Words in braces are placeholders for the IDs of an
/// entry. The number in a placeholder is the index of an ID or text:
///
/// - `{key 0}`: the first ID
/// - `{units 1}`: all IDs from the second one on
/// - `{text 1}`: a colon, and the texts from the second one on
/// - `{of}`: the unit or team that the change concerns
pub(super) const SENTENCES: &[(&str, &str)] = &[
    ("keys create", "created the key {key 0}{of}"),
    ("keys rotate", "replaced the key {key 0} with the key {key 1}{of}"),
    ("keys revoke", "revoked the key {key 0}{of}"),
    ("prices set", "changed the {prices 0}"),
    ("prices change", "changed the {prices 0}"),
    ("prices remove", "removed the {prices 0}"),
    ("units add", "created {units 0}"),
    ("units set", "changed the profile of {units 0}"),
    ("units unset", "removed fields from the profile of {units 0}"),
    ("units remove", "removed {units 0}"),
    ("teams add", "added {units 1} to {team 0}"),
    ("teams remove", "removed {units 1} from {team 0}"),
    ("people add", "added a person{of}{text 0}"),
    ("people remove", "removed a person{of}{text 0}"),
    ("transactions erase", "erased the personal data of {transactions 0}"),
    ("transactions note", "wrote a note on {transaction 0}"),
    ("transactions note-done", "ended the hand-over of {transaction 0}"),
    ("transactions reveal", "viewed the unmasked data of {transactions 0}"),
    ("payments mark", "marked {month 0} as paid{text 1}"),
    ("payments undo", "marked {month 0} as unpaid again{text 1}"),
    ("credits add", "credited {transaction 0}{text 1}"),
    ("credits confirm", "credited {transaction 0}{text 1}"),
    ("credits request", "requested a credit of {transaction 0}{text 1}"),
    ("credits refuse", "refused the requested credit of {transaction 0}{text 1}"),
    ("credits limit", "changed the limit of credits{of}{text 0}"),
    ("fulfilments add", "recorded a fulfilment{text 1}"),
    ("fulfilments remove", "removed a fulfilment{text 1}"),
    ("updates add", "drafted an update{text 1}"),
    ("updates edit", "edited an update{text 1}"),
    ("updates publish", "published an update{text 1}"),
    ("updates withdraw", "withdrew an update{text 1}"),
    ("connections add", "connected a shop system{text 1}"),
    ("connections set", "changed a connection{text 1}"),
    ("connections end", "ended a connection"),
    ("connections retry", "had a delivery read again"),
    ("connections fetch", "had orders fetched again"),
    ("notices set", "changed which e-mails a person gets{text 0}"),
    ("tasks accept", "accepted tasks of the home page{text 0}"),
    ("tasks reopen", "reopened an accepted task of the home page{text 0}"),
    ("emails dismiss", "dismissed the failed e-mails or messages of {transactions 0}"),
    ("emails resend", "sent the e-mail of {transactions 0} again"),
    (
        "emails resend (MessagingServiceA)",
        "sent the MessagingServiceA message of {transactions 0} again",
    ),
    (
        "emails resend (MessagingServiceB)",
        "sent the MessagingServiceB message of {transactions 0} again",
    ),
    (
        "emails resend (MessagingServiceC)",
        "sent the MessagingServiceC message of {transactions 0} again",
    ),
];

/// The sentences of the commands about the ledger. Their entries have texts instead of IDs.
pub(super) const OF_LEDGER: [(&str, &str); 3] = [
    (
        "ledger accept-loss",
        "accepted that the ledger has lost people, credits, fulfilments or updates",
    ),
    ("ledger keep-from", "changed the first month that the ledger keeps{text 0}"),
    ("ledger rebuild", "started a rebuild of the ledger"),
];
