//! The heading of a page, and the text that its recipient may share.

use super::language::{Language, Plural};
use super::profile::Profile;
use super::quantity::WordedQuantity;
use super::text::{brief, shown};
use super::words::{Sentence, part, pieces};
use crate::pledges::types::RetrievedPledgeTransaction;
use maud::{Markup, html};
use std::borrow::Cow;

/// A sentence with the values of its placeholders.
pub(super) struct Statement<'s> {
    sentence: &'static str,
    values: Vec<(&'static str, Cow<'s, str>)>,
}

impl Statement<'_> {
    pub fn text(&self) -> String {
        pieces(self.sentence, &self.values).map(|(_, piece)| piece).collect()
    }

    /// Renders the sentence. Each value gets its own text direction.
    pub fn markup(&self) -> Markup {
        html! {
            @for (is_value, piece) in pieces(self.sentence, &self.values) {
                @if is_value { bdi { (piece) } } @else { (piece) }
            }
        }
    }
}

/// Returns the heading. With a profile, the heading says what the shop did: `Nordwald pledged 12 trees for
/// Mara`. `totals` are the sums of the pledges.
pub(super) fn heading<'h>(
    language: Language,
    transaction: &'h RetrievedPledgeTransaction<'_>,
    profile: Option<&'h Profile>,
    totals: &[WordedQuantity<'_>],
) -> Statement<'h> {
    let name = recipient_name(transaction);
    let Some(profile) = profile else {
        return match name {
            Some(name) => Statement {
                sentence: language.text(Sentence::PledgedFor),
                values: vec![("", Cow::Borrowed(name))],
            },
            None => Statement { sentence: language.text(Sentence::PledgedForYou), values: vec![] },
        };
    };
    let count = transaction.pledges.len();
    let quantity = match totals {
        [only] => only.brief(language),
        _ => None,
    };
    let pair = match (&quantity, count) {
        (Some(_), _) => 0,
        (None, 1) => 1,
        _ if language.plural(count as f64) == Plural::Few => 3,
        _ => 2,
    };
    let form = 2 * pair + usize::from(name.is_some());
    Statement {
        sentence: part(language.text(Sentence::ShopPledged), form),
        values: vec![
            ("shop", Cow::Borrowed(&*profile.name)),
            ("quantity", Cow::Owned(quantity.unwrap_or_default())),
            ("count", Cow::Owned(language.decimal(&count.to_string()))),
            ("name", Cow::Borrowed(name.unwrap_or_default())),
        ],
    }
}

/// Renders the text to share. It does not contain the link to the page, because anyone who has the link can
/// open the page. Returns `None` without a profile, or if no quantity can be put into words.
pub(super) fn share(
    language: Language,
    profile: Option<&Profile>,
    totals: &[WordedQuantity<'_>],
) -> Option<Markup> {
    let shop = brief(&profile?.name)?;
    let quantities: Vec<_> = totals.iter().filter_map(|total| total.brief(language)).collect();
    let words = language.text(Sentence::Share);
    let values = vec![
        ("shop", Cow::Owned(shop)),
        ("quantity", Cow::Owned(quantities.join(language.comma()))),
    ];
    let text = Statement { sentence: part(words, 2), values }.text();
    (!quantities.is_empty()).then(|| {
        html! {
            details.share {
                summary { (part(words, 0)) }
                p { (part(words, 1)) }
                textarea rows="3" readonly="" dir="auto" aria-label=(part(words, 0)) { (text) }
            }
        }
    })
}

/// Returns the recipient's first name, or else the full name. Ignores a name that contains the recipient's
/// e-mail address.
pub(super) fn recipient_name<'t>(
    transaction: &'t RetrievedPledgeTransaction<'_>,
) -> Option<&'t str> {
    let recipient = &transaction.pledges.first()?.recipient;
    let email = recipient.email.to_ascii_lowercase();
    [&recipient.first_name, &recipient.name]
        .into_iter()
        .filter_map(shown)
        .find(|name| email.is_empty() || !name.to_ascii_lowercase().contains(&email))
}
