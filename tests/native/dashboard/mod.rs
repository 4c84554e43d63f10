//! Tests the dashboard without its platform, over a store in memory.

mod access;
mod credit_requests;
mod credits;
mod fields;
mod find;
mod find_sealed;
mod first_day;
mod fulfilment;
mod home;
mod keys;
mod ledger;
mod log;
pub mod members;
mod memory;
mod messages;
mod notes;
mod operator_names;
mod orders;
mod payments;
mod people;
mod person;
pub mod prices;
mod refusals;
mod related;
mod shop_audit;
mod shop_home;
mod shop_search;
mod table;
mod times;
mod transaction;
mod unit;
mod unit_prices;
mod updates;
mod usage;

use futures_executor::block_on;
use impact_pledge::office::dashboard::Dashboard;
use impact_pledge::office::mails::rule::QueuedRounds;
use impact_pledge::office::shared::page::identity::Identity;
use impact_pledge::office::shared::page::settings::{Settings, Variables};
use impact_pledge::office::shared::rule::operation_id::OperationId;
use impact_pledge::office::system::rule::adopt::adopt;
use impact_pledge::pledges::http::InFlight;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::cell::Cell;
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;
use support::service::{
    Answer, CountedEntropy, FixedClock, MemoryQueue, NOW_MS, TestRequest, TestService, answer,
};

pub const OPERATOR: &str = "ada@example.org";
pub const SUPPORT: &str = "grace@example.org";
pub const ACCOUNTS: &str = "joan@example.org";

/// A dashboard and a service on the same records.
pub struct TestDashboard {
    pub service: TestService<MemoryStore>,
    pub clock: FixedClock,
    pub entropy: CountedEntropy,
    pub settings: Settings,
    pub queue: MemoryQueue,
    pub ledger: SqliteLedger,
    pub in_flight: InFlight,
    pub rounds: QueuedRounds,
}

pub fn dashboard(service: TestService<MemoryStore>) -> TestDashboard {
    let settings = Settings::parse(Variables {
        operators: OPERATOR,
        support: SUPPORT,
        accounts: ACCOUNTS,
        ..Variables::default()
    });
    TestDashboard {
        service,
        clock: FixedClock(Cell::new(NOW_MS)),
        entropy: CountedEntropy::default(),
        settings,
        queue: MemoryQueue::default(),
        ledger: SqliteLedger::default(),
        in_flight: InFlight::default(),
        rounds: QueuedRounds::default(),
    }
}

impl TestDashboard {
    pub fn store(&self) -> &MemoryStore {
        &self.service.store
    }

    /// Replaces the payment of a month. `name` is the name of its record.
    pub fn settle(&self, name: &str, settlement: &serde_json::Value) {
        self.store().keep(name, settlement.to_string().as_bytes(), b"null");
        self.ledger.sql(&format!("DELETE FROM published WHERE name = '{name}'"));
        block_on(adopt(self.store(), &self.ledger, NOW_MS)).unwrap();
    }

    /// Returns the dashboard as it handles one request.
    pub fn pages(&self) -> Dashboard<'_, MemoryStore, FixedClock, CountedEntropy> {
        Dashboard {
            store: self.store(),
            clock: &self.clock,
            entropy: &self.entropy,
            settings: &self.settings,
            outbox: Some(&self.queue),
            ledger: &self.ledger,
            in_flight: &self.in_flight,
            rounds: &self.rounds,
        }
    }

    /// Brings the ledger up to date with the records.
    #[track_caller]
    pub fn reconcile(&self) {
        self.ledger.reconcile(self.store(), self.clock.0.get());
    }

    pub fn send(&self, request: &TestRequest, identity: Identity<'_>) -> Answer {
        answer(block_on(self.pages().handle(request, identity)))
    }

    /// Returns a page as this person sees it.
    pub fn get(&self, person: &str, path: &str) -> Answer {
        self.send(&TestRequest::new("GET", path, ""), Identity::Address(person))
    }

    /// Returns the answer to a form that this person sends from a page of the dashboard.
    pub fn post(&self, person: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.send(&posted(path, fields), Identity::Address(person))
    }
}

impl TestDashboard {
    /// Sends a form with a new operation ID, as the forms of pages have one.
    pub fn post_new(&self, person: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
        let id = OperationId::new(&self.clock, &self.entropy);
        self.post(person, path, &[&[("operation", id.as_str())], fields].concat())
    }

    /// Presses the button with this label, in a form without fields that a person fills in.
    #[track_caller]
    pub fn press(&self, person: &str, page: &Answer, label: &str) -> Answer {
        self.send_form(person, form_with(page, &format!(">{label}</button>")))
    }

    /// Presses the button of the page that asks a person to confirm a form, and types the word that the page names.
    #[track_caller]
    pub fn confirm(&self, person: &str, asked: &Answer) -> Answer {
        self.send_form(person, confirmed(asked))
    }

    /// Sends a form that [`filled`] has filled in.
    pub fn send_form(
        &self,
        person: &str,
        (path, fields): (String, Vec<(String, String)>),
    ) -> Answer {
        let fields: Vec<_> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
        self.post(person, &path, &fields)
    }

    /// Sends a form with a new operation ID, and confirms it if the dashboard asks.
    pub fn post_confirmed(&self, person: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
        let answer = self.post_new(person, path, fields);
        if answer.text.contains("name=\"confirmed\"") {
            self.confirm(person, &answer)
        } else {
            answer
        }
    }

    /// Sends the search form, and follows the redirects as a browser does.
    pub fn search(&self, person: &str, fields: &[(&str, &str)]) -> Answer {
        let mut answer = self.post(person, "/find", fields);
        while let Some(address) = answer.headers.get("location") {
            answer = self.get(person, address);
        }
        answer
    }
}

pub fn posted(path: &str, fields: &[(&str, &str)]) -> TestRequest {
    let encoded = |text| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let pairs = fields.iter().map(|(name, value)| [encoded(name), encoded(value)].join("="));
    let body = pairs.collect::<Vec<_>>().join("&").into_bytes();
    TestRequest::new("POST", path, "")
        .with_body(body)
        .with_header("content-type", "application/x-www-form-urlencoded")
        .with_header("sec-fetch-site", "same-origin")
}

/// Returns the path of the form on a page that asks for confirmation, and the form's hidden fields.
#[track_caller]
pub fn confirmation(asked: &Answer) -> (String, Vec<(String, String)>) {
    form_with(asked, "name=\"confirmed\"")
}

/// Returns the form of a page that asks for confirmation, with the word that the page asks to type.
#[track_caller]
pub fn confirmed(asked: &Answer) -> (String, Vec<(String, String)>) {
    let (path, mut fields) = confirmation(asked);
    if let Some((_, rest)) = asked.text.split_once("Type “") {
        fields.push(("typed".to_owned(), rest.split_once('”').unwrap().0.to_owned()));
    }
    (path, fields)
}

/// Returns the path of the first form that contains this text, and the form's hidden fields.
#[track_caller]
pub fn form_with(page: &Answer, text: &str) -> (String, Vec<(String, String)>) {
    let form = form_of(page, text);
    let inputs = form.split("<input type=\"hidden\" ").skip(1);
    let fields = inputs.map(|input| (attribute(input, "name"), attribute(input, "value")));
    (attribute(form, "action"), fields.collect())
}

/// Returns the path of the first form that contains this text, and its fields as a browser sends them after these changes. The
/// value `-` clears a box.
#[track_caller]
pub fn filled(
    page: &Answer,
    text: &str,
    changes: &[(&str, &str)],
) -> (String, Vec<(String, String)>) {
    let form = form_of(page, text);
    let mut fields: Vec<(String, String)> = Vec::new();
    for tag in form.split('<').skip(1) {
        let (head, content) = tag.split_once('>').unwrap();
        match head.split(' ').next().unwrap() {
            "input" if head.contains("checkbox") && !head.ends_with(" checked") => {}
            "input" | "textarea" | "select" => {
                let is_input = head.starts_with("input");
                let value = if is_input { attribute(head, "value") } else { unescaped(content) };
                let value = value.strip_prefix('\n').unwrap_or(&value).to_owned();
                fields.push((attribute(head, "name"), value));
            }
            "option" => {
                let chosen = fields.last_mut().unwrap();
                if chosen.1.is_empty() || head.ends_with(" selected") {
                    chosen.1 = attribute(head, "value");
                }
            }
            _ => {}
        }
    }
    for (name, value) in changes {
        fields.retain(|(own, _)| own != name);
        fields.push(((*name).to_owned(), (*value).to_owned()));
    }
    fields.retain(|(_, value)| value != "-");
    (attribute(form, "action"), fields)
}

#[track_caller]
fn form_of<'p>(page: &'p Answer, text: &str) -> &'p str {
    let forms = page.text.split("<form ").filter_map(|rest| rest.split("</form>").next());
    let form = forms.skip(1).find(|form| form.contains(text));
    form.unwrap_or_else(|| panic!("no form with {text}: {}", page.text))
}

#[track_caller]
fn attribute(tag: &str, name: &str) -> String {
    let value = tag.split_once(&format!("{name}=\"")).expect(name).1;
    unescaped(value.split('"').next().unwrap())
}

fn unescaped(value: &str) -> String {
    value.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// Returns the value of the first field of this name below the page's head, as a browser would send it.
#[track_caller]
pub fn field(html: &str, name: &str) -> String {
    let rest =
        transaction::main_of(html).split_once(&format!("name=\"{name}\"")).map(|(_, rest)| rest);
    let value = rest.and_then(|rest| rest.split_once('>')?.0.split_once("value=\""));
    let (value, _) = value.and_then(|(_, value)| value.split_once('"')).expect(name);
    unescaped(value)
}
