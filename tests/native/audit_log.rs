//! Tests the sentences of the audit log and its filters.

use futures_executor::block_on;
use impact_pledge::auth::KeyLevel;
use impact_pledge::operations::Operation;
use impact_pledge::operator::audit::{
    self, AuditFilter, AuditPage, Author, Change, GROUPS, MemberChange, Subject,
};
use impact_pledge::pledge::TransactionId;
use impact_pledge::scope::{Mode, Scope};
use std::cell::Cell;
use strum::IntoEnumIterator as _;
use support::memory::MemoryStore;
use support::service::{CountedEntropy, FixedClock, NOW_MS};

// ---- Sentences ----------------------------------------------------------------------------------

/// Operations whose audit entries have another command name: the operation, and the command in the entry.
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
            "credits add (done)",
            &["audit:x", "t", "0.50 of 2.00 USD"],
            Some(&unit),
            "credited the transaction t: 0.50 of 2.00 USD",
        ),
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
            "changed the prices of live keys",
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
        (
            "units set (withdrawn)",
            &["a", "audit:1"],
            None,
            "changed the profile of the unit a (withdrawn: nothing was changed)",
        ),
        ("teams add", &["chain", "a"], None, "added the unit a to the team chain"),
        ("teams remove", &["chain", "a", "b"], None, "removed the units a, b from the team chain"),
        (
            "payments mark",
            &[month, "1.00 USD"],
            None,
            "marked 2026-10 of the unit a:b (live) as paid: 1.00 USD",
        ),
        ("payments undo", &[month], None, "undid the payment of 2026-10 of the unit a:b (live)"),
        ("emails resend", &[&id], None, &format!("sent the e-mail of the transaction {id} again")),
        (
            "ledger keep-from",
            &["2026-10"],
            None,
            "changed the first month that the ledger keeps: 2026-10",
        ),
        ("ledger rebuild", &["all"], None, "started a rebuild of the ledger"),
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
    let expected = "removed members of the profile of the unit a (language: none, before: de; replyTo was changed)";
    assert_eq!(change.plain_sentence(), expected);
}

// ---- Filters ------------------------------------------------------------------------------------

struct Log {
    store: MemoryStore,
    clock: FixedClock,
    entropy: CountedEntropy,
}

impl Log {
    fn new() -> Self {
        let clock = FixedClock(Cell::new(NOW_MS));
        Log { store: MemoryStore::default(), clock, entropy: CountedEntropy::default() }
    }

    /// Records a change, one millisecond after the one before.
    fn record(&self, by: &str, command: &str, subject: Subject) {
        self.clock.0.set(self.clock.0.get() + 1);
        let author = Author::new(by, &self.clock, &self.entropy).unwrap();
        block_on(author.record_subject(&self.store, command, subject)).unwrap();
    }

    fn page(&self, filter: &AuditFilter, next: Option<&str>, count: usize) -> AuditPage {
        block_on(audit::page(&self.store, filter, next, count)).unwrap()
    }
}

fn on(ids: &[&str]) -> Subject {
    ids.iter().map(|&id| id.to_owned()).collect::<Vec<_>>().into()
}

#[test]
fn changes_are_found_by_person_command_shop_and_time() {
    let log = Log::new();
    let id = TransactionId::shop_prefix(&Scope { mode: Mode::Live, unit: "shop".to_owned() });
    log.record("anna@x.example", "units set", on(&["shop"]));
    log.record(
        "anna@x.example",
        "keys revoke",
        Subject::of(KeyLevel::Unit("shop".to_owned()), ["k1"]),
    );
    log.record("bo@x.example", "keys create", on(&["k2", "other"]));
    log.record("bo@x.example", "payments mark", on(&["settlement:live:shop:2026-01", "1 USD"]));
    log.record("Anna@x.example", "transactions erase", on(&[&format!("{id}abc")]));
    log.record("bo@x.example", "units set (withdrawn)", on(&["shopping", "audit:1"]));
    log.record("bo@x.example", "teams add", on(&["chain", "shop"]));
    let text = |text: &str| Some(text.to_owned());
    let all = AuditFilter::default();
    for (filter, expected) in [
        (all.clone(), &[7, 6, 5, 4, 3, 2, 1][..]),
        (AuditFilter { by: text("anna"), ..all.clone() }, &[5, 2, 1]),
        (AuditFilter { by: text("ANNA@"), ..all.clone() }, &[5, 2, 1]),
        (AuditFilter { command: text("keys"), ..all.clone() }, &[3, 2]),
        (AuditFilter { command: text("key"), ..all.clone() }, &[]),
        (AuditFilter { command: text("units set"), ..all.clone() }, &[6, 1]),
        (AuditFilter { shop: text("shop"), ..all.clone() }, &[7, 5, 4, 2, 1]),
        (AuditFilter { shop: text("chain"), ..all.clone() }, &[7]),
        (AuditFilter { since_ms: Some(NOW_MS + 6), ..all.clone() }, &[7, 6]),
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
        for (length, count) in [(1_000, 50), (2, 50), (3, 1)] {
            log.store.set_page_length(length);
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
            let number = |at: &String| impact_pledge::time::parse_ms(at).unwrap() - NOW_MS;
            assert_eq!(
                found.iter().map(number).collect::<Vec<_>>(),
                expected,
                "{filter:?} {length}"
            );
        }
    }
}

#[test]
fn a_search_that_finds_nothing_ends_and_can_be_continued() {
    let log = Log::new();
    log.record("ada", "units add", on(&["wanted"]));
    (0..2_500).for_each(|number| log.record("bo", "units add", on(&[&number.to_string()])));
    let filter = AuditFilter { shop: Some("wanted".to_owned()), ..AuditFilter::default() };
    log.store.take_reads();
    let page = log.page(&filter, None, 50);
    assert!(page.changes.is_empty() && log.store.reads() <= 2_000);
    let page = log.page(&filter, page.next.as_deref(), 50);
    assert_eq!((page.changes.len(), page.next), (1, None));
}
