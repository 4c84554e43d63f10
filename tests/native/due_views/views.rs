//! The pages and commands that show what is due, or that compare a sum with it.

use super::model::{Sums, name};
use super::{History, SHOPS, of};
use futures_executor::block_on;
use impact_pledge::office::orders::operation::exported;
use impact_pledge::office::orders::rule::{Export, LineKind, TransactionFilter};
use impact_pledge::office::payments::rule as payments;
use impact_pledge::office::payments::rule::due_months::{DueFilter, due_month, due_months};
use impact_pledge::office::payments::rule::dues::Due;
use impact_pledge::office::payments::rule::statement;
use impact_pledge::office::payments::rule::usage;
use impact_pledge::office::payments::rule::usage::MonthUsage;
use impact_pledge::office::system::rule::attention;
use impact_pledge::pledges::settlement::Month;
use std::collections::BTreeMap;
use support::stores::scope;

impl History {
    /// Compares all views with the model. Views that show one month are compared only for the months in
    /// `months`.
    pub fn compare(&self, months: &[usize]) {
        let (store, ledger) = (self.bench.store(), &self.bench.ledger);
        let expected = self.model.all();
        let all = block_on(usage::of_all(store, ledger, &TransactionFilter::default(), None));
        self.same("usage", &all.unwrap().months, expected.clone());
        for (shop, (mode, _)) in SHOPS.into_iter().enumerate() {
            let own = self.model.all().into_iter().filter(|((own, _), _)| *own == shop);
            let usage = block_on(usage::of_scope(store, ledger, &scope("unit_dev", mode))).unwrap();
            self.same("usage of a shop", &usage.months, own.collect());
        }
        self.compare_lists();
        for month in months {
            self.compare_month(*month);
        }
    }

    /// Compares the lists of ended months with the model, page by page, and the number of unpaid shops on *Home*.
    fn compare_lists(&self) {
        let (store, ledger, now_ms) =
            (self.bench.store(), &self.bench.ledger, self.bench.clock().0.get());
        let ended =
            |(_, month): &(usize, usize)| *month < self.model.now && *month >= self.model.kept_from;
        let is_paid = [None, Some(true), Some(false)][self.random.below(3)];
        let filter = DueFilter { is_paid, ..DueFilter::default() };
        let (mut listed, mut after) = (Vec::new(), None);
        loop {
            let page = due_months(store, ledger, now_ms, &filter, after.as_ref(), 2);
            let page = block_on(page).unwrap();
            listed.extend(page.months);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        let is_wanted = |of: &(usize, usize)| {
            ended(of) && is_paid.is_none_or(|is| is == self.model.paid.contains_key(of))
        };
        let own = self.model.all().into_iter().filter(|(of, _)| is_wanted(of));
        self.same(&format!("payments {is_paid:?}"), &listed, own.collect());
        let owed = block_on(attention::unsettled(store, ledger, self.bench.clock())).unwrap();
        let owed: Vec<_> = owed.iter().map(|(month, count)| format!("{month} {count}")).collect();
        let live = self.model.dues(0).into_iter().rev();
        let open = live.filter(|(month, sums)| {
            ended(&(0, *month)) && !self.model.is_paid(0, *month) && sums.due() > 0
        });
        let open: Vec<_> = open.map(|(month, _)| format!("{} 1", name(month))).collect();
        assert_eq!(owed, open, "home: {self}");
    }

    fn compare_month(&self, month: usize) {
        if month < self.model.kept_from {
            return;
        }
        let (store, ledger, clock) = (self.bench.store(), &self.bench.ledger, self.bench.clock());
        let parsed = Month::parse(&name(month)).unwrap();
        let all = TransactionFilter::default();
        let used = usage::of_month(store, ledger, &all, parsed);
        let expected = self.model.all().into_iter().filter(|((_, own), _)| *own == month);
        let expected: BTreeMap<_, _> = expected.collect();
        self.same("usage of a month", &block_on(used).unwrap().months, expected.clone());
        for shop in 0..SHOPS.len() {
            let (of, sums) = (of(shop, month), expected.get(&(shop, month)));
            let due = block_on(due_month(store, ledger, &of)).unwrap();
            assert_eq!(due.sums.first().map(parts), sums.map(Sums::parts), "due month: {self}");
            let stated = block_on(statement::statement(store, ledger, clock, &of)).unwrap();
            let stated = stated.sums.first().map(|sum| parts(&sum.due));
            assert_eq!(stated, sums.map(Sums::parts), "statement: {self}");
            self.compare_check(shop, month, sums);
            self.compare_export(parsed, due, sums);
        }
    }

    /// Checks that exactly the amount due can be marked as paid.
    fn compare_check(&self, shop: usize, month: usize, sums: Option<&Sums>) {
        let Some(sums) = sums.filter(|_| self.model.markable(shop).contains(&month)) else {
            return;
        };
        let author = self.bench.operator.author();
        let check = |cents| {
            let payment = self.payment(shop, month, cents);
            block_on(payments::check(self.bench.store(), &self.bench.ledger, &author, &payment))
        };
        let checked = check(sums.due());
        checked.map_err(|error| format!("check: {error}: {self}")).unwrap();
        assert!(check(sums.due() + 1).is_err(), "check of more: {self}");
    }

    /// Checks that the lines of the exported CSV file add up to what is due.
    fn compare_export(&self, month: Month, usage: MonthUsage, sums: Option<&Sums>) {
        let (store, ledger) = (self.bench.store(), &self.bench.ledger);
        let mut export = Export::new(store, ledger, month, &[usage]);
        let lines = std::iter::from_fn(|| block_on(export.next()).unwrap()).flatten();
        let lines: Vec<_> = lines.collect();
        let amounts = lines.iter().filter_map(|line| line.amount.as_deref());
        let cents: i64 = amounts.map(|text| text.replace('.', "").parse::<i64>().unwrap()).sum();
        assert_eq!(cents, sums.map_or(0, Sums::due), "export: {self}: {lines:?}");
        let mut orders = lines.iter().filter(|line| line.kind == LineKind::Transaction);
        assert!(orders.all(|line| line.unit_price.as_deref() == Some("0.50")), "{lines:?}");
        assert!(!exported(&lines).csv().contains("'-"), "a negative amount is a number");
    }

    #[track_caller]
    fn same(&self, view: &str, months: &[MonthUsage], expected: BTreeMap<(usize, usize), Sums>) {
        let found = months.iter().flat_map(|usage| {
            let mode = usage.of.scope.mode.name();
            usage.sums.iter().map(move |due| {
                (format!("{mode} {}", usage.of.month), (parts(due), usage.settled.is_some()))
            })
        });
        let found: BTreeMap<_, _> = found.collect();
        let expected = expected.iter().map(|(of, sums)| {
            let key = format!("{} {}", SHOPS[of.0].0.name(), name(of.1));
            (key, (sums.parts(), self.model.paid.contains_key(of)))
        });
        assert_eq!(found, expected.collect::<BTreeMap<_, _>>(), "{view}: {self}");
    }
}

fn parts(due: &Due) -> [String; 4] {
    [&due.amount, &due.credited, &due.carried, &due.due].map(String::clone)
}
