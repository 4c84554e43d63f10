use super::rule as credits;
use super::rule::{Credit, CreditRequest, Left, OfferingQuantity, Part};
use crate::office::orders::rule as transactions;
use crate::office::shared::operation::call::{
    Answer, Call, Changed, Failure, Host as _, Ports, Result,
};
use crate::office::shared::operation::facts::{Fact, Facts};
use crate::office::shared::operation::listing::Listing;
use crate::office::shared::operation::question::Question;
use crate::office::shared::operation::spec::{Argument, Kind, Spec, text};
use crate::office::shared::operation::table::paragraphs;
use crate::office::shared::operation::values::Values;
use crate::office::shared::rule::refused::{RefusalCode, Refused};
use crate::office::shared::rule::roles::Permission;
use serde::{Deserialize, Serialize};

pub(crate) const ID: Argument = Argument::positional("id", text("id"), "the transaction's ID");
pub(crate) const AMOUNT: Argument = Argument::option(
    "amount",
    text("amount"),
    "credit only this amount, such as 5.00; without it, all that is left of the charge and of the quantities",
)
.field("Amount", "");
pub(crate) const QUANTITY: Argument = Argument::option(
    "quantity",
    text("offering=quantity"),
    "only with `--amount`: a quantity that will not be delivered, such as tree=3",
)
.repeatable()
.field("Quantities that will not be delivered", "Also enter an amount, which may be 0.");
pub(crate) const REASON: Argument = Argument::option("reason", text("text"), "why; it must not name the recipient")
    .required()
    .field(
        "Reason",
        "One line of at most 200 bytes. Do not name the recipient: the reason stays even if the recipient's data is \
         erased.",
    );
pub(crate) const CANCELLED: Argument = Argument::option(
    "cancelled",
    Kind::Flag,
    "tell the buyer on the timeline that it was cancelled; only without `--amount`",
)
.field(
    "Tell the buyer on the timeline that the pledge was cancelled",
    "Possible only if you credit all that is left. It cannot be undone.",
);
pub(crate) const CHARGED: Argument = Argument::option(
    "charged",
    Kind::Choice { choices: &["yes", "no"] },
    "whether it was charged; only if it may have come after its month was marked as paid",
)
.menu(
    "Was the transaction charged?",
    &["Yes: the payment contains it", "No: it came after the month was marked as paid"],
);
/// Describes the JSON of a credit.
pub(crate) const CREDIT: &str = "`operation`: its ID in the audit log; `transaction`; `number`: counts the credits of the transaction; `unit`; `mode`; `orderMonth`: the month of the transaction; `bookedMonth`: the month whose sum the credit reduces; `currencyCode`; `charge`; `amount`; `quantities`: for each offering `offering` and `quantity`; `reason`; `by` and `at`: who made it, and when";

// ---- Add -----------------------------------------------------------------------------------------

pub const ADD: Spec = Spec::changes(
    "credits",
    "add",
    "credit a transaction, or a part of it; this cannot be undone",
    &[ID, AMOUNT, QUANTITY, REASON, CANCELLED, CHARGED],
)
.confirmed()
.button("Credit …")
.permission(Permission::Account)
.answers(CREDIT);

#[derive(Deserialize)]
pub struct Add {
    id: String,
    reason: String,
    amount: Option<String>,
    #[serde(default)]
    quantity: Vec<String>,
    #[serde(default)]
    cancelled: bool,
    charged: Option<String>,
}

impl Add {
    pub(crate) fn request(self) -> Result<CreditRequest, Refused> {
        let Add { id, reason, amount, quantity, cancelled: tell_buyer, charged } = self;
        let quantities = quantity.iter().map(|text| stated(text));
        let quantities = quantities.collect::<Result<Vec<_>, _>>()?;
        if amount.is_none() && !quantities.is_empty() {
            let problem =
                "nothing was credited: enter an amount in addition to the quantities: it may be 0";
            return Err(Refused::at("amount", RefusalCode::Required, problem));
        }
        if amount.is_some() && tell_buyer {
            let problem = "nothing was credited: to tell the buyer of the cancellation, credit the whole transaction: leave \
                           out the amount and the quantities";
            return Err(Refused::at("cancelled", RefusalCode::NotAllowed, problem));
        }
        let part = amount.map(|amount| Part { amount, quantities });
        let transaction = id.trim().to_owned();
        let was_charged = charged.map(|charged| charged == "yes");
        Ok(CreditRequest { transaction, part, reason, tell_buyer, was_charged, seen: None })
    }
}

/// Parses `offering=quantity`. The offering may contain `=`.
fn stated(text: &str) -> Result<OfferingQuantity, Refused> {
    let (offering, quantity) = text.rsplit_once('=').ok_or_else(|| {
        let problem = format!(
            "write each quantity as an offering and a number, such as tree=3, not `{text}`"
        );
        Refused::at("quantity", RefusalCode::Invalid, problem)
    })?;
    Ok(OfferingQuantity { offering: offering.to_owned(), quantity: quantity.to_owned() })
}

pub fn check(values: &Values) -> Result<(), Refused> {
    values.read::<Add>()?.request().map(drop)
}

const NOT_CHARGED: &str =
    " The transaction was never charged, so the credit does not change what is due.";

pub(crate) fn question(request: &CreditRequest, credit: &Credit) -> Question {
    let told = match request.tell_buyer {
        true => " The buyer's timeline will say that this pledge was cancelled.",
        false => "",
    };
    let later = match credit.booked_month == credit.order_month {
        true => String::new(),
        false => format!(
            " The month of the transaction is marked as paid, so the credit reduces what is due for {}.",
            credit.booked_month
        ),
    };
    let uncharged = match request.was_charged {
        Some(false) => NOT_CHARGED,
        _ => "",
    };
    Question::new("Credit this transaction?", "nothing was credited")
        .about(facts(credit))
        .effect(format!("This cannot be undone.{told}{later}{uncharged}"))
        .button("Credit this transaction")
}

pub(crate) fn facts(credit: &Credit) -> Facts {
    vec![
        ("Transaction", Fact::Id(credit.transaction.clone())),
        ("Amount", Fact::money(&credit.amount, &credit.currency_code)),
        ("Charge", Fact::money(&credit.charge, &credit.currency_code)),
        ("Quantities", quantities(&credit.quantities)),
        ("Booked in", Fact::Month(credit.booked_month)),
        ("Reason", Fact::Text(credit.reason.clone())),
        ("Earlier credits", Fact::Words(credit.number.saturating_sub(1).to_string())),
    ]
}

/// Maximum number of offerings that are named.
const MAX_NAMED: usize = 20;

pub(crate) fn quantities(all: &[OfferingQuantity]) -> Fact {
    let each = all.iter().take(MAX_NAMED);
    let mut named: Vec<_> =
        each.map(|it| Fact::Text(format!("{} {}", it.quantity, it.offering))).collect();
    let more = all.len().saturating_sub(MAX_NAMED);
    named.extend((more > 0).then(|| Fact::Words(format!("and {more} more"))));
    Fact::List(named)
}

pub async fn add<P: Ports>(call: &Call<'_, P>, asked: Add) -> Result<Answer> {
    let mut request = asked.request().map_err(Failure::Usage)?;
    let by = call.host.person().await?;
    let author = call.author(&by)?;
    if !call.was_done().await? {
        let credit = credits::check(call.store, call.ledger, &author, &request).await?;
        call.confirm(question(&request, &credit)).await?;
        request = request.confirmed(&credit);
    }
    let done = credits::add(call.store, call.ledger, &author, &request).await?;
    let said = format!("{} was credited.", done.outcome.transaction);
    let change = Changed::new(said, facts(&done.outcome));
    Answer::changed(&done, change)
}

// ---- List ----------------------------------------------------------------------------------------

pub const LIST: Spec = Spec::reads(
    "credits",
    "list",
    "list the credits of a transaction, and what can still be credited",
    &[ID],
)
.permission(Permission::Account)
.answers("`credits`: each with the members of `credits add`; `left`: what can still be credited: `currencyCode`, `amount`, `quantities`, `divisible` (`false` if only all of it can be credited)");

#[derive(Deserialize)]
pub struct List {
    id: String,
}

#[derive(Serialize)]
struct CreditList<'c> {
    credits: &'c [Credit],
    left: &'c Left,
}

pub async fn list<P: Ports>(call: &Call<'_, P>, List { id }: List) -> Result<Answer> {
    let record = transactions::get(call.store, &id).await?;
    let found = credits::of(call.store, call.ledger, &record).await?;
    let left = &found.left;
    let rest = format!("{} {} can still be credited.", left.amount, left.currency_code);
    let text = paragraphs([listing(&found.credits).in_lines(), rest]);
    Answer::new(&CreditList { credits: &found.credits, left }, text)
}

pub(crate) fn listing(credits: &[Credit]) -> Listing {
    Listing::new(
        credits,
        "No credits yet.",
        &[
            ("Amount", &|it| Fact::money(&it.amount, &it.currency_code)),
            ("Quantities", &|it| quantities(&it.quantities)),
            ("Booked in", &|it| Fact::Month(it.booked_month)),
            ("Reason", &|it| Fact::Text(it.reason.clone())),
            ("Credited", &|it| Fact::time(&*it.at)),
            ("By", &|it| Fact::Text(it.by.clone())),
        ],
    )
}
