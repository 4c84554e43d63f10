//! Operations on requests of shops for credits.

use super::rows::requests::{RequestFilter, RequestState};
use super::rule as requests;
use super::rule::{CreditLimit, Request, UnitLimit};
use crate::office::credits::operation as credit;
pub use crate::office::credits::operation::check;
use crate::office::credits::operation::{
    AMOUNT, Add, CANCELLED, CHARGED, CREDIT, ID, QUANTITY, REASON,
};
use crate::office::credits::rule as credits;
use crate::office::shared::operation::call::{
    Answer, Call, Changed, Failure, Host as _, Ports, Result,
};
use crate::office::shared::operation::facts::{Fact, Facts};
use crate::office::shared::operation::listing::Listing;
use crate::office::shared::operation::spec::{Argument, Kind, Spec, text, unit};
use crate::office::shared::operation::table::paragraphs;
use crate::office::shared::rule::once::Done;
use crate::office::shared::rule::refused::{RefusalCode, Refused};
use crate::office::shared::rule::roles::Permission;
use crate::office::shops::operation::register::unit_must_be_registered;
use serde::{Deserialize, Serialize};

/// Describes the JSON of a request.
const MEMBERS: &str = "`request`: its ID; `transaction`, `unit`, `mode`, `currencyCode`, `amount`; `credit`: the requested credit with `transaction`, `part` (`amount` and `quantities`, or `null` for all that is left) and `reason`; `by` and `at`: who made it, and when; `state`: `open`, `credited` or `refused`; `decidedBy`, `decidedAt`, and `answer`: the reason of a refusal, each may be `null`";

// ---- Request -------------------------------------------------------------------------------------

pub const REQUEST: Spec = Spec::changes(
    "credits",
    "request",
    "request a credit of a transaction, or of a part of it, which accounts confirm or refuse",
    &[ID, AMOUNT, QUANTITY, REASON, CANCELLED],
)
.confirmed_if("the credit is within the unit's limit, so that it is made at once")
.button("Request credit")
.permission(Permission::Account)
.answers(MEMBERS);

pub async fn request<P: Ports>(call: &Call<'_, P>, asked: Add) -> Result<Answer> {
    let mut wanted = asked.request().map_err(Failure::Usage)?;
    let by = call.host.person().await?;
    let author = call.author(&by)?;
    if !call.was_done().await? {
        let credit = requests::check(call.store, call.ledger, &author, &wanted).await?;
        if requests::is_at_once(call.ledger, &author, &credit).await? {
            call.confirm(credit::question(&wanted, &credit)).await?;
            wanted = wanted.confirmed(&credit);
        }
    }
    let made = requests::make(call.store, call.ledger, &author, &wanted).await?;
    let credited = requests::at_once(call.store, call.ledger, &author, &made.outcome).await?;
    let last = requests::last(call.ledger, &made.outcome.transaction).await?;
    let outcome = Request::try_from(last)?;
    let change = match &credited {
        Some(credit) => {
            Changed::new(format!("{} was credited.", credit.transaction), credit::facts(credit))
        }
        None => {
            let said =
                "The credit was requested. The operator of this service confirms or refuses it.";
            Changed::new(said, facts(&outcome, &outcome.by))
        }
    };
    Answer::changed(&Done { outcome, before: made.before }, change)
}

/// Describes a request, with its author as the reader sees it.
pub(crate) fn facts(request: &Request, by: &str) -> Facts {
    let Request { transaction, amount, currency_code, credit, at, answer, .. } = request;
    let quantities = match &credit.part {
        Some(part) => credit::quantities(&part.quantities),
        None => Fact::words("all that is left"),
    };
    let timeline =
        if credit.tell_buyer { "says that the pledge was cancelled" } else { "does not change" };
    vec![
        ("Transaction", Fact::id(transaction)),
        ("Amount", Fact::money(amount, currency_code)),
        ("Quantities", quantities),
        ("Reason", Fact::Text(credit.reason.clone())),
        ("Timeline", Fact::words(timeline)),
        ("Requested", Fact::time(&**at)),
        ("Requested by", Fact::text(Some(by))),
        ("Refused because", Fact::text(answer.as_deref())),
    ]
}

// ---- Confirm and refuse --------------------------------------------------------------------------

pub const CONFIRM: Spec = Spec::changes(
    "credits",
    "confirm",
    "make the credit that a shop has requested; this cannot be undone",
    &[ID, CHARGED],
)
.confirmed()
.button("Confirm …")
.permission(Permission::Account)
.answers(CREDIT);

#[derive(Deserialize)]
pub struct Confirm {
    id: String,
    charged: Option<String>,
}

pub async fn confirm<P: Ports>(
    call: &Call<'_, P>,
    Confirm { id, charged }: Confirm,
) -> Result<Answer> {
    let row = requests::last(call.ledger, id.trim()).await?;
    let mut wanted = requests::wanted(&row, charged.map(|charged| charged == "yes"))?;
    let by = call.host.person().await?;
    let author = call.author(&by)?;
    if !call.was_done().await? {
        requests::check_open(&row, "nothing was credited", &author)?;
        let credit = credits::check(call.store, call.ledger, &author, &wanted).await?;
        if credit.number > row.credits.saturating_add(1) {
            call.host.note("This transaction was credited again since the request. Check that this is another credit.");
        }
        call.confirm(credit::question(&wanted, &credit)).await?;
        wanted = wanted.confirmed(&credit);
    }
    let done = requests::confirm(call.store, call.ledger, &author, &row, &wanted).await?;
    let said = format!("{} was credited.", done.outcome.transaction);
    let change = Changed::new(said, credit::facts(&done.outcome));
    Answer::changed(&done, change)
}

pub const REFUSE: Spec = Spec::changes(
    "credits",
    "refuse",
    "refuse the credit that a shop has requested",
    &[
        ID,
        Argument::option(
            "reason",
            text("text"),
            "why; the shop sees it, and it must not name the recipient",
        )
        .required()
        .field(
            "Reason",
            "One line of at most 200 bytes, which the shop sees. Do not name the recipient.",
        ),
    ],
)
.button("Refuse")
.permission(Permission::Account)
.answers(MEMBERS);

#[derive(Deserialize)]
pub struct Refuse {
    id: String,
    reason: String,
}

pub async fn refuse<P: Ports>(call: &Call<'_, P>, Refuse { id, reason }: Refuse) -> Result<Answer> {
    let by = call.host.person().await?;
    let author = call.author(&by)?;
    let done = requests::refuse(call.store, call.ledger, &author, (id.trim(), &reason)).await?;
    let change = Changed::new("The request was refused.", facts(&done.outcome, &done.outcome.by));
    Answer::changed(&done, change)
}

// ---- Limit ---------------------------------------------------------------------------------------

pub const LIMIT: Spec = Spec::changes(
    "credits",
    "limit",
    "set up to which sums the requests of a unit are credited at once, in the currency of its live prices; without sums, each needs a confirmation",
    &[
        unit("the unit").required(),
        Argument::option("per-order", text("amount"), "the sum of one transaction, such as 20.00")
            .field("Sum of one transaction", "For example 20.00. Leave both empty to confirm each request."),
        Argument::option("per-month", text("amount"), "the sum of all transactions in a month (UTC), such as 200.00")
            .field("Sum of one month (UTC)", "For example 200.00."),
    ],
)
.filled_in()
.button("Save limit")
.answers("`unit`; `limit`: `currencyCode`, `perOrder` and `perMonth`, or `null` if each request needs a confirmation");

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SetLimit {
    unit: String,
    per_order: Option<String>,
    per_month: Option<String>,
}

pub async fn limit<P: Ports>(call: &Call<'_, P>, asked: SetLimit) -> Result<Answer> {
    let SetLimit { unit, per_order, per_month } = asked;
    let given = |text: Option<String>| text.filter(|text| !text.is_empty());
    let sums = match (given(per_order), given(per_month)) {
        (Some(per_order), Some(per_month)) => Some((per_order, per_month)),
        (None, None) => None,
        (None, _) => return Err(Failure::Usage(missing("per-order"))),
        (_, None) => return Err(Failure::Usage(missing("per-month"))),
    };
    unit_must_be_registered(call, Some(&unit)).await?;
    let by = call.host.person().await?;
    let sums = sums.as_ref().map(|(per_order, per_month)| (&**per_order, &**per_month));
    let author = call.author(&by)?;
    let done = requests::set_limit(call.store, call.ledger, &author, &unit, sums).await?;
    let UnitLimit { unit, limit } = &done.outcome;
    let said = match limit {
        Some(limit) => format!("Credits of `{unit}` are made at once up to {}.", limit.in_words()),
        None => format!("Each requested credit of `{unit}` needs a confirmation."),
    };
    let change = Changed::new(said, Vec::new());
    Answer::changed(&done, change)
}

fn missing(argument: &'static str) -> Refused {
    let problem = "nothing was changed: enter both sums, or none";
    Refused::at(argument, RefusalCode::Required, problem)
}

// ---- List ----------------------------------------------------------------------------------------

pub const LIST: Spec = Spec::reads(
    "credits",
    "requests",
    "list requests of shops for credits: open ones first, then the newest first",
    &[
        unit("only requests of this unit; also prints its limit"),
        Argument::option("state", Kind::Choice { choices: &["open", "all"] }, "whether to list decided requests as well")
            .or("open"),
        Argument::option("limit", Kind::Number { least: 1, most: 1_000 }, "the largest number of requests to print")
            .or("100"),
    ],
)
.permission(Permission::Account)
.answers("`requests`: each with the members of `credits request`; `limit`: the limit of the unit as `credits limit` prints it, or `null`");

#[derive(Deserialize)]
pub struct List {
    unit: Option<String>,
    state: String,
    limit: usize,
}

#[derive(Serialize)]
struct Listed {
    requests: Vec<Request>,
    limit: Option<CreditLimit>,
}

pub async fn list<P: Ports>(
    call: &Call<'_, P>,
    List { unit, state, limit }: List,
) -> Result<Answer> {
    let filter = RequestFilter { unit: unit.as_deref(), only_open: state == "open", most: limit };
    let found = requests::list(call.ledger, &filter).await?;
    if found.is_empty() {
        unit_must_be_registered(call, unit.as_deref()).await?;
    }
    let of_unit = match &unit {
        Some(unit) => requests::limit(call.ledger, unit).await?,
        None => None,
    };
    let at_once = of_unit.as_ref().map(|it| format!("Credited at once: up to {}.", it.in_words()));
    let text = paragraphs([listing(&found).in_lines(), at_once.unwrap_or_default()]);
    Answer::new(&Listed { requests: found, limit: of_unit }, text)
}

fn listing(requests: &[Request]) -> Listing {
    Listing::new(
        requests,
        "No requests.",
        &[
            ("Transaction", &|it| Fact::transaction(&it.transaction)),
            ("Unit", &|it| Fact::unit(&it.scope.unit)),
            ("Amount", &|it| Fact::money(&it.amount, &it.currency_code)),
            ("Reason", &|it| Fact::Text(it.credit.reason.clone())),
            ("Requested", &|it| Fact::time(&*it.at)),
            ("By", &|it| Fact::Text(it.by.clone())),
            ("State", &|it| Fact::words(RequestState::name(it.state))),
        ],
    )
}
