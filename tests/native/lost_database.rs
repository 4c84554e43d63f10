//! Tests a database that has lost its credits, fulfilments and updates: what it refuses, and how a backup brings the
//! rows back.

use crate::credits::{Bench, ENDED_MS, bench, payment, request};
use futures_executor::block_on;
use impact_pledge::office::credits::rule as credits;
use impact_pledge::office::fulfilment::rows::fulfilments::NewFulfilment;
use impact_pledge::office::fulfilment::rule as fulfilments;
use impact_pledge::office::fulfilment::rule::Balances;
use impact_pledge::office::orders::rule as transactions;
use impact_pledge::office::orders::rule::TransactionFilter;
use impact_pledge::office::payments::rule as payments;
use impact_pledge::office::payments::rule::due_months::{DueFilter, due_months};
use impact_pledge::office::payments::rule::statement::statement;
use impact_pledge::office::payments::rule::usage;
use impact_pledge::office::people::rows::people::PersonRole;
use impact_pledge::office::people::rule as people;
use impact_pledge::office::shared::rows::port::{Ledger, Statement};
use impact_pledge::office::shared::rule::error::OperatorError;
use impact_pledge::office::shops::rule::teams;
use impact_pledge::office::system::rows::own_rows::{OwnRows, OwnTable, page, restore};
use impact_pledge::office::system::rule::adopt::adopt;
use impact_pledge::office::system::rule::own_rows;
use impact_pledge::office::system::rule::own_rows::OwnRowsHeader;
use impact_pledge::office::system::rule::publish::{Republished, republish};
use impact_pledge::office::system::rule::{attention, epoch};
use impact_pledge::office::updates::rows::updates::Pledges;
use impact_pledge::office::updates::rule as updates;
use impact_pledge::office::updates::rule::NewUpdate;
use impact_pledge::pledges::auth::KeyLevel;
use impact_pledge::pledges::scope::Mode;
use impact_pledge::pledges::settlement::{Month, ScopeMonth};
use serde_json::{Value, json};
use strum::IntoEnumIterator as _;
use support::ledger::SqliteLedger;
use support::service::NOW_MS;
use support::stores::scope;

type Tried = Result<(), OperatorError>;

fn january() -> Month {
    Month::parse("2026-01").unwrap()
}

fn update() -> NewUpdate {
    let update = json!({ "stage": "done", "date": "2026-01-20", "texts": [["en", "We planted."]] });
    serde_json::from_value(update).unwrap()
}

fn fulfilment() -> NewFulfilment {
    let done = json!({ "mode": "live", "month": "2026-01", "offering": "tree", "quantity": "1",
        "doneOn": "2026-01-20", "partner": null, "place": null, "report": null });
    serde_json::from_value(done).unwrap()
}

impl Bench {
    fn fulfil(&self) -> Result<String, OperatorError> {
        let author = self.operator.author();
        let done = block_on(fulfilments::add(self.store(), &self.ledger, &author, &fulfilment()));
        done.map(|done| done.outcome.id)
    }

    fn employ(&self) -> Result<(), OperatorError> {
        let (author, shop) = (self.operator.author(), KeyLevel::Unit("unit_dev".to_owned()));
        let eva = (&shop, "eva@shop.example");
        block_on(people::add(self.store(), &self.ledger, &author, eva, PersonRole::Viewer))
            .map(drop)
    }

    fn balances(&self) -> Result<Balances, OperatorError> {
        let live = Some(Mode::Live);
        block_on(fulfilments::balances(self.store(), &self.ledger, live, &[january()], 10))
    }

    fn draft(&self) -> Result<(String, u64), OperatorError> {
        let pledges = Pledges { mode: Mode::Live, month: january(), offering: "tree".to_owned() };
        let (author, of) = (self.operator.author(), (&pledges, None));
        let added = block_on(updates::add(self.store(), &self.ledger, &author, of, &update()))?;
        Ok((added.outcome.row.id, added.outcome.row.revision))
    }

    fn publish(&self, (id, revision): (&str, u64)) -> Tried {
        let author = self.operator.author();
        let of = (id, revision);
        block_on(updates::publish(self.store(), &self.ledger, &author, of)).map(drop)
    }

    fn header(&self) -> Result<Option<OwnRowsHeader>, OperatorError> {
        block_on(own_rows::header(self.store(), &self.ledger))
    }

    fn problem(&self) -> Option<String> {
        let health = epoch::health(self.store(), &self.ledger, self.clock().0.get());
        block_on(health).unwrap().problem
    }

    fn accept(&self) -> Tried {
        let author = self.operator.author();
        block_on(epoch::accept(self.store(), &self.ledger, &author)).map(drop)
    }

    /// Deletes the database, and creates it again.
    fn lose(&self) {
        self.ledger.clear();
        self.ledger.reconcile(self.store(), self.clock().0.get());
        self.ledger.sql("DELETE FROM published"); // no restore has run
    }
}

/// Returns all rows of a database by their tables.
fn dump(ledger: &SqliteLedger) -> Vec<(OwnTable, Vec<String>)> {
    let rows = |table| {
        let mut rows: Vec<String> = Vec::new();
        loop {
            let next = block_on(page(ledger, table, rows.last().map(String::as_str))).unwrap();
            if next.is_empty() {
                return (table, rows);
            }
            rows.extend(next);
        }
    };
    OwnTable::iter().map(rows).collect()
}

/// Restores rows, and returns for each table how many were written, known and refused.
fn put_back(ledger: &SqliteLedger, rows: &[(OwnTable, Vec<String>)]) -> Vec<[usize; 3]> {
    let one = |(table, rows): &(OwnTable, Vec<String>)| {
        let restored = block_on(restore(ledger, *table, rows, &[])).unwrap();
        let OwnRows { written, known, refused } = restored;
        [written, known, refused.len()]
    };
    rows.iter().map(one).collect()
}

/// One row for each table whose rows have no operation in these tests.
const OTHERS: [&str; 7] = [
    "INSERT INTO shop_orders (unit, mode, system, store, number, connection, at, state, facts, id)
VALUES ('unit_dev', 'live', 'shopify', 'shop.example', '1', 'a', 1, 'pledged', '{}', 'ptran_1')",
    "INSERT INTO credit_requests (request, id, mode, unit, content, currency, cents, credits, author, by_shop, at, state)
VALUES ('crq_1', '$id', 'live', 'unit_dev', '{\"reason\":\"Ada sent it back\"}', 'USD', 20, 2, 'eva', 1, 1, 'open')",
    "INSERT INTO credit_limits VALUES ('unit_dev', 'USD', 100, 1000, 'bob', 1)",
    "INSERT INTO notes VALUES ('$id', 1, 1, 'eva', 1, 'Ada called', 'support', NULL, NULL)",
    "INSERT INTO accepted_tasks VALUES ('unusual', '$id', '9.00', 'A gift', 'bob', 1)",
    "INSERT INTO notices_off VALUES ('eva@shop.example', 'statement')",
    "INSERT INTO fetches VALUES ('a', 1, '[]', 2, NULL, NULL, 1)",
];

/// A bench with two credits of an order, a fulfilment, a published update, and a row of each other table.
fn full() -> (Bench, String) {
    let bench = bench();
    let id = bench.order(NOW_MS, json!(4));
    for part in ["0.20", "0.30"] {
        bench.credit(&request(&id, Some((part, &[])))).unwrap();
    }
    bench.fulfil().unwrap();
    let (update, revision) = bench.draft().unwrap();
    bench.publish((&update, revision)).unwrap();
    bench.employ().unwrap();
    OTHERS.iter().for_each(|sql| drop(bench.ledger.sql(&sql.replace("$id", &id))));
    (bench, id)
}

#[test]
fn what_depends_on_lost_rows_is_refused_until_a_backup_is_restored() {
    let (bench, id) = full();
    let (store, ledger) = (bench.store(), &bench.ledger);
    let author = bench.operator.author();
    let draft = bench.draft().unwrap();
    let of = ScopeMonth { scope: scope("unit_dev", Mode::Live), month: january() };
    let of_all = TransactionFilter::default();
    let credit = request(&id, None);
    let month = Some(january());
    let filter = DueFilter::default();
    let record = || block_on(transactions::get(store, &id));
    let clock = bench.clock();
    let tries: [(&str, &dyn Fn() -> Tried); 16] = [
        ("usage of a shop", &|| block_on(usage::of_scope(store, ledger, &of.scope)).map(drop)),
        ("usage", &|| block_on(usage::of_all(store, ledger, &of_all, month)).map(drop)),
        ("dues", &|| block_on(due_months(store, ledger, ENDED_MS, &filter, None, 9)).map(drop)),
        ("statement", &|| block_on(statement(store, ledger, clock, &of)).map(drop)),
        ("to do", &|| block_on(attention::unsettled(store, ledger, clock)).map(drop)),
        ("payment", &|| {
            let paid = payment("2026-01", "1.50");
            block_on(payments::check(store, ledger, &author, &paid)).map(drop)
        }),
        ("mark", &|| bench.mark("2026-01", "1.50").map(drop)),
        ("credits", &|| block_on(credits::of(store, ledger, &record()?)).map(drop)),
        ("check of a credit", &|| {
            block_on(credits::check(store, ledger, &author, &credit)).map(drop)
        }),
        ("credit", &|| bench.credit(&credit).map(drop)),
        ("balances", &|| bench.balances().map(drop)),
        ("fulfilment", &|| bench.fulfil().map(drop)),
        ("draft", &|| bench.draft().map(drop)),
        ("publish", &|| bench.publish((&draft.0, draft.1))),
        ("person", &|| bench.employ()),
        ("backup", &|| bench.header().map(drop)),
    ];
    let (rows, header) = (dump(ledger), bench.header().unwrap().unwrap());
    let (dues, balances, problem) = (bench.dues(), bench.balances(), bench.problem());
    assert_eq!(problem, None);
    bench.lose();
    // Half of the backup is restored.
    for is_half in [false, true] {
        if is_half {
            block_on(own_rows::begin(store, ledger, &header)).unwrap();
            put_back(ledger, &rows[..1]);
        }
        for (name, tried) in &tries {
            let refused = tried().unwrap_err().to_string();
            assert!(refused.contains("`transactions restore`"), "{name}: {refused}");
        }
        assert!(bench.problem().is_some_and(|problem| problem.contains("`ledger accept-loss`")));
    }
    let back = put_back(ledger, &rows);
    assert_eq!(back[..3], [[0, 2, 0], [1, 0, 0], [2, 0, 0]]);
    assert!(back[3..].iter().all(|[written, known, refused]| *written > 0 && known + refused == 0));
    block_on(own_rows::end(store, ledger, (clock, &bench.operator.entropy), &header)).unwrap();
    assert_eq!((bench.dues(), bench.balances(), bench.problem()), (dues, balances, None));
    assert_eq!(dump(ledger), rows);
    for (name, tried) in tries {
        tried().unwrap_or_else(|refused| panic!("{name}: {refused}"));
    }
}

/// Workers KV has copies of payments and memberships, so they come back even without a backup of the ledger's rows.
#[test]
fn payments_and_memberships_come_back_from_their_copies() {
    let (bench, _) = full();
    let (store, ledger) = (bench.store(), &bench.ledger);
    let header = bench.header().unwrap().unwrap();
    let units = ["unit_dev".to_owned()];
    block_on(teams::add(store, ledger, &bench.operator.author(), "crew", &units)).unwrap();
    bench.mark("2026-01", "1.50").unwrap();
    let rows = dump(ledger);
    let facts = || {
        ledger.sql(
            "SELECT json_array(name, content, change, author, at) FROM published ORDER BY name",
        )
    };
    let before = facts();
    assert!(before.len() >= 2, "{before:?}");
    let entropy = &bench.operator.entropy;
    let ways: [(&str, &dyn Fn()); 3] = [
        ("a backup", &|| {
            put_back(ledger, &rows);
            block_on(own_rows::end(store, ledger, (bench.clock(), entropy), &header)).unwrap();
        }),
        ("a backup without rows", &|| {
            assert!(
                block_on(own_rows::end_without(store, ledger, (bench.clock(), entropy))).unwrap()
            );
        }),
        ("an accepted loss", &|| bench.accept().unwrap()),
    ];
    for (name, bring_back) in ways {
        bench.lose();
        bring_back();
        assert_eq!(facts(), before, "{name}");
        let refused = bench.mark("2026-01", "1.50").unwrap_err().to_string();
        let is_lost = name == "a backup without rows"; // of credits, fulfilments and updates
        assert!(refused.contains("is already marked as paid") || is_lost, "{name}: {refused}");
    }
}

#[test]
fn a_loss_can_be_accepted_once_it_is_there() {
    let (bench, _) = full();
    assert!(bench.accept().unwrap_err().to_string().contains("nothing was changed"));
    let header = bench.header().unwrap().unwrap();
    bench.lose();
    bench.accept().unwrap();
    assert_eq!(bench.problem(), None);
    bench.fulfil().unwrap();
    assert_ne!(bench.header().unwrap().unwrap().epoch, header.epoch);
}

/// The record about the first database may be missing in Workers KV, for a while or for ever.
#[test]
fn a_missing_record_is_written_again_and_refuses_nothing() {
    let (bench, id) = full();
    let named = bench.store().value("epoch");
    bench.store().set_hidden(Some("epoch"));
    bench.credit(&request(&id, Some(("0.10", &[])))).unwrap();
    bench.store().set_hidden(None);
    assert_eq!(bench.store().value("epoch"), named);
    bench.store().remove("epoch");
    bench.credit(&request(&id, Some(("0.10", &[])))).unwrap();
    assert_eq!(bench.store().value("epoch"), named);
}

#[test]
fn no_row_is_written_before_workers_kv_names_its_database() {
    let bench = bench();
    let id = bench.order(NOW_MS, json!(4));
    bench.store().set_failing(Some("epoch"));
    bench.credit(&request(&id, None)).unwrap_err();
    bench.fulfil().unwrap_err();
    bench.draft().unwrap_err();
    bench.employ().unwrap_err();
    assert!(dump(&bench.ledger).iter().all(|(_, rows)| rows.is_empty()));
    bench.store().set_failing(None);
    bench.credit(&request(&id, None)).unwrap();
}

#[test]
fn rows_of_a_backup_replace_none_that_are_newer() {
    let (bench, id) = full();
    let rows = dump(&bench.ledger);
    let ledger = SqliteLedger::default();
    let all = rows.iter().map(|(_, rows)| rows.len());
    assert_eq!(
        put_back(&ledger, &rows),
        all.clone().map(|count| [count, 0, 0]).collect::<Vec<_>>()
    );
    assert_eq!(dump(&ledger), rows);
    assert_eq!(put_back(&ledger, &rows), all.map(|count| [0, count, 0]).collect::<Vec<_>>());
    let newer = [
        "UPDATE fulfilments SET removed = 5, remover = 'bob'",
        "UPDATE updates SET revision = revision + 1, state = 'withdrawn'",
        "UPDATE credit_requests SET state = 'refused', decider = 'bob', decider_of_shop = 0, decided = 5, answer = 'No'",
        "UPDATE shop_orders SET version = version + 1, credited = '{}'",
        "UPDATE credit_limits SET at = at + 1, per_order = 1",
        "UPDATE notes SET done = 5, ended_by = 'bob'",
        "UPDATE accepted_tasks SET at = at + 1, facts = '10.00'",
    ];
    newer.iter().for_each(|sql| drop(bench.ledger.sql(sql)));
    bench.credit(&request(&id, None)).unwrap();
    let after = dump(&bench.ledger);
    put_back(&bench.ledger, &rows);
    assert_eq!(dump(&bench.ledger), after, "the newer rows are kept");
    put_back(&ledger, &after);
    assert_eq!(dump(&ledger), after, "the older rows are replaced");
}

#[test]
fn a_row_whose_place_is_taken_is_named_and_the_others_are_written() {
    let (bench, id) = full();
    let rows = dump(&bench.ledger);
    bench.lose();
    bench.accept().unwrap();
    bench.credit(&request(&id, Some(("1.90", &[])))).unwrap();
    assert_eq!(put_back(&bench.ledger, &rows)[0], [0, 0, 2]);
    let (_, credits) = &dump(&bench.ledger)[0];
    assert_eq!(credits.len(), 1);
}

#[test]
fn reasons_and_notes_of_an_erased_transaction_do_not_come_back() {
    let (bench, id) = full();
    let ledger = SqliteLedger::default();
    for (table, rows) in dump(&bench.ledger) {
        block_on(restore(&ledger, table, &rows, std::slice::from_ref(&id))).unwrap();
    }
    let told = "SELECT json_array(reason) FROM credits UNION SELECT json_array(content ->> '$.reason') FROM credit_requests";
    assert_eq!(ledger.sql(told), [r#"["erased"]"#]);
    assert_eq!(ledger.sql("SELECT count(*) FROM notes"), ["0"]);
}

/// The tables that no backup has, because their rows come back by themselves or are of no use later.
const DERIVED: [&str; 24] = [
    // from the records in Workers KV
    "scopes",
    "keys",
    "transactions",
    "day_quantities",
    "day_charges",
    "names",
    "published",
    "received",
    "public_totals",
    "intake",
    "findings",
    // from other rows
    "update_records",
    "news",
    "due_versions",
    "epoch",
    "reconciliation",
    "backup_state",
    // of the last days
    "operations",
    "notices",
    // of SQLite and wrangler
    "sqlite_sequence",
    "sqlite_stat1",
    "sqlite_stat4",
    "d1_migrations",
    "_cf_METADATA",
];

/// Whoever adds a table or a column has to say whether backups have it.
#[test]
fn backups_have_each_column_of_each_table_that_cannot_be_derived() {
    let (bench, _) = full();
    let schema = bench.ledger.sql(
        "SELECT json_array(t.name, json_group_array(c.name)) FROM sqlite_schema t, pragma_table_info(t.name) c
WHERE t.type = 'table' GROUP BY t.name",
    );
    let mut own: Vec<Vec<String>> = Vec::new();
    for table in schema {
        let (name, mut columns): (String, Vec<String>) = serde_json::from_str(&table).unwrap();
        columns.sort();
        own.extend((!DERIVED.contains(&&*name)).then_some(columns));
    }
    let kept = dump(&bench.ledger).into_iter().map(|(_, rows)| {
        let row: serde_json::Map<String, Value> = serde_json::from_str(&rows[0]).unwrap();
        let mut columns: Vec<_> = row.keys().cloned().collect();
        columns.sort();
        columns
    });
    let mut kept: Vec<_> = kept.collect();
    own.sort();
    kept.sort();
    assert_eq!(kept, own);
}

#[test]
fn an_invalid_row_is_refused() {
    let (bench, _) = full();
    for (table, rows) in dump(&bench.ledger) {
        own_rows::check(table, &rows[0]).unwrap();
        for invalid in ["{}", "[]", "", &rows[0].replace("{\"", "{\"no-")] {
            own_rows::check(table, invalid).unwrap_err();
        }
    }
}

/// Somebody sets the database back to an earlier time, as D1's Time Travel does, and then restores a backup.
#[test]
fn a_database_that_is_set_back_has_lost_rows() {
    for is_newer in [false, true] {
        let (bench, id) = full();
        let (store, ledger) = (bench.store(), &bench.ledger);
        let watch = || block_on(epoch::watch(store, ledger, &bench.operator.entropy)).unwrap();
        assert!(!watch() && !watch());
        let backup = || (dump(ledger), bench.header().unwrap().unwrap());
        let earlier = backup();
        ledger.sql("CREATE TEMP TABLE earlier AS SELECT * FROM audit");
        ledger.sql("CREATE TEMP TABLE earlier_credits AS SELECT * FROM credits");
        bench.clock().0.set(bench.clock().0.get() + 1);
        bench.credit(&request(&id, Some(("0.10", &[])))).unwrap();
        bench.mark("2026-01", "1.40").unwrap();
        assert!(!watch());
        let later = backup();
        for sql in [
            "DELETE FROM audit",
            "INSERT INTO audit SELECT * FROM earlier",
            "DELETE FROM credits",
            "INSERT INTO credits SELECT * FROM earlier_credits",
            "DELETE FROM published",
        ] {
            ledger.sql(sql);
        }
        assert!(watch() && watch());
        assert!(bench.problem().is_some_and(|problem| problem.contains("has lost")));
        bench.credit(&request(&id, Some(("0.10", &[])))).unwrap_err();
        let (rows, header) = if is_newer { later } else { earlier };
        put_back(ledger, &rows);
        let at = (bench.clock(), &bench.operator.entropy);
        block_on(own_rows::end(store, ledger, at, &header)).unwrap();
        assert!(!watch() && bench.problem().is_none());
        assert_eq!(bench.credits_of(&id).len(), if is_newer { 3 } else { 2 });
        let refused = bench.mark("2026-01", "1.40").unwrap_err().to_string();
        assert!(refused.contains("is already marked as paid"), "KV has the payment: {refused}");
    }
}

/// Sets the table back to how it was when a temporary copy of it was made.
fn set_back(ledger: &SqliteLedger, table: &str) {
    ledger.sql(&format!("DELETE FROM {table}"));
    ledger.sql(&format!("INSERT INTO {table} SELECT * FROM earlier_{table}"));
}

/// Workers KV has tombstones of what was removed. So a payment that was undone is not paid again, and a unit that was removed
/// from a team does not belong to it again, although the rows of before are back. Each is a finding. If the cron has not
/// looked at the audit log since, a copy that is newer than its row shows that the database was set back.
#[test]
fn what_was_removed_stays_removed_in_a_database_that_was_set_back() {
    for (has_backup, has_looked) in [(false, true), (true, true), (false, false), (true, false)] {
        let (bench, _) = full();
        let (store, ledger) = (bench.store(), &bench.ledger);
        let author = || bench.operator.author();
        let units = ["unit_dev".to_owned()];
        block_on(teams::add(store, ledger, &author(), "crew", &units)).unwrap();
        bench.mark("2026-01", "1.50").unwrap();
        let watch = || block_on(epoch::watch(store, ledger, &bench.operator.entropy)).unwrap();
        assert!(!watch());
        for table in ["audit", "published"] {
            ledger.sql(&format!("CREATE TEMP TABLE earlier_{table} AS SELECT * FROM {table}"));
        }
        let (rows, header) = (dump(ledger), bench.header().unwrap().unwrap());
        bench.clock().0.set(bench.clock().0.get() + 60_000);
        block_on(teams::remove(store, ledger, &author(), "crew", &units)).unwrap();
        let january = ScopeMonth { scope: scope("unit_dev", Mode::Live), month: january() };
        block_on(payments::undo(store, ledger, &author(), &january, None)).unwrap();
        assert!(!has_looked || !watch());
        ["audit", "published"].iter().for_each(|table| set_back(ledger, table));
        if !has_looked {
            assert!(!watch());
            bench.clock().0.set(bench.clock().0.get() + 10 * 60_000);
            let at = (bench.clock(), &bench.operator.entropy);
            let compared = block_on(epoch::republish(store, ledger, at, 10)).unwrap();
            assert_eq!(compared, Republished { confirmed: 2, written: 0, unknown: 2 });
        }
        let kept = "SELECT name FROM published
WHERE content IS NOT NULL AND name NOT LIKE 'member:team_dev:%' ORDER BY name";
        let both = ["member:crew:unit_dev", "settlement:live:unit_dev:2026-01"];
        assert_eq!(ledger.sql(kept), both);
        assert!(watch() && bench.mark("2026-01", "1.50").is_err());
        match has_backup {
            true => {
                put_back(ledger, &rows);
                let at = (bench.clock(), &bench.operator.entropy);
                block_on(own_rows::end(store, ledger, at, &header)).unwrap();
            }
            false => bench.accept().unwrap(),
        }
        assert_eq!(ledger.sql(kept), [""; 0]);
        let found = "SELECT json_array(kind, name) FROM findings ORDER BY name";
        assert_eq!(ledger.sql(found), both.map(|name| json!(["copy", name]).to_string()));
        block_on(republish(store, ledger, bench.clock(), 10)).unwrap();
        let is_removed = |name| store.value(name).unwrap().starts_with(r#"{"removed":true"#);
        assert!(both.into_iter().all(is_removed));
        bench.mark("2026-01", "1.50").unwrap();
        bench.ledger.reconcile(store, bench.clock().0.get());
        assert_eq!(ledger.sql(found).len(), 2, "a pass keeps them");
    }
}

/// After a reset, Workers KV has a newer payment than the database.
#[test]
fn a_newer_payment_in_workers_kv_replaces_an_older_row() {
    let (bench, _) = full();
    bench.mark("2026-01", "1.50").unwrap();
    bench.ledger.sql("UPDATE published SET at = at - 5, content = '{\"by\":\"older\"}'");
    block_on(adopt(bench.store(), &bench.ledger, NOW_MS)).unwrap();
    let by = bench.ledger.sql("SELECT content ->> '$.by' FROM published");
    assert!(!by.is_empty() && !by.contains(&"older".to_owned()), "{by:?}");
    bench.ledger.sql("UPDATE published SET at = at + 5, content = '{\"by\":\"newer\"}'");
    block_on(adopt(bench.store(), &bench.ledger, NOW_MS)).unwrap();
    assert!(
        bench.ledger.sql("SELECT content ->> '$.by' FROM published").iter().all(|by| by == "newer")
    );
}

#[test]
fn updates_that_only_timelines_show_are_findings() {
    let (bench, _) = full();
    let known = bench.ledger.sql("SELECT id FROM updates WHERE state = 'published'").concat();
    bench.lose();
    bench.accept().unwrap();
    let found = bench.ledger.sql("SELECT json_array(kind, name, detail) FROM findings");
    let name = bench.store().names().into_iter().find(|name| name.starts_with("updates:")).unwrap();
    assert_eq!(found, [json!(["update", name, known]).to_string()]);
    bench.ledger.reconcile(bench.store(), bench.clock().0.get());
    assert_eq!(bench.ledger.sql("SELECT count(*) FROM findings"), ["1"], "a pass keeps it");
}

#[test]
fn a_new_database_counts_as_lost_after_a_backup_without_rows() {
    let (bench, _) = full();
    bench.store().remove("epoch");
    bench.lose();
    let end = || {
        let entropy = &bench.operator.entropy;
        let at = (bench.clock(), entropy);
        block_on(own_rows::end_without(bench.store(), &bench.ledger, at)).unwrap()
    };
    assert!(end() && end());
    bench.fulfil().unwrap_err();
    bench.accept().unwrap();
    assert!(!end());
}

/// A new database takes over which months the ledger of the backup kept. An existing database keeps its own
/// setting.
#[test]
fn a_restore_into_a_new_database_keeps_the_same_months() {
    let bench = bench();
    let kept = || bench.header().unwrap().unwrap().kept_from;
    let header = OwnRowsHeader { epoch: None, kept_from: NOW_MS };
    block_on(own_rows::begin(bench.store(), &bench.ledger, &header)).unwrap();
    assert_eq!(kept(), january().span_ms().unwrap().0);
    let all =
        Statement { sql: "UPDATE reconciliation SET kept_from = 0", parameter: String::new() };
    block_on(bench.ledger.run(&[all])).unwrap();
    bench.fulfil().unwrap();
    block_on(own_rows::begin(bench.store(), &bench.ledger, &header)).unwrap();
    assert_eq!(kept(), 0);
}
