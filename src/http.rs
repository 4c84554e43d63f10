//! What HTTP defines, for both sides.

/// The white space around a header's value (RFC 9110 §5.6.3): not Unicode's.
pub const OWS: [char; 2] = [' ', '\t'];
