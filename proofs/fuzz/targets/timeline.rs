//! The recipient's page: whatever a shop sends is text, or an address of http or https.

use super::text;
use impact_pledge::pledge::{
    Amount, Charge, CurrencyCode, Impact, PledgeDetail, Recipient, RetrievedPledge,
    RetrievedPledgeTransaction, Trigger,
};
use impact_pledge::timeline::{Language, Profile, page};
use serde_json::json;
use std::borrow::Cow;

const TAGS: &str = "html head meta title link style body header p strong main h1 bdi ol li time h2 ul div h3 b img a span \
                    footer svg circle path";
const EMPTY: &str = "meta link img";
const ATTRIBUTES: &str = "lang charset name content rel href class viewBox width height aria-hidden cx cy r d role dir src \
                          alt loading decoding datetime";

/// The first 8 bytes are the amount, each line after that is a member. A line of one NUL is null.
pub fn run(input: &[u8]) {
    let (amount, rest) = input.split_at(input.len().min(8));
    let double = amount.try_into().map_or(1.0, |bytes| f64::from_le_bytes(bytes).abs());
    let lines = text(rest);
    let mut lines = lines.split('\n');
    let mut next =
        || Some(Cow::Owned(lines.next()?.to_owned())).filter(|line: &Cow<'_, str>| line != "\0");
    let email = next().unwrap_or_default();
    let recipient = Recipient { email, first_name: next(), name: next() };
    let trigger = Trigger { date: next(), phrase: next(), external_url: next() };
    let (reference, created_at) = (next().unwrap_or_default(), next().unwrap_or_default());
    let mut pledge = || RetrievedPledge {
        id: Cow::Borrowed("p_1"),
        impact: Impact {
            amount: Amount::new(double).unwrap_or(Amount::parse("1").unwrap()),
            offering_id: next().unwrap_or_default(),
        },
        details: vec![PledgeDetail {
            name: next(),
            description: next(),
            noun_singular: next(),
            noun_plural: next(),
            image: next(),
            external_id: next(),
            external_url: next(),
        }],
        recipient: recipient.clone(),
    };
    let pledges = vec![pledge(), pledge()];
    let (currency_code, paid_at) = (CurrencyCode::Eur, None);
    let charge = Charge { amount: Cow::Borrowed("1.00"), currency_code, paid_at };
    let name = next().unwrap_or_default();
    let profile: Option<Profile> = serde_json::from_value(json!({
        "name": name, "logo": next(), "link": next(), "accent": next(),
    }))
    .ok();
    let language = Language::accepted(&next().unwrap_or_default());
    let transaction = RetrievedPledgeTransaction {
        created_at,
        reference,
        is_live: true,
        charge,
        trigger,
        pledges,
        notifications: None,
        timeline_url: None,
    };
    check_page(&page(&transaction, profile.as_ref(), language).html);
}

/// Reads a page tag by tag, as strictly as it is written.
pub fn check_page(html: &str) {
    let mut open = Vec::new();
    let mut rest = html.strip_prefix("<!DOCTYPE html>").unwrap();
    while let Some((text, tag)) = rest.split_once('<') {
        assert!(
            !text.contains('>') || open.last() == Some(&"style"),
            "text with a bracket: {text}"
        );
        let (tag, after) = tag.split_once('>').unwrap();
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None => {
                let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
                assert!(TAGS.split(' ').any(|known| known == name), "<{name}>");
                check_attributes(name, attributes);
                if !EMPTY.split(' ').any(|empty| empty == name) {
                    open.push(name);
                }
            }
        }
        rest = after;
    }
    assert!(open.is_empty() && rest.is_empty(), "{open:?} {rest}");
}

fn check_attributes(tag: &str, mut rest: &str) {
    while !rest.is_empty() {
        let (name, value) = rest.split_once("=\"").unwrap();
        let (value, after) = value.split_once('"').unwrap();
        assert!(ATTRIBUTES.split(' ').any(|known| known == name), "{name}");
        let lower = value.to_ascii_lowercase();
        let is_web = lower.starts_with("https://") || lower.starts_with("http://");
        let is_address = matches!((tag, name), ("a", "href") | ("img", "src"));
        assert!(!is_address || is_web || value.is_empty(), "{value}");
        rest = after.strip_prefix(' ').unwrap_or(after);
        assert!(rest.len() < after.len() || after.is_empty(), "{after}");
    }
}
