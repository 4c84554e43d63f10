//! Tests that a change is made only once, although its request is sent several times with one operation ID. Any
//! step may fail.

mod command;
mod failures;
mod outcomes;
mod twice;

use crate::faulty_changes::{Fault, Faulty, Person, RECORDS};
use command::Command;
use futures_executor::block_on;
use futures_util::future::FutureExt as _;
use impact_pledge::office::audit::rule as audit;
use impact_pledge::office::audit::rule::Author;
use impact_pledge::office::connections::rule as connections;
use impact_pledge::office::connections::rule::{ConnectionChange, NewConnection};
use impact_pledge::office::credit_requests::rule as credit_requests;
use impact_pledge::office::credits::rule as credits;
use impact_pledge::office::credits::rule::CreditRequest;
use impact_pledge::office::fulfilment::rule as fulfilments;
use impact_pledge::office::keys::rule as keys;
use impact_pledge::office::mails::rule as notifications;
use impact_pledge::office::mails::rule::QueuedRounds;
use impact_pledge::office::notices::rows::notices::NoticeKind;
use impact_pledge::office::notices::rule as notices;
use impact_pledge::office::operations::Operation;
use impact_pledge::office::orders::rows::notes::HandOver;
use impact_pledge::office::orders::rule as transactions;
use impact_pledge::office::payments::rule as payments;
use impact_pledge::office::people::rows::changes::Removable;
use impact_pledge::office::people::rows::people::PersonRole;
use impact_pledge::office::people::rule as people;
use impact_pledge::office::prices::rule as prices;
use impact_pledge::office::prices::rule::Edit;
use impact_pledge::office::shared::rows::port::{Ledger, Statement};
use impact_pledge::office::shared::rule::error::OperatorError;
use impact_pledge::office::shared::rule::once::Done;
use impact_pledge::office::shared::rule::operation_id::OperationId;
use impact_pledge::office::shops::rule::{register, teams, units};
use impact_pledge::office::system::rows::accepted::TaskKind;
use impact_pledge::office::system::rule::kept;
use impact_pledge::office::system::rule::publish::republish;
use impact_pledge::office::system::rule::tasks;
use impact_pledge::office::system::rule::tasks::Task;
use impact_pledge::office::updates::rows::updates::{Pledges, UpdateRow};
use impact_pledge::office::updates::rule as updates;
use impact_pledge::office::updates::rule::{NewUpdate, UpdateChange};
use impact_pledge::pledges::auth::KeyRecord;
use impact_pledge::pledges::orders::{ConnectionId, OrderSettings, System};
use impact_pledge::pledges::scope::{Mode, Scope};
use impact_pledge::pledges::service::Message;
use impact_pledge::pledges::settlement::{Month, ScopeMonth};
use impact_pledge::pledges::store::{Key as _, PriceListKey, ReceivedKey};
use impact_pledge::pledges::time::DAY_MS;
use impact_pledge::pledges::types::NotificationService;
use serde::Serialize;
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::pin::Pin;
use strum::IntoEnumIterator as _;
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;
use support::service::{
    CountedEntropy, FixedClock, LIVE_UNIT, MemoryQueue, NOW_MS, UNIT, changes, unit,
};

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
/// The present time of the tests. January has ended, and its payments can be settled.
const ENDED_MS: u64 = NOW_MS + 3 * 24 * HOUR;
const ADA: &str = "ada@example.org";
const ADDRESS: &str = "ada@example.org";

// ---- Commands ---------------------------------------------------------------------------------

/// The answer to a command: its outcome as JSON. If an earlier request has already run the command, the answer
/// also has the time of that request.
type Heard = Result<Done<Value>, OperatorError>;
type Asking<'a> = Pin<Box<dyn Future<Output = Heard> + 'a>>;

use Command::*;

/// A command to run, with its usual arguments or with different ones.
#[derive(Clone, Copy)]
struct Asked {
    command: Command,
    has_others: bool,
}

fn told(done: Result<Done<impl Serialize>, OperatorError>) -> Heard {
    done.map(|done| Done { outcome: json!(done.outcome), before: done.before })
}

fn one(or: &str, another: &str, has_others: bool) -> String {
    if has_others { another.to_owned() } else { or.to_owned() }
}

fn payment(has_others: bool) -> payments::Payment {
    let payment = json!({ "of": january(), "amounts": [{ "amount": "1.50" }],
        "invoice": one("17", "18", has_others), "paidAt": "2026-02-02T00:00:00.000Z",
        "acceptUnpriced": 0 });
    serde_json::from_value(payment).unwrap()
}

fn january() -> Value {
    json!({ "unit": "unit_dev", "mode": "live", "month": "2026-01" })
}

fn month_of(has_others: bool) -> ScopeMonth {
    let month = one("2026-01", "2025-12", has_others);
    let of = json!({ "unit": "unit_dev", "mode": "live", "month": month });
    serde_json::from_value(of).unwrap()
}

fn transaction(store: &MemoryStore) -> String {
    let names = store.names();
    let name = names.iter().find_map(|name| name.strip_prefix("transaction:")).unwrap();
    name.to_owned()
}

impl Asked {
    /// Calls the operators' function for the command.
    async fn give(
        self,
        at: &Faulty<'_>,
        queue: &MemoryQueue,
        ledger: &dyn Ledger,
        author: &Person<'_>,
    ) -> Heard {
        let Asked { command, has_others: other } = self;
        let unit_id = one("unit_dev", "unit_dev_two", other);
        match command {
            Create => {
                let label = one("till", "shop", other);
                let record = KeyRecord { label, ..KeyRecord::new(Mode::Live, unit("unit_dev")) };
                told(keys::create(at, ledger, author, record).await)
            }
            Rotate => {
                told(keys::rotate(at, ledger, author, &one(LIVE_UNIT, UNIT, other), 60).await)
            }
            RotateNow => {
                told(keys::rotate(at, ledger, author, &one(LIVE_UNIT, UNIT, other), 0).await)
            }
            Revoke => told(keys::revoke(at, ledger, author, &one(LIVE_UNIT, UNIT, other)).await),
            SetPrices => {
                let edit = Edit::Set { offering: "tree".to_owned(), price: one("1", "2", other) };
                told(
                    prices::set(at, ledger, author, PriceListKey::of_mode(Mode::Live), &edit, None)
                        .await,
                )
            }
            AddUnits => {
                told(register::add(at, ledger, author, &[one("new", "newer", other)]).await)
            }
            SetProfile => {
                let members = json!({ "name": one("Till", "Shop", other) });
                let members = serde_json::from_value(members).unwrap();
                told(units::set(at, ledger, author, "unit_dev", members).await)
            }
            UnsetProfile => {
                let member = if other { units::Member::Logo } else { units::Member::Accent };
                told(units::unset(at, ledger, author, "unit_dev", &[member]).await)
            }
            RemoveUnit => told(units::remove(at, ledger, author, &unit_id).await),
            AddMember => {
                told(teams::add(at, ledger, author, "team_dev", &[one("u", "v", other)]).await)
            }
            RemoveMember => told(teams::remove(at, ledger, author, "team_dev", &[unit_id]).await),
            Mark => told(payments::mark(at, ledger, author, &payment(other)).await),
            Undo => told(payments::undo(at, ledger, author, &month_of(other), None).await),
            Erase if other => {
                let id = transaction(at.store);
                let id = id[..id.len() - 1].to_owned() + if id.ends_with('0') { "1" } else { "0" };
                at.store.keep(&format!("transaction:{id}"), b"{}", b"null");
                Err(OperatorError::invalid(
                    "was used for another change: see the person's".to_owned(),
                ))
            }
            Erase => {
                let record = transactions::get(at, &transaction(at.store)).await?;
                told(transactions::erase(at, ledger, author, &record).await)
            }
            ErasePerson => {
                let (address, units) =
                    (one(ADDRESS, "eve@example.org", other), ["unit_dev".to_owned()]);
                let of = transactions::PersonErasure {
                    address: &address,
                    units: &units,
                    mode: None,
                    is_everywhere: false,
                };
                let step =
                    transactions::erase_person_step((at, ledger), author, of, None, (10, 10)).await;
                told(step)
            }
            Resend => {
                let id = transaction(at.store);
                let id = if other { id.replacen("ptran_", "ptran_0", 1) } else { id };
                let created_at = "2026-01-31T12:00:00.123Z".to_owned();
                let (message, rounds) = (
                    Message {
                        id,
                        created_at,
                        round: 2,
                        service: NotificationService::Email,
                        updates: vec![],
                    },
                    QueuedRounds::default(),
                );
                told(notifications::queue_round(at, ledger, author, queue, &rounds, &message).await)
            }
            KeepFrom => {
                let month = Month::parse(&one("2026-01", "2025-12", other));
                told(kept::keep_from(at, ledger, author, month).await)
            }
            Rebuild => told(kept::rebuild(at, ledger, author).await),
            RemovePrices => {
                let of = (Mode::Live, &*unit_id);
                told(prices::remove(at, ledger, author, of, None).await)
            }
            AddPerson => {
                let whom = (&unit("unit_dev"), &*one(EVA, "ben@shop.example", other));
                told(people::add(at, ledger, author, whom, PersonRole::Viewer).await)
            }
            RemovePerson => {
                let whom = (&unit("unit_dev"), &*one(EVA, "ben@shop.example", other));
                told(people::remove(ledger, author, whom, Removable::All).await)
            }
            SwitchNotice => {
                let of = (one(EVA, "ben@shop.example", other), NoticeKind::Month);
                told(notices::switch(ledger, author, (&of.0, of.1), false).await)
            }
            AddCredit => {
                let request = requested(at.store, other);
                told(credits::add(at, ledger, author, &request).await)
            }
            RequestCredit => {
                let request = requested(at.store, other);
                told(credit_requests::make(at, ledger, author, &request).await)
            }
            ConfirmCredit => {
                let row = credit_requests::last(ledger, &transaction(at.store)).await?;
                let wanted = credit_requests::wanted(&row, None)?;
                let wanted = if other { requested(at.store, other) } else { wanted };
                told(credit_requests::confirm(at, ledger, author, &row, &wanted).await)
            }
            RefuseCredit => {
                let reason = one("It was shipped", "It was used", other);
                let of = (&*transaction(at.store), &*reason);
                told(credit_requests::refuse(at, ledger, author, of).await)
            }
            LimitCredits => {
                let sums = Some((&*one("1", "2", other), "3"));
                told(credit_requests::set_limit(at, ledger, author, "unit_dev", sums).await)
            }
            AddFulfilment => {
                let done = json!({ "mode": "live", "month": "2026-01", "offering": "tree",
                    "quantity": one("1", "2", other), "doneOn": "2026-01-20", "partner": null,
                    "place": null, "report": null });
                let done = serde_json::from_value(done).unwrap();
                told(fulfilments::add(at, ledger, author, &done).await)
            }
            RemoveFulfilment => {
                let id = one(&id_in(ledger, "fulfilments").await, "ful_other", other);
                told(fulfilments::remove(at, ledger, author, &id).await)
            }
            AddUpdate => {
                let month = Month::parse("2026-01").unwrap();
                let pledges = Pledges { mode: Mode::Live, month, offering: "tree".to_owned() };
                let new = sentence(&one("We planted.", "We sowed.", other));
                told(updates::add(at, ledger, author, (&pledges, None), &new).await.map(row))
            }
            EditUpdate => {
                let id = id_in(ledger, "updates").await;
                let new = sentence(&one("We planted all.", "We sowed all.", other));
                told(updates::edit(at, ledger, author, (&id, 1), &new).await.map(row))
            }
            PublishUpdate => {
                let id = one(&id_in(ledger, "updates").await, "upd_other", other);
                told(updates::publish(at, ledger, author, (&id, 1)).await.map(row))
            }
            AddConnection => {
                let new = connection(&one("shop.example", "other.example", other));
                told(connections::add(at, ledger, author, &new).await)
            }
            SetConnection => {
                let id = connection_in(ledger).await;
                let secret = Some(one("the_new_secret", "another_secret", other));
                let change = ConnectionChange { secret, ..ConnectionChange::default() };
                told(connections::set(at, ledger, author, (&id, &change)).await)
            }
            EndConnection => {
                let id = one(&connection_in(ledger).await, &"a".repeat(26), other);
                told(connections::end(at, ledger, author, &id).await)
            }
            RetryDelivery => {
                let id = connection_in(ledger).await;
                let delivery = one(&delivery_of(&id, 1), &delivery_of(&id, 2), other);
                told(connections::try_again(ledger, author, (&id, &delivery)).await)
            }
            FetchOrders => {
                let id = connection_in(ledger).await;
                let since = ENDED_MS - if other { DAY_MS } else { 2 * DAY_MS };
                told(connections::fetch_since(ledger, author, (&id, since)).await)
            }
            AcceptTasks => {
                let of = (TaskKind::Idle, one("Checked", "Asked", other));
                let open = [Task::idle("unit_dev")];
                told(tasks::accept(ledger, author, (of.0, &of.1), &open).await)
            }
            ReopenTask => {
                let of = one("unit_dev", "unit_dev_two", other);
                told(tasks::reopen(ledger, author, (TaskKind::Idle, &of)).await)
            }
            AddNote => {
                let record = transactions::get(at, &transaction(at.store)).await?;
                let note = (one("Call back", "Wait", other), Some(HandOver::Support));
                told(transactions::add_note(ledger, author, &record, (&note.0, note.1)).await)
            }
            EndHandOver => {
                let record = transactions::get(at, &transaction(at.store)).await?;
                let number = if other { 2 } else { 1 };
                told(transactions::end_hand_over(ledger, author, &record, number).await)
            }
            WithdrawUpdate => {
                let id = one(&id_in(ledger, "updates").await, "upd_other", other);
                told(updates::withdraw(at, ledger, author, (&id, 2)).await.map(row))
            }
        }
    }
}

const EVA: &str = "eva@shop.example";

fn requested(store: &MemoryStore, has_others: bool) -> CreditRequest {
    CreditRequest {
        transaction: transaction(store),
        part: None,
        reason: one("Returned", "Broken", has_others),
        tell_buyer: true,
        was_charged: None,
        seen: None,
    }
}

fn sentence(text: &str) -> NewUpdate {
    let update = json!({ "stage": "done", "date": "2026-01-20", "texts": [["en", text]] });
    serde_json::from_value(update).unwrap()
}

fn row(done: Done<UpdateChange>) -> Done<UpdateRow> {
    done.map(|change| change.row)
}

fn connection(store: &str) -> NewConnection {
    let settings = r#"{"rules":[{"offeringId":"tree","basis":{"order":{"amount":"1"}}}]}"#;
    NewConnection {
        scope: Scope { unit: "unit_dev".to_owned(), mode: Mode::Live },
        system: System::WooCommerce,
        store: store.to_owned(),
        secret: "the_secret".to_owned(),
        settings: OrderSettings::parse(settings).unwrap(),
        token: Some("ck_0123456789:cs_0123456789".to_owned()),
    }
}

/// Returns the ID of the only connection. A call that fails finds none.
async fn connection_in(ledger: &dyn Ledger) -> String {
    let sql = "SELECT substr(name, 12) FROM published WHERE name LIKE 'connection:%'";
    first_of(ledger, sql).await
}

/// Returns the ID of a delivery to a connection.
fn delivery_of(connection: &str, number: u8) -> String {
    let connection = ConnectionId::parse(connection);
    let key = |connection| ReceivedKey::new(NOW_MS, connection, [number; 8]).id();
    connection.map(key).unwrap_or_default()
}

/// Returns the ID of a table's only row. A call that fails finds none.
async fn id_in(ledger: &dyn Ledger, table: &str) -> String {
    first_of(ledger, format!("SELECT id FROM {table}").leak()).await
}

async fn first_of(ledger: &dyn Ledger, sql: &'static str) -> String {
    let find = Statement { sql, parameter: "null".to_owned() };
    let rows = ledger.run(&[find]).await.unwrap_or_default();
    rows.into_iter().flatten().next().unwrap_or_else(|| "none".to_owned())
}

impl Command {
    const fn asked(self) -> Asked {
        Asked { command: self, has_others: false }
    }

    fn name(self) -> &'static str {
        match self {
            Create => "keys create",
            Rotate | RotateNow => "keys rotate",
            Revoke => "keys revoke",
            SetPrices => "prices set",
            AddUnits => "units add",
            SetProfile => "units set",
            UnsetProfile => "units unset",
            RemoveUnit => "units remove",
            AddMember => "teams add",
            RemoveMember => "teams remove",
            Mark => "payments mark",
            Undo => "payments undo",
            Erase | ErasePerson => "transactions erase",
            Resend => "emails resend",
            KeepFrom => "ledger keep-from",
            Rebuild => "ledger rebuild",
            RemovePrices => "prices remove",
            AddPerson => "people add",
            RemovePerson => "people remove",
            SwitchNotice => "notices set",
            AddCredit => "credits add",
            RequestCredit => "credits request",
            ConfirmCredit => "credits add",
            RefuseCredit => "credits refuse",
            LimitCredits => "credits limit",
            AddFulfilment => "fulfilments add",
            RemoveFulfilment => "fulfilments remove",
            AddUpdate => "updates add",
            EditUpdate => "updates edit",
            PublishUpdate => "updates publish",
            WithdrawUpdate => "updates withdraw",
            AddConnection => "connections add",
            SetConnection => "connections set",
            EndConnection => "connections end",
            RetryDelivery => "connections retry",
            FetchOrders => "connections fetch",
            AcceptTasks => "tasks accept",
            ReopenTask => "tasks reopen",
            AddNote => "transactions note",
            EndHandOver => "transactions note-done",
        }
    }
}

// ---- Records and ledger -----------------------------------------------------------------------

struct World {
    store: MemoryStore,
    ledger: SqliteLedger,
    clock: FixedClock,
    entropy: CountedEntropy,
    queue: MemoryQueue,
}

impl World {
    fn before(command: Command) -> Self {
        let store = MemoryStore::default();
        for (name, value, metadata) in &*RECORDS {
            store.keep(name, value.as_bytes(), metadata.as_bytes());
        }
        store.keep("unit:unit_dev", b"{}", b"null");
        let secret = json!({ "secret": *support::service::SECRET, "version": 1 }).to_string();
        store.keep("secret", secret.as_bytes(), b"null");
        let (clock, entropy) = (FixedClock(Cell::new(ENDED_MS)), CountedEntropy::default());
        let (ledger, queue) = (SqliteLedger::default(), MemoryQueue::default());
        let world = World { store, ledger, clock, entropy, queue };
        world.ledger.reconcile(&world.store, ENDED_MS);
        let first: &[Command] = match command {
            Undo => &[Mark],
            RemovePerson => &[AddPerson],
            ConfirmCredit | RefuseCredit => &[RequestCredit],
            RemoveFulfilment => &[AddFulfilment],
            EditUpdate | PublishUpdate => &[AddUpdate],
            WithdrawUpdate => &[AddUpdate, PublishUpdate],
            EndHandOver => &[AddNote],
            ReopenTask => &[AcceptTasks],
            SetConnection | EndConnection | RetryDelivery | FetchOrders => &[AddConnection],
            _ => &[],
        };
        for command in first {
            world.ask(command.asked(), "cyd", None, &[]).0.unwrap().unwrap();
            world.later(MINUTE);
        }
        if command == RetryDelivery {
            let connection = block_on(connection_in(&world.ledger));
            for number in [1, 2] {
                let delivery = delivery_of(&connection, number);
                world.ledger.sql(&format!(
                    "INSERT INTO received (delivery, connection, at, outcome) VALUES ('{delivery}', '{connection}', 1, 'skipped')"
                ));
            }
        }
        if command == RemovePrices {
            for unit in ["unit_dev", "unit_dev_two"] {
                let name = PriceListKey::of_unit(Mode::Live, unit).name();
                let list = br#"{"currencyCode":"EUR","unitPrices":{"tree":"3"}}"#;
                world.store.keep(&name, list, b"null");
            }
        }
        world
    }

    fn later(&self, ms: u64) {
        self.clock.0.set(self.clock.0.get() + ms);
    }

    /// Returns the operation ID of a form that is opened now.
    fn opened(&self) -> OperationId {
        let id = OperationId::new(&self.clock, &self.entropy);
        OperationId::parse(id.as_str()).unwrap()
    }

    fn faulty<'w>(&'w self, faults: &'w [(usize, Fault)]) -> Faulty<'w> {
        let (store, ledger, clock) = (&self.store, &self.ledger, &self.clock);
        Faulty { store, ledger, clock, calls: Cell::new(0), faults }
    }

    fn author<'w>(&'w self, by: &'w str, id: Option<&OperationId>) -> Person<'w> {
        let author = Author::new(by, &self.clock, &self.entropy).unwrap();
        match id {
            None => author,
            Some(id) => author.with_operation(id.clone()),
        }
    }

    fn asking<'w>(
        &'w self,
        asked: Asked,
        at: &'w Faulty<'w>,
        author: &'w Person<'w>,
    ) -> Asking<'w> {
        Box::pin(asked.give(at, &self.queue, at, author))
    }

    /// Runs the command with these faults. Returns its answer and the number of calls. The answer is `None`
    /// if the process ended first.
    fn ask(
        &self,
        asked: Asked,
        by: &str,
        id: Option<&OperationId>,
        faults: &[(usize, Fault)],
    ) -> (Option<Heard>, usize) {
        let (at, author) = (self.faulty(faults), self.author(by, id));
        let heard = self.asking(asked, &at, &author).now_or_never();
        (heard, at.calls.get())
    }

    #[track_caller]
    fn done(&self, command: Command, id: &OperationId) -> Done<Value> {
        let (heard, _) = self.ask(command.asked(), ADA, Some(id), &[]);
        heard.unwrap().unwrap_or_else(|error| panic!("{command:?}: {error}"))
    }

    /// Returns the names of all records, the rows of all tables except the table of operations, and the queue's
    /// messages.
    fn all(&self) -> (Vec<String>, Vec<String>, usize) {
        let records = self.store.names().into_iter();
        let records = records.map(|name| format!("{name} {:?}", self.store.value(&name))).collect();
        (records, self.rows(), self.queue.messages.borrow().len())
    }

    fn rows(&self) -> Vec<String> {
        let published = "SELECT json_array(name, content, change) FROM published ORDER BY 1";
        let orders = "SELECT json_array(id, erased) FROM transactions ORDER BY 1";
        [self.ledger.sql(published), self.ledger.sql(orders), self.own_rows()].concat()
    }

    /// Returns the rows that only the ledger has, without their times.
    fn own_rows(&self) -> Vec<String> {
        let tables = [
            "SELECT json_array(place, address, role) FROM people ORDER BY 1",
            "SELECT json_array(id, number, cents, quantities, reason) FROM credits ORDER BY 1",
            "SELECT json_array(id, content, state, answer) FROM credit_requests ORDER BY 1",
            "SELECT json_array(unit, per_order, per_month) FROM credit_limits",
            "SELECT json_array(id, quantity, remover) FROM fulfilments ORDER BY 1",
            "SELECT json_array(id, state, content, revision, changer) FROM updates ORDER BY 1",
            "SELECT json_array(delivery, outcome) FROM received ORDER BY 1",
            "SELECT json_array(id, number, text, role, ended_by) FROM notes ORDER BY 1",
            "SELECT json_array(task, subject, facts, reason) FROM accepted_tasks ORDER BY 1",
        ];
        tables.iter().flat_map(|sql| self.ledger.sql(sql)).collect()
    }

    /// Returns what a command has changed: the records, and whether the queue has a message. Leaves out times
    /// and the IDs of changes, because they differ in each run. Of records that the ledger decides, takes the row: the
    /// cron writes a copy that is missing.
    fn effect(&self) -> Vec<String> {
        let published = "SELECT json_array(name, content) FROM published ORDER BY name";
        let published = self.ledger.sql(published).into_iter();
        let published: BTreeMap<String, Option<String>> =
            published.map(|row| serde_json::from_str(&row).unwrap()).collect();
        // Secrets are sealed with a random number.
        let passing = [
            "created", "at", "change", "prices", "erased", "until", "by", "epoch", "secrets",
            "token",
        ];
        let record = |name: &String| {
            let value = match published.get(name) {
                Some(row) => row.clone()?,
                None => self.store.value(name)?,
            };
            let mut value: Value = serde_json::from_str(&value).unwrap_or_default();
            if let Some(members) = value.as_object_mut() {
                members.retain(|member, _| !passing.contains(&&**member));
            }
            let name = if name.starts_with("prices:") { "prices" } else { name };
            Some(format!("{name} {value}"))
        };
        let mut names = self.store.names();
        names.extend(published.keys().cloned());
        let is_passing =
            |name: &str| name.starts_with("audit:") || name.starts_with("mail-queued:");
        let records = names.iter().filter(|name| !is_passing(name));
        let mut effect: Vec<_> = records.filter_map(record).collect();
        effect.sort();
        effect.dedup();
        effect.push(format!("queue: {}", !self.queue.messages.borrow().is_empty()));
        effect.extend(self.own_rows());
        effect
    }

    /// Asserts that minutes later each row of a record has its copy in Workers KV.
    #[track_caller]
    fn copies_agree_soon(&self, what: &str) {
        for _ in 0..3 {
            self.later(3 * MINUTE);
            block_on(republish(&self.store, &self.ledger, &self.clock, 10)).unwrap();
        }
        for row in self.ledger.sql("SELECT json_array(name, json(content)) FROM published") {
            let (name, content): (String, Value) = serde_json::from_str(&row).unwrap();
            let copy = self.store.copy(&name).map(|copy| serde_json::from_str(&copy).unwrap());
            assert_eq!(copy.unwrap_or(Value::Null), content, "{what}: {name}");
        }
    }

    /// Returns how many entries the audit log has for the command.
    fn audited(&self, command: Command) -> usize {
        let changes = changes(&self.store, &self.ledger);
        let own = |it: &&audit::Change| it.command == command.name() && it.by == ADA;
        changes.iter().filter(own).count()
    }
}

/// Returns the number of calls to the store and the ledger that a command makes without failures.
fn calls_of(command: Command) -> usize {
    let world = World::before(command);
    let id = world.opened();
    world.ask(command.asked(), ADA, Some(&id), &[]).1
}

/// Operations that call the function of another command, need a database that has lost rows, or find nothing left to do when
/// they are repeated.
const LIKE_OTHERS: [&str; 5] =
    ["credits confirm", "prices change", "updates draft", "ledger accept-loss", "emails dismiss"];

#[test]
fn each_operation_that_changes_something_is_tried() {
    let tried: Vec<_> = Command::iter().map(Command::name).collect();
    let all = Operation::iter().filter(|operation| operation.spec().changes);
    for name in all.map(|operation| operation.spec().full_name()) {
        let is_tried = tried.contains(&&*name) || LIKE_OTHERS.contains(&&*name);
        assert!(is_tried, "add `{name}` to `Command`");
    }
}
