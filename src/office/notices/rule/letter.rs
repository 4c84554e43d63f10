//! Writes the e-mails, as plain text and as HTML with the same content.

use super::found::{Found, LASTING_MINUTES};
use crate::office::mails::rule::RECENT_DAYS;
use crate::office::shared::rule::month::month as in_words;
use maud::{DOCTYPE, Markup, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::collections::BTreeMap;

/// Maximum number of units that an e-mail lists.
const MAX_LISTED: usize = 20;
const SERVICE: &str = "Impact Pledge";

/// An e-mail without the addresses of sender and recipient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// The name of the sender.
    pub sender: &'static str,
    /// The subject: one line.
    pub subject: String,
    pub text: String,
    pub html: String,
    /// The address of the page that switches the e-mails off.
    pub switch: String,
}

/// The dashboard, as e-mails name it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site<'s> {
    /// The origin, without a slash at its end.
    pub origin: &'s str,
    /// The environment's name; empty if it is not set.
    pub environment: &'s str,
}

struct Content {
    subject: String,
    sentence: String,
    /// The units, each with its link.
    shops: Vec<(String, String)>,
    /// Number of units that are not listed.
    others: usize,
    /// The words and the path of the main link.
    link: (&'static str, String),
}

/// Writes an e-mail to a person. `own` are the units that the person may see, of those that it is about; `names` are the units' names
/// by ID.
pub(super) fn letter(
    found: &Found,
    own: &[String],
    names: &BTreeMap<String, String>,
    site: Site<'_>,
) -> Letter {
    let content = content(found, own, names);
    let environment = match site.environment {
        "" | "production" => String::new(),
        other => [" (", other, ")"].concat(),
    };
    let switch = [site.origin, "/notices"].concat();
    Letter {
        sender: SERVICE,
        subject: [SERVICE, &environment, ": ", &content.subject].concat(),
        text: text(&content, site.origin, &switch),
        html: document(&content, site.origin, &switch).into_string(),
        switch,
    }
}

fn content(found: &Found, own: &[String], names: &BTreeMap<String, String>) -> Content {
    let listed = |line: &dyn Fn(&str, &str) -> (String, String)| {
        let of = |unit: &String| line(unit, names.get(unit).unwrap_or(unit));
        own.iter().take(MAX_LISTED).map(of).collect::<Vec<_>>()
    };
    let others = own.len().saturating_sub(MAX_LISTED);
    let home = ("Open the dashboard", "/".to_owned());
    match found {
        Found::Month { month, count, sums, has_more } => {
            let sums: Vec<_> =
                sums.iter().map(|(currency, sum)| [sum, " ", currency].concat()).collect();
            let (number, sums) =
                (counted(*count, *has_more, ["unit owes", "units owe"]), sums.join(", "));
            let words = in_words(*month);
            Content {
                subject: format!("{words} can be settled"),
                sentence: format!("{words} has ended. For this month, {number} {sums}."),
                shops: Vec::new(),
                others: 0,
                link: ("Open the payments", format!("/payments?mode=live&month={month}")),
            }
        }
        Found::Statements { month, .. } => {
            let statement = |unit: &str, name: &str| {
                let path = format!("/units/{}/statement?mode=live&month={month}", encoded(unit));
                (name.to_owned(), path)
            };
            let words = in_words(*month);
            Content {
                subject: format!("Statement for {words}"),
                sentence: format!("The statement for {words} is ready."),
                shops: listed(&statement),
                others,
                link: home,
            }
        }
        Found::Bounces { day, units } => {
            let orders = |unit: &str, name: &str| {
                let count = units.get(unit).copied().unwrap_or_default();
                let path = format!("/orders?mode=live&unit={}", encoded(unit));
                (format!("{name}: {count}"), path)
            };
            let count = own.iter().filter_map(|unit| units.get(unit)).sum();
            let number = notifications(count, false);
            Content {
                subject: format!("{number} to your buyers failed"),
                sentence: format!(
                    "On {day} (UTC), {number} to your buyers failed, or had to wait for another day. The page of \
                     each transaction says why."
                ),
                shops: listed(&orders),
                others,
                link: home,
            }
        }
        Found::Failures { count, has_more } => {
            let number = notifications(*count, *has_more);
            Content {
                subject: format!("{number} failed"),
                sentence: format!(
                    "In the last {RECENT_DAYS} days, {number} to buyers failed. They can be sent again, once the cause is corrected."
                ),
                shops: Vec::new(),
                others: 0,
                link: ("Open the failures", "/mails".to_owned()),
            }
        }
        Found::Ledger { problem } => Content {
            subject: "The ledger has a problem".to_owned(),
            sentence: format!(
                "For at least {LASTING_MINUTES} minutes, the ledger has had this problem: {}.",
                problem.replace('`', "\"").trim_end_matches('.')
            ),
            shops: Vec::new(),
            others: 0,
            link: ("Open the page System", "/system".to_owned()),
        },
    }
}

fn notifications(count: u64, has_more: bool) -> String {
    counted(count, has_more, ["e-mail or message", "e-mails or messages"])
}

/// Returns words such as `1 unit` or `at least 100 units`.
fn counted(count: u64, has_more: bool, [one, several]: [&str; 2]) -> String {
    let words = if count == 1 { one } else { several };
    format!("{}{count} {words}", if has_more { "at least " } else { "" })
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

const WHY: &str = "You get this e-mail because you have access to the dashboard of Impact Pledge.";

fn text(content: &Content, origin: &str, switch: &str) -> String {
    let Content { sentence, shops, others, link: (words, path), .. } = content;
    let mut lines = vec![sentence.clone(), String::new()];
    for (shop, path) in shops {
        lines.push(format!("{shop}\n{origin}{path}\n"));
    }
    if *others > 0 {
        lines.push(format!("And {others} more units.\n"));
    }
    lines.push(format!("{words}: {origin}{path}\n"));
    lines.push(format!("--\n{WHY}\nChange which e-mails you get: {switch}\n"));
    lines.join("\n")
}

const BODY: &str = "margin:0;padding:24px 16px;font-family:system-ui,-apple-system,'Segoe UI',sans-serif;font-size:16px;\
                    line-height:1.5";
const FOOT: &str = "margin:32px 0 0;font-size:14px";

fn document(content: &Content, origin: &str, switch: &str) -> Markup {
    let Content { subject, sentence, shops, others, link: (words, path) } = content;
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (subject) }
            }
            body style=(BODY) {
                h1 style="margin:0 0 16px;font-size:20px" { (subject) }
                p { (sentence) }
                @if !shops.is_empty() {
                    ul { @for (shop, path) in shops { li { a href={ (origin) (path) } { bdi { (shop) } } } } }
                }
                @if *others > 0 { p { "And " (others) " more units." } }
                p { a href={ (origin) (path) } { (words) } }
                p style=(FOOT) { (WHY) " " a href=(switch) { "Change which e-mails you get" } "." }
            }
        }
    }
}
