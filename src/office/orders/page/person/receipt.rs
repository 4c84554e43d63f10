//! The receipt of an erasure, which the forms of its steps carry.

use super::form::{Asked, MAX_LINES, lines, whose};
use crate::office::orders::rule::{ERASABLE_MINUTES, ErasureCursor, PersonStep};
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::view;
use crate::office::shared::rule::delays::SHOWN_SECONDS;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::ReceivedKey;
use crate::pledges::time::parse_ms;
use crate::pledges::types::TransactionId;
use maud::{Markup, html};

/// The results of all steps of an erasure so far. The form passes them on to the next step.
pub(super) struct Receipt {
    /// One line for each erased transaction: its ID, and the time of its erasure.
    erased: Vec<String>,
    pub(super) left: Vec<String>,
}

impl Receipt {
    pub(super) fn new(form: &Form, step: &PersonStep) -> Self {
        let earlier = |name: &str| lines(form.text(name)).collect::<Vec<_>>();
        let now = step.erased.iter().map(|erased| format!("{} {}", erased.id, erased.at));
        let mut erased: Vec<_> =
            earlier("erased").into_iter().filter_map(read).chain(now).collect();
        let now = step.refused.iter().map(|refused| refused.id.clone());
        let mut left: Vec<_> = earlier("left").into_iter().filter_map(id).chain(now).collect();
        for lines in [&mut erased, &mut left] {
            lines.sort();
            lines.dedup();
            lines.truncate(MAX_LINES);
        }
        Receipt { erased, left }
    }

    fn text(&self, units: &[String], by: &str, now: &str) -> String {
        let place = match units {
            [] => "what shop systems have sent".to_owned(),
            [unit] => format!("the unit {unit}"),
            units => format!("the units {}", units.join(", ")),
        };
        let mut text = format!(
            "Erasure of one e-mail address in {place}\nErased: {}\nNot erased: {}\nBy {by}, finished \
             {now}\n",
            self.erased.len(),
            self.left.len(),
        );
        let left = self.left.iter().map(|id| format!("{id} not erased"));
        for line in self.erased.iter().cloned().chain(left) {
            text += "\n";
            text += &line;
        }
        text
    }
}

/// Parses a line from the receipt of an earlier step. Returns `None` if the line is not a transaction's ID
/// and a time.
fn read(line: &str) -> Option<String> {
    let (id, at) = line.split_once(' ')?;
    (TransactionId::parse(id).is_some() && parse_ms(at).is_some()).then(|| line.to_owned())
}

/// Parses the ID of a transaction, or of a delivery of a shop system.
fn id(line: &str) -> Option<String> {
    let is_id = TransactionId::parse(line).is_some() || ReceivedKey::from_id(line).is_some();
    is_id.then(|| line.to_owned())
}

pub(super) fn go_on<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    asked: Asked<'_>,
    units: &[String],
    next: &ErasureCursor,
    receipt: &Receipt,
) -> Markup {
    let content = html! {
        (whose(asked, units))
        (view::hidden("confirm", asked.word()))
        (view::hidden("at", &next.to_string()))
        (view::hidden("erased", &receipt.erased.join("\n")))
        (view::hidden("left", &receipt.left.join("\n")))
        button.alarm { "Continue erasing" }
    };
    html! {
        p { "Transactions erased so far: " strong { (receipt.erased.len()) } ". There are more records to check." }
        (context.form("/person", &content))
    }
}

pub(super) fn erased_all(receipt: &Receipt, units: &[String]) -> Markup {
    view::done(&html! {
        p {
            "Transactions erased: " strong { (receipt.erased.len()) } ". "
            @match units.len() {
                0 => {}
                1 => "All records of the unit were checked.",
                count => { "All records of the " (count) " units were checked." }
            }
        }
        @if !receipt.left.is_empty() {
            p.problem {
                "Transactions and orders that could not be erased yet: " (receipt.left.len()) ". "
                a href="/person" { "Start again" } " in " (ERASABLE_MINUTES) " minutes."
            }
        }
    })
}

pub(super) fn end(receipt: &Receipt, units: &[String], by: &str, now: &str) -> Markup {
    html! {
        section {
            h2 { "Receipt" }
            p {
                "Copy this receipt. It does not contain the e-mail address. If a form was sent twice, or more than "
                (MAX_LINES) " transactions were erased, the receipt may lack some; the audit log has them all."
            }
            (view::copyable_lines(&receipt.text(units, by, now)))
        }
        p {
            small { "Lists and pages may still show erased data for about " (SHOWN_SECONDS) " s. Backups and the shop's own systems still have the data." }
        }
    }
}
