//! Tests the members of a profile that appear on statements only: their limits, and that buyers never see
//! them.

use impact_pledge::buyer::recipient;
use impact_pledge::buyer::recipient::{Language, NewProfile, Profile};
use impact_pledge::pledges::types::RetrievedPledgeTransaction;
use serde_json::{Value, json};
use support::service::Zones;

const SHOWN_BY_STATEMENTS: [&str; 3] = ["Canary GmbH", "Canary Street 1", "Canary VAT"];

fn profile() -> NewProfile {
    let [name, address, tax] = SHOWN_BY_STATEMENTS.map(|text| Some(text.to_owned()));
    NewProfile {
        name: "Nordwald".to_owned(),
        mail: true,
        billing_name: name,
        billing_address: address,
        tax_text: tax,
        ..NewProfile::default()
    }
}

/// Returns the transaction that the dashboard's previews show.
fn example() -> Value {
    serde_json::from_str(include_str!("../../src/office/shops/page/profile/example.json")).unwrap()
}

#[test]
fn buyers_never_see_the_members_for_statements() {
    let profile = Profile::checked(profile(), &Zones).unwrap();
    let record = example().to_string();
    let record: RetrievedPledgeTransaction<'_> = serde_json::from_str(&record).unwrap();
    let page = recipient::page(&record, Some(&profile), &[], Language::En, &Zones, None).html;
    let mail = recipient::mail(&record, Some(&profile), &Zones).unwrap();
    let stored = json!(profile).to_string();
    for text in [&page, &mail.html, &mail.text, &mail.subject] {
        assert!(text.contains("Nordwald") && !text.contains("Canary"), "{text}");
    }
    for member in SHOWN_BY_STATEMENTS {
        assert!(stored.contains(member), "{stored}");
    }
}

/// Selects a member of a profile.
type Member = fn(&mut NewProfile) -> &mut Option<String>;

#[test]
fn an_invalid_text_for_e_mails_or_statements_is_refused_by_its_name() {
    let long = "x".repeat(301);
    let rows: [(&str, Member, [&str; 4]); 4] = [
        (
            "mail-text",
            |it| &mut it.mail_text,
            ["a\n \nb", "1\n2\n3\n4\n5\n6\n7", "a\u{2066}b", &long],
        ),
        ("billing-name", |it| &mut it.billing_name, ["", "a\nb", "\u{202e}", &long]),
        ("billing-address", |it| &mut it.billing_address, ["", "a\n\nb", "a\r\nb", &long]),
        ("tax-text", |it| &mut it.tax_text, ["\n", "1\n2\n3\n4\n5\n6\n7", "a\tb", &long]),
    ];
    for (name, member, texts) in rows {
        for text in texts {
            let mut wrong = profile();
            *member(&mut wrong) = Some(text.to_owned());
            let problem = Profile::checked(wrong, &Zones).unwrap_err();
            assert_eq!(problem.name, name, "{text:?}: {problem}");
        }
    }
}
