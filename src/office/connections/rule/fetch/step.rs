//! Pages of a list of orders, oldest change first.
//!
//! A page begins at a time, not at a number: while pages are read, orders change and move to the end of the list, and would
//! shift others from a page that was not read to one that was.

/// What to ask for next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Only what was changed at this time or later, in milliseconds since 1970.
    pub(super) since_ms: u64,
    /// Only what was changed before this time.
    pub(super) until_ms: Option<u64>,
    pub(super) page: Page,
    /// Maximum number of orders.
    pub(super) most: usize,
}

/// A page of the orders since a time. Pages after the first are only needed if all orders of a page were changed in the
/// same second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Page {
    Number(u32),
    /// What the system calls the page.
    Name(String),
}

impl Page {
    pub(super) const FIRST: Page = Page::Number(1);
}

/// An order, or an event about one, as an API returned it.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// When it was changed last, in milliseconds since 1970.
    pub(super) changed_ms: u64,
    pub(super) body: Vec<u8>,
}

/// A page that was read.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    /// Oldest change first.
    pub(super) items: Vec<Item>,
    /// What to ask for next; `None` at the end of the list.
    pub(super) next: Option<Step>,
}

const SECOND_MS: u64 = 1_000;

impl Step {
    /// Returns the page with these items, and the step after it. `name` is the page after this one.
    pub(super) fn listed(&self, items: Vec<Item>, name: Option<Page>) -> Listed {
        let last = items.last().filter(|_| items.len() >= self.most);
        let next = last.and_then(|last| {
            let since_ms = last.changed_ms.saturating_sub(SECOND_MS); // others of this second may follow
            match since_ms > self.since_ms {
                true => Some(Step { since_ms, page: Page::FIRST, ..self.clone() }),
                false => name.map(|page| Step { page, ..self.clone() }),
            }
        });
        Listed { items, next }
    }

    /// Returns the number of this page.
    pub(super) fn number(&self) -> u32 {
        if let Page::Number(number) = self.page { number } else { 1 }
    }

    /// Returns the number of the page after this one.
    pub(super) fn next_number(&self) -> Option<Page> {
        self.number().checked_add(1).map(Page::Number)
    }
}
