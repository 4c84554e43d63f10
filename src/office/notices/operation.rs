//! Operations on the e-mails to people of the dashboard.

use super::rows::notices::{LogQuery, Notice, NoticeKind, NoticeState};
use super::rows::switches::SwitchedOff;
use super::rule as notices;
use super::rule::{Switched, switched_off};
use crate::office::people::rule::normal_address;
use crate::office::shared::operation::call::{Answer, Call, Changed, Host as _, Ports, Result};
use crate::office::shared::operation::facts::{Fact, Facts, Tone};
use crate::office::shared::operation::listing::Listing;
use crate::office::shared::operation::spec::{Argument, Kind, Spec, text};
use crate::office::shared::operation::table::paragraphs;
use crate::office::shared::rule::roles::Permission;
use crate::pledges::time::date_time;
use serde::{Deserialize, Serialize};
use strum::VariantNames as _;

const KINDS: Kind = Kind::Choice { choices: NoticeKind::VARIANTS };
/// Maximum number of switched-off kinds that are listed.
const MAX_OFF: usize = 1_000;

// ---- Switch --------------------------------------------------------------------------------------

pub const SET: Spec = Spec::changes(
    "notices",
    "set",
    "turn a kind of e-mail on or off for a person of the dashboard",
    &[
        Argument::positional("address", text("address"), "the e-mail address of the person"),
        Argument::positional("kind", KINDS, "the kind of e-mail: `month`, a month can be settled; `statement`, the statement of a shop is ready; `bounces`, e-mails to the buyers of a shop failed on the day before; `failures`, e-mails or messages of all shops failed and can be resent; `ledger`, the ledger has a problem"),
        Argument::positional(
            "state",
            Kind::Choice { choices: &["on", "off"] },
            "whether the person gets this kind",
        ),
    ],
)
.permission(Permission::Look)
.answers("`kind`; `on`: whether the person gets this kind now")
.noted("In the dashboard, people switch their own e-mails. People without the right role, unit or team get no e-mails, even if the kind is on.");

#[derive(Deserialize)]
pub struct Set {
    address: String,
    kind: NoticeKind,
    state: OnOff,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum OnOff {
    On,
    Off,
}

pub async fn set<P: Ports>(
    call: &Call<'_, P>,
    Set { address, kind, state }: Set,
) -> Result<Answer> {
    let by = call.host.person().await?;
    let on = state == OnOff::On;
    let done = notices::switch(call.ledger, &call.author(&by)?, (&address, kind), on).await?;
    let Switched { on, .. } = done.outcome;
    let state = if on { "on" } else { "off" };
    let said =
        format!("{}: these e-mails are {state} for {}.", kind.label(), normal_address(&address));
    Answer::changed(&done, Changed::new(said, Facts::new()))
}

// ---- List ----------------------------------------------------------------------------------------

pub const LIST: Spec = Spec::reads(
    "notices",
    "list",
    "list the e-mails to people of the dashboard, newest first, and which are switched off",
    &[
        Argument::option("address", text("address"), "only those to this e-mail address"),
        Argument::option("kind", KINDS, "only e-mails of this kind"),
        Argument::option(
            "limit",
            Kind::Number { least: 1, most: 1_000 },
            "the largest number of e-mails to print",
        )
        .or("100"),
    ],
)
.answers("`notices`: for each e-mail `address`, `kind`, `period`: the day or month that it is about, `state`, `at`: when the state changed, `attempts`, and `cause`: the code of the last failure, or `null`; `off`: for each kind that is switched off `address` and `kind`");

#[derive(Deserialize)]
pub struct List {
    address: Option<String>,
    kind: Option<NoticeKind>,
    limit: usize,
}

#[derive(Serialize)]
struct Listed {
    notices: Vec<Row>,
    off: Vec<SwitchedOff>,
}

#[derive(Serialize)]
struct Row {
    address: String,
    kind: NoticeKind,
    period: String,
    state: NoticeState,
    at: String,
    attempts: u32,
    cause: Option<String>,
}

impl From<Notice> for Row {
    fn from(notice: Notice) -> Self {
        let Notice { address, kind, period, state, at, attempts, cause, .. } = notice;
        Row { address, kind, period, state, at: date_time(at), attempts, cause }
    }
}

pub async fn list<P: Ports>(
    call: &Call<'_, P>,
    List { address, kind, limit }: List,
) -> Result<Answer> {
    let address = address.as_deref().map(normal_address);
    let address = address.as_deref();
    let query = LogQuery { address, kind, most: limit, skipped: 0 };
    let found = notices::log(call.ledger, &query).await?;
    let off = switched_off(call.ledger, address, MAX_OFF).await?;
    let switched = Listing::new(
        &off,
        "",
        &[
            ("Address", &|it| Fact::Text(it.address.clone())),
            ("Switched off", &|it| Fact::words(it.kind.label())),
        ],
    );
    let text = paragraphs([listing(&found).in_lines(), switched.in_lines()]);
    let notices = found.into_iter().map(Row::from).collect();
    Answer::new(&Listed { notices, off }, text)
}

/// Returns the list of e-mails.
pub(crate) fn listing(notices: &[Notice]) -> Listing {
    Listing::new(
        notices,
        "No e-mails yet.",
        &[
            ("Time", &|it| Fact::time_of(it.at)),
            ("To", &|it| Fact::Text(it.address.clone())),
            ("E-mail", &|it| Fact::words(it.kind.label())),
            ("About", &|it| Fact::words(&it.period)),
            ("State", &|it| state(it)),
        ],
    )
}

fn state(Notice { state, due, cause, .. }: &Notice) -> Fact {
    let retried = if due.is_some() { "(will be retried)" } else { "" };
    match state {
        NoticeState::Waiting => Fact::words("Waiting"),
        NoticeState::Sending => Fact::words("No result: it may have been sent"),
        NoticeState::Sent => Fact::words("Sent"),
        NoticeState::Failed => Fact::Row(vec![
            Fact::Tag(Tone::Alarm, "Failed".to_owned()),
            Fact::text(cause.as_deref()),
            Fact::words(retried),
        ]),
    }
}
