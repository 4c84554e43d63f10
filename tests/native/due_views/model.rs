//! An independent model of what shops owe, in whole cents.

use std::collections::BTreeMap;

/// Returns the text of a month, which is counted from January 2026.
pub fn name(month: usize) -> String {
    format!("{}-{:02}", 2026 + month / 12, 1 + month % 12)
}

pub fn money(cents: i64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

#[derive(Clone, Default)]
pub struct Order {
    pub id: String,
    pub shop: usize,
    pub month: usize,
    pub cents: i64,
    /// The idempotency key of the order. With it and the number of trees, a test can repeat the create request.
    pub key: String,
    pub trees: usize,
    /// Whether the order was created after its month was paid, so that nobody was charged for the order.
    pub is_late: bool,
    pub is_gone: bool,
    pub credits: Vec<Credit>,
}

#[derive(Clone, Copy)]
pub struct Credit {
    order_month: usize,
    booked: usize,
    cents: i64,
}

impl Order {
    pub fn left(&self) -> i64 {
        self.cents - self.credits.iter().map(|credit| credit.cents).sum::<i64>()
    }
}

/// The sums of a month in cents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sums {
    amount: i64,
    credited: i64,
    carried: i64,
}

impl Sums {
    pub fn due(&self) -> i64 {
        (self.amount - self.credited - self.carried).max(0)
    }

    fn excess(&self) -> i64 {
        (self.credited + self.carried - self.amount).max(0)
    }

    pub fn parts(&self) -> [String; 4] {
        [self.amount, self.credited, self.carried, self.due()].map(money)
    }
}

#[derive(Default)]
pub struct Model {
    /// The current month, counted from January 2026.
    pub now: usize,
    pub kept_from: usize,
    pub orders: Vec<Order>,
    /// The sums with which months were paid, by shop and month.
    pub paid: BTreeMap<(usize, usize), Sums>,
}

impl Model {
    pub fn is_paid(&self, shop: usize, month: usize) -> bool {
        self.paid.contains_key(&(shop, month))
    }

    /// Whether an order was never charged, and the ledger still has the data that show this.
    pub fn is_uncharged(&self, index: usize) -> bool {
        let order = &self.orders[index];
        order.is_late && order.month >= self.kept_from && self.is_paid(order.shop, order.month)
    }

    /// Credits an order. Returns the month in which the credit is booked.
    pub fn credit(&mut self, index: usize, cents: i64) -> usize {
        let Order { shop, month, .. } = self.orders[index];
        let is_own = !self.is_paid(shop, month) || self.is_uncharged(index);
        let booked = if is_own { month } else { self.now };
        self.orders[index].credits.push(Credit { order_month: month, booked, cents });
        booked
    }

    pub fn mark(&mut self, shop: usize, month: usize, sums: Sums) {
        self.paid.insert((shop, month), sums);
        let own = self.orders.iter_mut().filter(|it| (it.shop, it.month) == (shop, month));
        own.for_each(|order| order.is_late = false);
    }

    pub fn undo(&mut self, shop: usize, month: usize) {
        self.paid.remove(&(shop, month));
    }

    /// Returns the months that can be marked as paid.
    pub fn markable(&self, shop: usize) -> Vec<usize> {
        let own = self.dues(shop).into_keys();
        let is_open = |month: &usize| *month >= self.kept_from && !self.is_paid(shop, *month);
        own.filter(|month| *month < self.now).filter(is_open).collect()
    }

    /// Returns the sums of all months of all shops.
    pub fn all(&self) -> BTreeMap<(usize, usize), Sums> {
        let of = |shop| self.dues(shop).into_iter().map(move |(month, sums)| ((shop, month), sums));
        (0..2).flat_map(of).collect()
    }

    /// Returns the sums of a shop's months. Leaves out months without orders, credits and payment, and unpaid
    /// months that the ledger does not keep.
    pub fn dues(&self, shop: usize) -> BTreeMap<usize, Sums> {
        let mut available = 0;
        let mut dues = BTreeMap::new();
        for month in 0..=self.now {
            let paid = self.paid.get(&(shop, month)).copied();
            let counted = self.counted(shop, month).filter(|_| month >= self.kept_from);
            let sums = match (paid, counted) {
                (Some(paid), _) if month < self.kept_from => paid,
                (None, None) => continue,
                (paid, counted) => {
                    let (amount, credited) = counted.unwrap_or_default();
                    let carried = paid.map_or(available, |paid| paid.carried.min(available));
                    Sums { amount, credited, carried }
                }
            };
            available = (available - sums.carried).max(0) + sums.excess();
            dues.insert(month, sums);
        }
        dues
    }

    /// Returns the charges and credits of a kept month; `None` if it has neither.
    fn counted(&self, shop: usize, month: usize) -> Option<(i64, i64)> {
        let own = || self.orders.iter().filter(move |order| order.shop == shop);
        let charged: Vec<_> =
            own().filter(|it| !it.is_gone && it.month == month).map(|it| it.cents).collect();
        let has_row = |order: &Order| !order.is_gone && order.month >= self.kept_from;
        let credited = own().flat_map(|order| {
            let counts = move |it: &&Credit| it.booked != it.order_month || has_row(order);
            order.credits.iter().filter(counts).filter(move |it| it.booked == month)
        });
        let credited: Vec<_> = credited.map(|credit| credit.cents).collect();
        let is_empty = charged.is_empty() && credited.is_empty();
        (!is_empty).then(|| (charged.iter().sum(), credited.iter().sum()))
    }
}
