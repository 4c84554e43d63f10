use super::rule as audit;
use super::rule::AuditFilter;
use crate::office::shared::operation::call::{Answer, Call, Ports, Result};
use crate::office::shared::operation::facts::Fact;
use crate::office::shared::operation::listing::Listing;
use crate::office::shared::operation::spec::{Argument, Kind, Spec, text};
use crate::office::shared::operation::table::paragraphs;
use crate::pledges::time::parse_ms;
use serde::Deserialize;

pub const LIST: Spec = Spec::reads(
    "audit",
    "list",
    "list the entries of the audit log, newest first: who changed or revealed what, and when",
    &[
        Argument::option("limit", Kind::Number { least: 1, most: 1_000 }, "the largest number of rows to print")
            .or("50"),
        Argument::option(
            "after",
            text("cursor"),
            "the value of `next` from the previous page, to list older entries",
        ),
        Argument::option("who", text("text"), "only changes by people whose name contains this text"),
        Argument::option(
            "command",
            text("name"),
            "only changes by this command, such as `keys revoke`, or by this group of commands, such as `keys`",
        ),
        Argument::option("shop", text("id"), "only changes that concern this unit or team"),
        Argument::option("since", Kind::Time, "only changes at or after this time"),
        Argument::option("until", Kind::Time, "only changes before this time"),
    ],
)
.noted(
    "With a filter, a page may have fewer entries than `--limit`, because one call searches at most 5,000 entries. \
     Continue with `--after`.",
)
.answers("`changes`: for each entry `at`, `by`, `byShop` (`true` if a person of a shop made the change), `command`, `on` (the IDs of what it changed), `of` (the unit or team of a key or a transaction), `changed` (the members of a profile, each with `member`, `before` and `after`) and, for a change, `operation` (a hash of the author and the operation ID); `damaged`: number of entries that cannot be read; `next`: the value of `--after` for older entries, or `null`");

#[derive(Deserialize)]
pub struct List {
    limit: usize,
    after: Option<String>,
    who: Option<String>,
    command: Option<String>,
    shop: Option<String>,
    since: Option<String>,
    until: Option<String>,
}

pub async fn list<P: Ports>(call: &Call<'_, P>, arguments: List) -> Result<Answer> {
    let List { limit, after, who, command, shop, since, until } = arguments;
    let filter = AuditFilter {
        by: who,
        command,
        shop,
        own: None,
        since_ms: since.as_deref().and_then(parse_ms),
        until_ms: until.as_deref().and_then(parse_ms),
    };
    let page = audit::page(call.store, call.ledger, &filter, after.as_deref(), limit).await?;
    let list = Listing::new(
        &page.changes,
        "No entries.",
        &[
            ("Time", &|it| Fact::time(&*it.at)),
            ("By", &|it| Fact::Text(it.by.clone())),
            ("Change", &|it| Fact::Text(it.plain_sentence())),
        ],
    );
    let damaged = match page.damaged {
        0 => String::new(),
        count => format!("Damaged entries that are not listed: {count}."),
    };
    let older =
        page.next.as_ref().map(|next| format!("To list older entries, add `--after {next}`."));
    let text = paragraphs([list.in_lines(), damaged, older.unwrap_or_default()]);
    Answer::new(&page, text)
}
