//! The complete list of issue codes.

use strum::{EnumMessage, IntoStaticStr, VariantArray};

/// The kind of an [`Issue`](crate::pledges::validate::Issue). In JavaScript it is a string such as `invalid_type`.
///
/// There are no other codes, so a translation can cover all of them. Most messages are defined here. `Issue`
/// writes the messages that name a limit, a type or the allowed strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumMessage, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
#[repr(u8)]
pub enum Code {
    /// The value has the wrong JSON type, or is `null`.
    InvalidType,
    /// A required member is absent. In JavaScript also: an item or the whole value is `undefined`.
    #[strum(message = "is required")]
    Required,
    /// The member is not in the contract.
    #[strum(message = "is not a member of the contract")]
    UnknownMember,
    /// The member appears twice in one object.
    #[strum(message = "must appear only once in its object")]
    DuplicateMember,
    /// The array has fewer items than it must have.
    TooFewItems,
    /// The array has more items than it may have.
    TooManyItems,
    /// The number is 0 or less.
    #[strum(message = "must be greater than 0")]
    NotPositive,
    /// The number is `NaN`, infinite, or beyond the range of an IEEE 754 double.
    #[strum(message = "must be a finite number, at most about 1.8e308")]
    NotFinite,
    /// The string is not one of those allowed.
    NotAllowed,
    /// The string is not an RFC 5321 mailbox.
    #[strum(message = "must be an e-mail address such as `ada@example.org`")]
    InvalidEmail,
    /// The string is not an RFC 3986 URI with a scheme.
    #[strum(message = "must be a URI with a scheme such as `https://example.org/`")]
    InvalidUri,
    /// The string is not an RFC 3339 date-time.
    #[strum(message = "must be an RFC 3339 date-time such as `2026-01-31T12:00:00Z`")]
    InvalidDateTime,
    /// The string holds half of a UTF-16 surrogate pair.
    #[strum(message = "must be Unicode text, without half of a surrogate pair")]
    LoneSurrogate,
    /// The bytes of the string are not UTF-8.
    #[strum(message = "must be UTF-8")]
    InvalidUtf8,
    /// The value nests deeper than [`MAX_DEPTH`](crate::pledges::validate::MAX_DEPTH).
    #[strum(message = "must not nest deeper than 64 levels")]
    TooDeep,
    /// The bytes are not JSON.
    MalformedJson,
    /// The JavaScript value could not be read, for example because a getter threw an error.
    #[strum(message = "could not be read")]
    Unreadable,
    /// The pointer does not point to a member of the request.
    #[strum(message = "is not a place in the request")]
    UnknownPointer,
    /// There are more issues than are listed. Only the package uses this code. Its message ends with the number
    /// of further issues. The service instead mentions further issues in its own error message.
    #[strum(message = "has more problems than these: another ")]
    MoreIssues,
}
