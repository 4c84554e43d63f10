use super::Key;
use super::metadata::NoMetadata;
use std::borrow::Cow;

/// The key `total:{unit}` of a [`PublicTotal`](crate::buyer::total::PublicTotal): what was pledged in all, for a shop that
/// publishes it. It is derived from the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TotalKey<'k>(pub &'k str);

impl Key for TotalKey<'_> {
    type Metadata = NoMetadata;
    const KIND: &'static str = "total";
    const PREFIX: &'static str = "total:";
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0)
    }
}
