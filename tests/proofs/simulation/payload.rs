//! Generates the payloads of the simulated callers, and the records that the service must make of them.

use crate::random::Random;
use impact_pledge::pledges::types::NotificationService;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use support::money;

/// Amounts. Each is written in two ways that stand for the same double.
const AMOUNTS: &[[&str; 2]] = &[
    ["1", "1.0"],
    ["3", "3e0"],
    ["0.1", "1e-1"],
    ["2.675", "2.6750"],
    ["0.005", "5e-3"],
    ["0.30000000000000004", "0.300000000000000040"],
    ["123456789012", "1.23456789012e11"],
    ["1000000000000000000000", "1e21"],
];
const OFFERINGS: &[&str] = &["tree", "plastic-kg", "not-listed"];
/// Of 1,000 pledges, the number with an offering ID that contains the order's reference. Such an ID is
/// lengthened by a number of bytes from `PERSONAL_BYTES`. A long ID does not fit into a record's metadata.
const PERSONAL: u64 = 100;
const PERSONAL_BYTES: &[usize] = &[0, 1_000];
/// The messaging service that has an adapter.
pub const MESSENGER: NotificationService = NotificationService::MessagingServiceA;
/// The prefix of every order's reference.
pub const REFERENCE: &str = "order-";
const PRICES: &[&str] = &["0.50", "1.25", "0.333", "2.005", "0", "99999999.99"];

/// The currency of price lists for a whole mode. Price lists for one unit use `UNIT_CURRENCY`.
pub const CURRENCY: &str = "EUR";
pub const UNIT_CURRENCY: &str = "USD";

/// A price list of the operator: the unit price of each offering.
pub type Prices = BTreeMap<&'static str, &'static str>;

pub fn draw_prices(random: &Random) -> Prices {
    OFFERINGS.iter().take(2).map(|offering| (*offering, random.pick(PRICES))).collect()
}

pub fn price_list(prices: &Prices, currency: &str) -> Vec<u8> {
    json!({ "currencyCode": currency, "unitPrices": prices }).to_string().into_bytes()
}

#[derive(Clone, Debug)]
pub struct Payload {
    reference: String,
    pub email: String,
    /// The pledges. Each is the index of its amount in `AMOUNTS`, and its offering.
    pledges: Vec<(usize, String)>,
    is_full: bool,
    pub asks_for_mail: bool,
    /// Whether the create request asks for a message by [`MESSENGER`].
    pub asks_for_message: bool,
    phrase: String,
}

impl Payload {
    /// Returns a payload of a buyer. Its JSON is slightly longer than `bytes`.
    pub fn draw(random: &Random, (number, buyer): (usize, usize), bytes: usize) -> Self {
        let reference = format!("{REFERENCE}{number}");
        let offering = || match random.chance(PERSONAL) {
            true => format!("{reference} {}", "x".repeat(random.pick(PERSONAL_BYTES))),
            false => random.pick(OFFERINGS).to_owned(),
        };
        let pledge = |_| (random.index(AMOUNTS.len()), offering());
        let pledges = (0..1 + random.below(3)).map(pledge).collect();
        Payload {
            reference,
            email: format!("buyer-{buyer}@example.org"),
            pledges,
            is_full: bytes > 0 || random.chance(500),
            asks_for_mail: bytes == 0 && random.chance(750),
            asks_for_message: bytes == 0 && random.chance(500),
            phrase: format!("placed an order{}", "x".repeat(bytes)),
        }
    }

    /// Returns the JSON of the request body in one of two spellings. The spellings differ in the order of
    /// members, in white space, and in how numbers are written.
    pub fn body(&self, spelling: usize) -> Vec<u8> {
        let pledge = |(amount, offering): &(usize, String)| {
            let amount = AMOUNTS[*amount][spelling];
            let detail = if self.is_full { r#","detail":{"name":"Trees"}"# } else { "" };
            format!(r#"{{"impact":{{"offeringId":"{offering}","amount":{amount}}}{detail}}}"#)
        };
        let pledges: Vec<String> = self.pledges.iter().map(pledge).collect();
        let name = if self.is_full { r#","firstName":"Ada""# } else { "" };
        let mut members = vec![
            format!(r#""reference":"{}""#, self.reference),
            format!(r#""recipient":{{"email":"{}"{name}}}"#, self.email),
            format!(r#""pledges":[{}]"#, pledges.join(",")),
        ];
        let services: Vec<_> = self.services().map(|name| format!("\"{name}\"")).collect();
        members.extend(
            (!services.is_empty()).then(|| format!(r#""notifications":[{}]"#, services.join(","))),
        );
        if self.is_full {
            members.push(format!(r#""trigger":{{"phrase":"{}"}}"#, self.phrase));
        }
        if spelling == 1 {
            members.reverse();
        }
        format!("{{{}}}", members.join(if spelling == 1 { " ,\n" } else { "," })).into_bytes()
    }

    /// Returns the part of a create request's answer that follows from the payload alone.
    pub fn expected(&self) -> Value {
        let (first_name, name) = (self.is_full.then_some("Ada"), self.is_full.then_some("Trees"));
        let phrase = self.is_full.then_some(&self.phrase);
        let pending = |service| json!({ "type": service, "status": "Pending" });
        let notifications: Vec<_> = self.services().map(pending).collect();
        let pledge = |(amount, offering): &(usize, String)| {
            json!({
                "impact": { "amount": double(*amount), "offeringId": offering },
                "detail": {
                    "name": name, "description": null, "nounSingular": null, "nounPlural": null,
                    "image": null, "externalId": null, "externalUrl": null,
                },
            })
        };
        json!({
            "reference": self.reference,
            "recipient": { "email": self.email, "firstName": first_name, "name": null },
            "trigger": { "date": null, "phrase": phrase, "externalUrl": null },
            "pledges": self.pledges.iter().map(pledge).collect::<Vec<_>>(),
            "notifications": notifications,
        })
    }

    /// Returns the names of the services by which the create request asks for notifications.
    pub fn services(&self) -> impl Iterator<Item = &'static str> {
        let mail = self.asks_for_mail.then_some("Email");
        mail.into_iter().chain(self.asks_for_message.then_some(MESSENGER.name()))
    }

    /// Returns the charge at these prices.
    pub fn charge(&self, prices: &Prices) -> String {
        let priced = self.pledges.iter().filter_map(|(amount, offering)| {
            Some((double(*amount), (*prices.get(&**offering)?).to_owned()))
        });
        money::oracle(&priced.collect::<Vec<_>>())
    }
}

fn double(amount: usize) -> f64 {
    AMOUNTS[amount][0].parse().unwrap()
}

/// Converts the answer of a create request to the answer of a later get.
pub fn retrieved(created: &Value) -> Value {
    let mut retrieved = created.clone();
    let members = retrieved.as_object_mut().unwrap();
    let recipient = members.remove("recipient");
    members.remove("id");
    for pledge in members["pledges"].as_array_mut().unwrap() {
        let pledge = pledge.as_object_mut().unwrap();
        let detail = pledge.remove("detail");
        pledge.insert("details".to_owned(), json!([detail]));
        pledge.insert("recipient".to_owned(), json!(recipient));
    }
    retrieved
}
