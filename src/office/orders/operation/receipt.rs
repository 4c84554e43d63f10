use super::parts::NONE;
use crate::office::orders::rule::{Erased, NotErased, PersonStep};
use crate::office::shared::operation::facts::Fact;
use crate::office::shared::operation::listing::Listing;
use crate::office::shared::operation::table::paragraphs;
use crate::office::shared::rule::delays::SHOWN_SECONDS;
use crate::pledges::scope::Scope;
use serde::{Deserialize, Serialize};

pub(super) const NOTHING_ERASED: &str = "nothing was erased";
pub(super) const PERMANENT: &str = "The recipient's details and all texts are deleted. This cannot be undone. Offerings, quantities, \
     times and the charge are kept for accounting. Backups and the shop's own systems still have the data.";

pub(super) fn after() -> String {
    format!(
        "Amounts, offerings, times and charge are kept. The API and timelines show the change within about \
         {SHOWN_SECONDS} s. Backups and the shop's own systems still have the data."
    )
}

/// The result of erasing a person's transactions. It does not contain the person's address.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Receipt {
    by: String,
    transactions: Vec<Line>,
    checked: usize,
    /// Number of kept orders of shop systems that were deleted.
    received: usize,
    pub damaged: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    complete_up_to: Option<Option<String>>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    id: String,
    #[serde(flatten)]
    scope: Scope,
    erased: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl Receipt {
    pub fn new(by: String, complete_up_to: Option<Option<String>>) -> Self {
        Receipt {
            by,
            transactions: Vec::new(),
            checked: 0,
            received: 0,
            damaged: 0,
            complete_up_to,
        }
    }

    pub fn add(&mut self, step: PersonStep) {
        self.checked += step.listed;
        self.received += step.deleted;
        self.damaged += step.damaged.count;
        let erased = step.erased.into_iter().map(|Erased { id, scope, at, .. }| Line {
            id,
            scope,
            erased: Some(at),
            problem: None,
        });
        let refused = step.refused.into_iter().map(|NotErased { id, scope, why }| Line {
            id,
            scope,
            erased: None,
            problem: Some(why),
        });
        for line in erased.chain(refused) {
            if self.transactions.iter().all(|known| known.id != line.id) {
                self.transactions.push(line);
            }
        }
    }

    pub fn left(&self) -> usize {
        self.transactions.iter().filter(|line| line.erased.is_none()).count()
    }

    pub fn in_words(&self) -> String {
        let all = self.transactions.len();
        let received = match self.received {
            0 => String::new(),
            count => format!("Orders of shop systems that were kept, and are deleted: {count}."),
        };
        if all == 0 && self.received > 0 {
            return received;
        }
        if all == 0 {
            return format!("{NONE} Nothing was erased.");
        }
        let listing = Listing::new(
            &self.transactions,
            "",
            &[
                ("ID", &|it| Fact::transaction(&it.id)),
                ("Unit", &|it| Fact::unit(&it.scope.unit)),
                ("Mode", &|it| Fact::Mode(it.scope.mode)),
                ("Erased", &|it| Fact::time(it.erased.as_deref())),
                ("Problem", &|it| Fact::text(it.problem.as_deref())),
            ],
        );
        let again = match self.left() {
            0 => "",
            _ => " Erase the person again later to erase the others.",
        };
        let erased = format!(
            "{} of {all} are erased, by {}. {}{again}",
            all - self.left(),
            self.by,
            after(),
        );
        paragraphs([listing.in_lines(), erased, received])
    }
}
