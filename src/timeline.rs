//! The recipient's page.

use crate::pledge::RetrievedPledgeTransaction;

/// No script at all, style from the page's own hash, images from anywhere over https.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'";

/// The page of a transaction.
pub fn page(_transaction: &RetrievedPledgeTransaction<'_>) -> String {
    String::new()
}

/// The page for an address that opens nothing.
pub fn not_found_page() -> String {
    String::new()
}

/// The page for when the store does not answer.
pub fn unavailable_page() -> String {
    String::new()
}
