//! The page on which people switch the e-mails to them on and off. For operators, it also has the log.

use super::operation::listing;
use super::rows::notices::{LogQuery, NoticeKind};
use super::rule as notices;
use super::rule::{KEPT_DAYS, switched_off};
use crate::office::people::rule::normal_address;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::listing::table;
use crate::office::shared::page::refusal::Result;
use crate::office::shared::page::response::Page;
use crate::office::shared::page::view::hidden;
use crate::office::shared::page::{link, view};
use crate::office::shared::rule::error::OperatorError;
use crate::office::shared::rule::roles::Permission;
use crate::pledges::service::{Clock, Entropy};
use maud::{Markup, html};
use strum::EnumCount as _;

const PATH: &str = "/notices";
/// E-mails of the log on a page.
const LIMIT: usize = 100;

/// Shows which e-mails the person gets, and for operators the log. Ledger cost: 1 query, 2 for operators.
pub(crate) async fn notices<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    query: &Form,
) -> Result {
    let own = own(context).await?;
    let log = match context.may(Permission::Operate) {
        true => log(context, query.text("page").parse().unwrap_or(1)).await?,
        false => html! {},
    };
    Ok(Page::new("E-mails to you", html! { (own) (log) }))
}

async fn own<S, C: Clock, E: Entropy>(context: &PageContext<'_, S, C, E>) -> Result<Markup> {
    let address = normal_address(context.author.by());
    let off = switched_off(context.ledger, Some(&address), NoticeKind::COUNT).await;
    let off = off.map_err(OperatorError::from)?;
    let kinds = NoticeKind::of(&context.access.roles, &context.access.memberships);
    let rows: Vec<_> = kinds
        .into_iter()
        .map(|kind| {
            let is_on = off.iter().all(|of| of.kind != kind);
            vec![
                html! { (kind.label()) br; small { (kind.about()) "." } },
                html! { @if is_on { span.tag { "On" } } @else { span.tag.note { "Off" } } },
                form(context, kind, is_on),
            ]
        })
        .collect();
    Ok(html! {
        p.lead {
            "E-mails to " bdi { (address) } ". You get at most one e-mail of each kind a day. Those about a month or its statements come once for each month."
        }
        @if !context.settings.notices.is_on() {
            (view::notice(&html! {
                "This dashboard sends no e-mails yet."
                @if context.may(Permission::Operate) { " " a href="/system" { "What is missing" } "." }
            }))
        }
        section { (view::table(&["E-mail", "State", "Change"], &rows, "Your role gets no e-mails.")) }
    })
}

fn form<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    kind: NoticeKind,
    is_on: bool,
) -> Markup {
    let (state, words) = if is_on { ("off", "Turn off") } else { ("on", "Turn on") };
    let fields = html! {
        (hidden("kind", kind.name()))
        (hidden("state", state))
        button.quiet aria-label={ (words) ": " (kind.label()) } { (words) }
    };
    context.form(PATH, &fields)
}

async fn log<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    page: usize,
) -> Result<Markup> {
    let skipped = page.saturating_sub(1).saturating_mul(LIMIT);
    let query = LogQuery { most: LIMIT + 1, skipped, ..LogQuery::default() };
    let found = notices::log(context.ledger, &query).await;
    let mut found = found.map_err(OperatorError::from)?;
    let has_more = found.len() > LIMIT;
    found.truncate(LIMIT);
    Ok(html! {
        section {
            h2 { "E-mails to all people" }
            p.soft { "The last " (KEPT_DAYS) " days, newest first." }
            (table(&listing(&found)))
            @if page > 1 || has_more {
                nav aria-label="More e-mails" {
                    ul {
                        @if page > 1 { li { a href=(of_page(page - 1)) { "← Newer" } } }
                        @if has_more { li { a href=(of_page(page + 1)) { "Older →" } } }
                    }
                }
            }
        }
    })
}

fn of_page(page: usize) -> String {
    link::with(PATH, &[("page", &page.to_string())])
}
