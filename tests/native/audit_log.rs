//! Tests the sentences of the audit log and its filters.

use futures_executor::block_on;
use impact_pledge::office::audit::rule as audit;
use impact_pledge::office::audit::rule::{
    AN_OPERATOR, AuditFilter, AuditPage, Author, Change, GROUPS, MemberChange, OwnPlaces, Subject,
};
use impact_pledge::office::operations::Operation;
use impact_pledge::pledges::auth::KeyLevel;
use impact_pledge::pledges::scope::{Mode, Scope};
use impact_pledge::pledges::types::TransactionId;
use std::cell::Cell;
use strum::IntoEnumIterator as _;
use support::ledger::SqliteLedger;
use support::memory::MemoryStore;
use support::service::{CountedEntropy, FixedClock, NOW_MS};

// ---- Sentences ----------------------------------------------------------------------------------

/// Operations that the audit log records under another command's name. Each row has the operation and the
/// recorded command.
const RECORDED_AS: [(&str, &str); 2] =
    [("transactions show", "transactions reveal"), ("updates draft", "updates add")];

#[test]
fn each_operation_that_is_recorded_has_a_sentence_and_a_group() {
    for spec in Operation::iter().map(Operation::spec).filter(|spec| spec.is_recorded) {
        let name = spec.full_name();
        let other = RECORDED_AS.iter().find(|(operation, _)| *operation == name);
        let recorded = other.map_or(&*name, |(_, recorded)| recorded);
        assert!(audit::is_known(recorded), "add a sentence for `{recorded}`");
        assert!(GROUPS.iter().any(|(group, _)| *group == spec.group), "add `{}`", spec.group);
    }
    assert!(!audit::is_known("keys") && !audit::is_known("keys destroy"));
}

#[test]
fn a_change_is_a_sentence() {
    let (unit, team) = (KeyLevel::Unit("shop".to_owned()), KeyLevel::Team("chain".to_owned()));
    let month = "settlement:live:a:b:2026-10";
    let id = TransactionId::from_bytes([1; 26]).to_string();
    let many: Vec<_> = (0..12).map(|number| format!("u{number}")).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    for (command, on, of, expected) in [
        ("keys create", &["k1", "shop"][..], Some(&unit), "created the key k1 of the unit shop"),
        ("keys create", &["k1", "shop"], None, "created the key k1"),
        (
            "keys rotate",
            &["k1", "k2"],
            Some(&team),
            "replaced the key k1 with the key k2 of the team chain",
        ),
        ("keys revoke", &["k1"], Some(&unit), "revoked the key k1 of the unit shop"),
        (
            "prices set",
            &["prices:live:2026-01-01T00:00:00.000Z"],
            None,
            "changed the prices for live keys",
        ),
        ("prices set", &["other"], None, "changed the other"),
        ("units add", &["a"], None, "created the unit a"),
        ("units add", &["a", "b"], None, "created the units a, b"),
        (
            "units add",
            &many,
            None,
            "created the units u0, u1, u2, u3, u4, u5, u6, u7, u8, u9 and 2 more",
        ),
        ("teams add", &["chain", "a"], None, "added the unit a to the team chain"),
        ("teams remove", &["chain", "a", "b"], None, "removed the units a, b from the team chain"),
        (
            "payments mark",
            &[month, "1.00 USD"],
            None,
            "marked 2026-10 of the unit a:b (live) as paid: 1.00 USD",
        ),
        ("payments undo", &[month], None, "marked 2026-10 of the unit a:b (live) as unpaid again"),
        ("emails resend", &[&id], None, &format!("sent the e-mail of the transaction {id} again")),
        (
            "ledger keep-from",
            &["2026-10"],
            None,
            "changed the first month that the ledger keeps: 2026-10",
        ),
        ("ledger rebuild", &["all"], None, "started a rebuild of the ledger"),
        (
            "ledger accept-loss",
            &[],
            None,
            "accepted that the ledger has lost people, credits, fulfilments or updates",
        ),
        ("coins mint", &["a", "b"], None, "ran coins mint on a, b"),
        ("coins mint", &[], None, "ran coins mint"),
        ("keys revoke", &[], None, "revoked the key ?"),
    ] {
        let on = on.iter().map(|&text| text.to_owned()).collect();
        let change =
            Change { command: command.to_owned(), on, of: of.cloned(), ..Change::default() };
        assert_eq!(change.plain_sentence(), expected);
    }
    let member = |member: &str, before: Option<&str>, after: Option<&str>| MemberChange {
        member: member.to_owned(),
        before: before.map(str::to_owned),
        after: after.map(str::to_owned),
    };
    let changed = vec![member("language", Some("de"), None), member("replyTo", None, None)];
    let (command, on) = ("units unset".to_owned(), vec!["a".to_owned()]);
    let change = Change { command, on, changed, ..Change::default() };
    let expected = "removed fields from the profile of the unit a (language: none, before: de; replyTo \
                    was changed)";
    assert_eq!(change.plain_sentence(), expected);
}

// ---- Filters ------------------------------------------------------------------------------------

struct Log {
    store: MemoryStore,
    ledger: SqliteLedger,
    clock: FixedClock,
    entropy: CountedEntropy,
}

impl Log {
    fn new() -> Self {
        let clock = FixedClock(Cell::new(NOW_MS));
        let (store, ledger) = (MemoryStore::default(), SqliteLedger::default());
        Log { store, ledger, clock, entropy: CountedEntropy::default() }
    }

    /// Records a change, one millisecond after the previous change.
    fn record(&self, by: &str, command: &str, subject: Subject) {
        self.clock.0.set(self.clock.0.get() + 1);
        let author = Author::new(by, &self.clock, &self.entropy).unwrap();
        block_on(author.record_subject(&self.store, command, subject)).unwrap();
    }

    fn page(&self, filter: &AuditFilter, next: Option<&str>, count: usize) -> AuditPage {
        block_on(audit::page(&self.store, &self.ledger, filter, next, count)).unwrap()
    }

    fn bring_in(&self) {
        block_on(audit::bring_in(&self.store, &self.ledger)).unwrap();
    }
}

fn on(ids: &[&str]) -> Subject {
    ids.iter().map(|&id| id.to_owned()).collect::<Vec<_>>().into()
}

#[test]
fn changes_are_found_by_person_command_shop_and_time() {
    let log = Log::new();
    let id = TransactionId::scope_prefix(&Scope { mode: Mode::Live, unit: "shop".to_owned() });
    log.record("anna@x.example", "units set", on(&["shop"]));
    log.record(
        "anna@x.example",
        "keys revoke",
        Subject::of(KeyLevel::Unit("shop".to_owned()), ["k1"]),
    );
    log.record("bo@x.example", "keys create", on(&["k2", "other"]));
    log.record("bo@x.example", "payments mark", on(&["settlement:live:shop:2026-01", "1 USD"]));
    log.record("Anna@x.example", "transactions erase", on(&[&format!("{id}abc")]));
    log.record("bo@x.example", "units set", on(&["shopping"]));
    log.record("bo@x.example", "teams add", on(&["chain", "shop"]));
    log.record(
        "cy@x.example",
        "prices change",
        on(&["prices:unit:live:shop:2026-01-01T00:00:00.000Z"]),
    );
    log.record("cy@x.example", "prices change", on(&["prices:live:2026-01-01T00:00:00.000Z"]));
    let text = |text: &str| Some(text.to_owned());
    let all = AuditFilter::default();
    for (filter, expected) in [
        (all.clone(), &[9, 8, 7, 6, 5, 4, 3, 2, 1][..]),
        (AuditFilter { by: text("anna"), ..all.clone() }, &[5, 2, 1]),
        (AuditFilter { by: text("ANNA@"), ..all.clone() }, &[5, 2, 1]),
        (AuditFilter { command: text("keys"), ..all.clone() }, &[3, 2]),
        (AuditFilter { command: text("key"), ..all.clone() }, &[]),
        (AuditFilter { command: text("units set"), ..all.clone() }, &[6, 1]),
        (AuditFilter { shop: text("shop"), ..all.clone() }, &[8, 7, 5, 4, 2, 1]),
        (AuditFilter { shop: text("chain"), ..all.clone() }, &[7]),
        (AuditFilter { since_ms: Some(NOW_MS + 6), ..all.clone() }, &[9, 8, 7, 6]),
        (AuditFilter { until_ms: Some(NOW_MS + 3), ..all.clone() }, &[2, 1]),
        (
            AuditFilter {
                by: text("bo"),
                shop: text("shop"),
                until_ms: Some(NOW_MS + 7),
                ..all.clone()
            },
            &[4],
        ),
    ] {
        for (count, is_brought_in) in [(50, false), (1, false), (50, true), (1, true)] {
            if is_brought_in {
                log.bring_in();
            }
            let (mut found, mut next) = (Vec::new(), None);
            for _ in 0..100 {
                let page = log.page(&filter, next.as_deref(), count);
                assert!(page.changes.len() <= count, "{filter:?}");
                found.extend(page.changes.into_iter().map(|change| change.at));
                next = page.next;
                if next.is_none() {
                    break;
                }
            }
            assert_eq!(next, None, "{filter:?}");
            let number = |at: &String| impact_pledge::pledges::time::parse_ms(at).unwrap() - NOW_MS;
            assert_eq!(
                found.iter().map(number).collect::<Vec<_>>(),
                expected,
                "{filter:?} {count}"
            );
        }
    }
}

#[test]
fn a_search_that_finds_nothing_ends_and_can_be_continued() {
    let log = Log::new();
    log.record("ada", "units add", on(&["wanted"]));
    (0..5_500).for_each(|number| log.record("bo", "units add", on(&[&number.to_string()])));
    let filter = AuditFilter { shop: Some("wanted".to_owned()), ..AuditFilter::default() };
    log.bring_in();
    let page = log.page(&filter, None, 50);
    assert!(page.changes.is_empty());
    let page = log.page(&filter, page.next.as_deref(), 50);
    assert_eq!((page.changes.len(), page.next), (1, None));
}

// ---- People of shops -----------------------------------------------------------------------------

fn levels(units: &[&str], teams: &[&str]) -> OwnPlaces {
    let units = units.iter().map(|&id| KeyLevel::Unit(id.to_owned()));
    OwnPlaces::new(units.chain(teams.iter().map(|&id| KeyLevel::Team(id.to_owned()))))
}

/// Each row has a change and two sentences about it. People of the unit `a` see the first. People of the team
/// `chain`, which has the units `a` and `b`, see the second.
#[test]
fn people_of_a_shop_see_what_concerns_their_own_units_and_teams() {
    let own = |unit: &str| {
        let scope = Scope { mode: Mode::Live, unit: unit.to_owned() };
        let id = TransactionId::from_bytes([1; 26]).to_string();
        let prefix = TransactionId::scope_prefix(&scope);
        [&*prefix, &id[prefix.len()..]].concat()
    };
    let ids = ["a", "b", "c"].map(own);
    let [a, b, c] = &ids;
    let of = |unit: &str, on: &[&str]| Subject::of(KeyLevel::Unit(unit.to_owned()), on.to_vec());
    let of_team = |on: &[&str]| Subject::of(KeyLevel::Team("chain".to_owned()), on.to_vec());
    let paid = "1.00 USD paid on 2026-01-02, invoice 17, marked by ada@x.example on 2026-01-03";
    let credit = "5.00 of 12.00 USD, quantities: 2 tree, booked in 2026-01: a swindler: again";
    let rows: Vec<(&str, Subject, Option<&str>, Option<&str>)> = vec![
        ("keys create", of("a", &["k1"]), Some("created the key k1 of the unit a"), Some("…")),
        ("keys create", of("c", &["k1"]), None, None),
        ("keys revoke", of_team(&["k1"]), None, Some("revoked the key k1 of the team chain")),
        // A team may have the ID of a unit.
        ("keys revoke", Subject::of(KeyLevel::Team("a".to_owned()), ["k1"]), None, None),
        (
            "units add",
            on(&["c", "a", "b"]),
            Some("created the unit a"),
            Some("created the units a, b"),
        ),
        ("units add", on(&["c"]), None, None),
        ("units set", on(&["a"]), Some("changed the profile of the unit a"), Some("…")),
        (
            "teams add",
            on(&["chain", "a", "b", "c"]),
            Some("added the unit a to a team"),
            Some("added the units a, b to the team chain"),
        ),
        ("teams add", on(&["other", "c"]), None, None),
        ("teams add", on(&["a", "c"]), None, None),
        ("teams remove", on(&["chain", "c"]), None, Some("removed a unit from the team chain")),
        (
            "payments mark",
            on(&["settlement:live:a:2026-01", paid]),
            Some(
                "marked 2026-01 of the unit a (live) as paid: 1.00 USD paid on 2026-01-02, invoice 17",
            ),
            Some("…"),
        ),
        ("payments mark", on(&["settlement:live:c:2026-01", paid]), None, None),
        (
            "credits add",
            of("a", &[a, credit]),
            Some(
                "credited the transaction A: 5.00 of 12.00 USD, quantities: 2 tree, booked in 2026-01",
            ),
            Some("…"),
        ),
        ("credits add", of("c", &[c, credit]), None, None),
        (
            "transactions reveal",
            on(&[a]),
            Some("viewed the unmasked data of the transaction A"),
            Some("…"),
        ),
        ("transactions erase", on(&[c]), None, None),
        (
            "emails resend",
            on(&[c, a, b]),
            Some("sent the e-mail of the transaction A again"),
            Some("sent the e-mail of the transactions A, B again"),
        ),
        ("emails resend", on(&[c]), None, None),
        (
            "prices change",
            on(&["prices:unit:live:a:2026-01-01T00:00:00.000Z"]),
            Some("changed the prices for live keys of the unit a"),
            Some("…"),
        ),
        ("prices change", on(&["prices:unit:live:c:2026-01-01T00:00:00.000Z"]), None, None),
        ("prices set", on(&["prices:live:2026-01-01T00:00:00.000Z"]), None, None),
        (
            "people add",
            of("a", &["x@a.example", "viewer"]),
            Some("added a person of the unit a: x@a.example, viewer"),
            Some("…"),
        ),
        (
            "people remove",
            of_team(&["x@a.example"]),
            None,
            Some("removed a person of the team chain: x@a.example"),
        ),
        ("fulfilments add", on(&["a", "3 tree"]), None, None),
        ("ledger rebuild", on(&["all"]), None, None),
        ("coins mint", of("a", &["a"]), None, None),
        ("coins mint", on(&["a"]), None, None),
        ("keys revoke", on(&[]), None, None),
    ];
    let shown = |text: String| text.replace(a, "A").replace(b, "B").replace(c, "C");
    let log = Log::new();
    for (command, subject, ..) in &rows {
        log.record("ada@x.example", command, subject.clone());
    }
    for is_brought_in in [false, true] {
        if is_brought_in {
            log.bring_in();
        }
        for (own, is_team) in
            [(levels(&["a"], &[]), false), (levels(&["a", "b"], &["chain"]), true)]
        {
            let expected = rows.iter().rev().filter_map(|(_, _, unit, team)| match team {
                Some(text) if is_team && *text != "…" => Some(*text),
                None if is_team => None,
                _ => *unit,
            });
            let filter = AuditFilter { own: Some(own), ..AuditFilter::default() };
            let page = log.page(&filter, None, 100);
            assert_eq!((page.damaged, &page.next), (0, &None));
            let found = page.changes.iter().map(|change| shown(change.plain_sentence()));
            assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "{is_brought_in}");
            for change in &page.changes {
                assert_eq!(&*change.by, AN_OPERATOR, "{change:?}");
            }
        }
    }
}

#[test]
fn people_of_shops_are_named_and_operators_are_not() {
    let log = Log::new();
    let shop = |by: &str, is_of_shop: bool| {
        log.clock.0.set(log.clock.0.get() + 1);
        let author = Author::new(by, &log.clock, &log.entropy).unwrap().with_shop(is_of_shop);
        let subject = Subject::of(KeyLevel::Unit("a".to_owned()), ["k1"]);
        block_on(author.record_subject(&log.store, "keys revoke", subject)).unwrap();
    };
    shop("ada@operators.example", false);
    shop("eva@shop.example", true);
    let found = |own: Option<OwnPlaces>, by: &str| {
        let filter = AuditFilter { own, by: Some(by.to_owned()), ..AuditFilter::default() };
        let changes = log.page(&filter, None, 50).changes;
        changes.into_iter().map(|change| change.by).collect::<Vec<_>>()
    };
    let own = || Some(levels(&["a"], &[]));
    assert_eq!(found(own(), "e"), ["eva@shop.example", AN_OPERATOR]);
    assert_eq!(found(own(), "operators"), [""; 0], "an address that is not shown is not found");
    assert_eq!(found(own(), "an operator"), [AN_OPERATOR]);
    assert_eq!(found(own(), "eva"), ["eva@shop.example"]);
    assert_eq!(found(None, "operators"), ["ada@operators.example"]);
}

/// A search does not count unreadable entries of other shops.
#[test]
fn the_search_of_a_shop_is_bounded_and_can_be_continued() {
    let log = Log::new();
    log.record("ada", "units set", on(&["wanted"]));
    for number in 0..5_500 {
        let subject = Subject::of(KeyLevel::Unit(number.to_string()), ["k1"]);
        log.record("bo", "keys revoke", subject);
    }
    log.store.keep("audit:8230139999999:0000000000000000", b"canary", b"null");
    log.bring_in();
    let filter = AuditFilter { own: Some(levels(&["wanted"], &[])), ..AuditFilter::default() };
    let page = log.page(&filter, None, 50);
    assert_eq!((page.changes.len(), page.damaged), (0, 0));
    let page = log.page(&filter, page.next.as_deref(), 50);
    assert_eq!((page.changes.len(), page.damaged, page.next), (1, 0, None));
}
