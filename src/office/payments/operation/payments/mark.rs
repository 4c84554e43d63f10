//! Marks months as paid, and takes payments back.

use crate::office::audit::rule::Author;
use crate::office::payments::rule as payments;
use crate::office::payments::rule::{CheckedPayment, Paid, Payment, StatedAmount};
use crate::office::shared::operation::call::{
    Answer, Call, Changed, Failure, Host as _, Ports, Result, invalid,
};
use crate::office::shared::operation::facts::{Fact, Facts};
use crate::office::shared::operation::question::Question;
use crate::office::shared::operation::spec::{Argument, Kind, Spec, mode, month, text, unit};
use crate::office::shared::operation::values::Values;
use crate::office::shared::rule::delays::APPLIED_SECONDS;
use crate::office::shared::rule::refused::{RefusalCode, Refused};
use crate::office::shared::rule::roles::Permission;
use crate::pledges::settlement::{Deductions, PaidAt, ScopeMonth, SettledSum, Settlement};
use crate::pledges::types::CurrencyCode;
use serde::Deserialize;
use strum::VariantArray as _;

pub(crate) const UNIT: Argument = unit("the ID of the unit").required();
pub(crate) const MONTH: Argument =
    month("the month in which the transactions were created, in UTC, such as 2026-10").required();
pub(crate) const MODE: Argument = mode("which transactions of the month: live or test").or("live");
/// Describes the JSON of a payment.
const PAYMENT: &str = "`unit`, `mode`, `month`, `paidAt`; `sums`: for each currency `currencyCode`, `amount` (what was paid), `transactions` (their number), `unpriced` (number of unpriced pledges) and, if there are credits, `credits` (`counted`: the sum of the charges, `credited`, `carried`); `invoice`; `by` and `at`: who marked it, and when";

/// Returns a text for a month, such as `2026-10 of shop (live)`.
pub(super) fn in_words(ScopeMonth { scope, month }: &ScopeMonth) -> String {
    format!("{month} of {} ({})", scope.unit, scope.mode.name())
}

/// Describes a sum in words, such as `1.50 USD`. If there are credits, the words name them too.
fn sum_in_words(SettledSum { amount, currency_code: code, credits, .. }: &SettledSum) -> String {
    let credits = credits.as_ref().map(|Deductions { counted, credited, carried }| {
        format!(
            " ({counted} {code} less {credited} credited and {carried} carried from earlier months)"
        )
    });
    format!("{amount} {code}{}", credits.unwrap_or_default())
}

fn later() -> String {
    format!("The API shows this within about {APPLIED_SECONDS} s.")
}

pub const MARK: Spec = Spec::changes(
    "payments",
    "mark",
    "mark a month as paid; the amount must be what is due",
    &[
        UNIT,
        MONTH,
        MODE,
        Argument::option(
            "amount",
            text("amount"),
            "the amount that was paid, such as 1234.50; if the month has several currencies, one for each, such as \
             USD=1234.50",
        )
        .required()
        .repeatable()
        .field("Amount", ""),
        Argument::option(
            "paid-at",
            Kind::Time,
            "when the month was paid: a day such as 2026-11-05, or a date-time with its UTC offset",
        )
        .required()
        .field("Paid on", ""),
        Argument::option("invoice", text("number"), "the invoice number")
            .required()
            .field("Invoice number", ""),
        Argument::option(
            "accept-unpriced",
            Kind::Number { least: 0, most: 1_000_000_000 },
            "the number of unpriced pledges that you accept as free",
        )
        .or("0")
        .field(
            "Accepted unpriced pledges",
            "Number of unpriced pledges that you accept at 0.00. Leave empty if there are none.",
        ),
    ],
)
.confirmed()
.button("Mark as paid")
.permission(Permission::Account)
.answers(PAYMENT);

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Mark {
    #[serde(flatten)]
    of: ScopeMonth,
    amount: Vec<String>,
    paid_at: PaidAt,
    invoice: String,
    accept_unpriced: usize,
}

impl Mark {
    fn payment(self) -> Result<Payment, Refused> {
        let Mark { of, amount, paid_at, invoice, accept_unpriced } = self;
        let amounts = amount.iter().map(|text| stated(text)).collect::<Result<_, _>>()?;
        Ok(Payment { of, amounts, paid_at, invoice, accept_unpriced })
    }
}

/// Parses an amount such as `1234.50` or `USD=1234.50`.
pub(crate) fn stated(text: &str) -> Result<StatedAmount, Refused> {
    let Some((code, amount)) = text.split_once('=') else {
        return Ok(StatedAmount { amount: text.to_owned(), currency_code: None });
    };
    let known = CurrencyCode::VARIANTS.iter().copied().find(|known| known.code() == code);
    let currency_code = known.ok_or_else(|| {
        let problem =
            format!("write the amount as 1234.50 or USD=1234.50: the currency cannot be `{code}`");
        Refused::at("amount", RefusalCode::Invalid, problem)
    })?;
    Ok(StatedAmount { amount: amount.to_owned(), currency_code: Some(currency_code) })
}

pub fn check(values: &Values) -> Result<(), Refused> {
    values.read::<Mark>()?.payment().map(drop)
}

pub async fn mark<P: Ports>(call: &Call<'_, P>, asked: Mark) -> Result<Answer> {
    let payment = asked.payment().map_err(Failure::Usage)?;
    let by = call.host.person().await?;
    let author = call.author(&by)?;
    if !call.was_done().await? {
        confirm_mark(call, &author, &payment).await?;
    }
    let done = payments::mark(call.store, call.ledger, &author, &payment).await?;
    let said = format!("{} is marked as paid. {}", in_words(&payment.of), later());
    let change = Changed::new(said, facts(&done.outcome.settlement));
    Answer::changed(&done, change)
}

fn facts(Settlement { paid_at, sums, invoice, by, at }: &Settlement) -> Facts {
    let sum = |sum: &SettledSum| {
        let SettledSum { transactions, unpriced, .. } = sum;
        let unpriced = match unpriced {
            0 => String::new(),
            unpriced => format!(", unpriced pledges: {unpriced}"),
        };
        Fact::Words(format!("{}, transactions: {transactions}{unpriced}", sum_in_words(sum)))
    };
    vec![
        ("Amount", Fact::List(sums.iter().map(sum).collect())),
        ("Paid on", Fact::Time(paid_at.as_str().to_owned())),
        ("Invoice", Fact::Text(invoice.clone())),
        ("Marked by", Fact::Text(by.clone())),
        ("Marked at", Fact::Time(at.clone())),
    ]
}

async fn confirm_mark<P: Ports>(
    call: &Call<'_, P>,
    author: &Author<'_, P::Platform, P::Platform>,
    payment: &Payment,
) -> Result<()> {
    let CheckedPayment { paid, damaged, .. } =
        payments::check(call.store, call.ledger, author, payment).await?;
    if damaged.count > 0 {
        call.host.note(&format!(
            "Damaged records of the unit are missing from all sums. Number of these records: {}. The \
             first is `{}`. `ledger status` lists all of them.",
            damaged.count,
            damaged.first.as_deref().unwrap_or_default()
        ));
    }
    let question =
        Question::new(format!("Mark {} as paid?", in_words(&payment.of)), "nothing was marked");
    let mut facts = facts(&paid.settlement);
    facts.truncate(3); // without who marks it, and when
    call.confirm(question.about(facts).button("Mark as paid")).await
}

pub const UNDO: Spec =
    Spec::changes("payments", "undo", "mark a month as unpaid again", &[UNIT, MONTH, MODE])
        .confirmed()
        .permission(Permission::Account)
        .answers(PAYMENT);

pub async fn undo<P: Ports>(call: &Call<'_, P>, of: ScopeMonth) -> Result<Answer> {
    let mut seen = None;
    if !call.was_done().await? {
        let Paid { settlement, .. } = marked_as(call, &of, "nothing was undone: ").await?;
        let question =
            Question::new(format!("Mark {} as unpaid?", in_words(&of)), "nothing was undone");
        call.confirm(question.about(facts(&settlement)).button("Undo this payment")).await?;
        seen = Some(settlement.at);
    }
    let by = call.host.person().await?;
    let author = call.author(&by)?;
    let undone = payments::undo(call.store, call.ledger, &author, &of, seen.as_deref()).await?;
    let said = format!(
        "{} is marked as unpaid. The payment is kept in the audit log. {}",
        in_words(&of),
        later()
    );
    let change = Changed::new(said, facts(&undone.outcome.settlement));
    Answer::changed(&undone, change)
}

pub(super) async fn marked_as<P: Ports>(
    call: &Call<'_, P>,
    of: &ScopeMonth,
    otherwise: &str,
) -> Result<Paid> {
    let settlement = payments::get(call.ledger, of).await?;
    settlement
        .map(|settlement| Paid { of: of.clone(), settlement })
        .ok_or_else(|| invalid(format!("{otherwise}{} is not marked as paid", in_words(of))))
}
