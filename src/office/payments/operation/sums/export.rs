use super::of_month::{OF_MODE, OfMonth, UNIT};
use super::summed::Summed;
use crate::office::orders::operation::{MONTH, exported};
use crate::office::orders::rule::Export as Exported;
use crate::office::payments::rule::usage;
use crate::office::shared::operation::call::{Answer, Call, Host as _, Ports, Result};
use crate::office::shared::operation::spec::{Argument, Kind, Spec};
use crate::office::shared::operation::table::paragraphs;
use crate::office::shared::rule::roles::Permission;
use crate::office::shops::operation::register::unit_must_be_registered;
use serde::{Deserialize, Serialize};

pub const EXPORT: Spec = Spec::reads(
    "transactions",
    "export",
    "print a month's sums by unit, and write the month's transactions as CSV",
    &[
        MONTH.required(),
        UNIT,
        OF_MODE,
        Argument::option("unpaid", Kind::Flag, "only units whose month is not marked as paid"),
        Argument::option(
            "csv",
            Kind::Output,
            "also write the transactions to a new CSV file, one line for each pledge; `-` writes them to standard \
             output, and the sums to standard error",
        ),
    ],
)
.permission(Permission::Account)
.answers("`month`, `sums`, `transactions`, `completeUpTo`, `completeFrom`, `damaged` as for `transactions usage`; `mode`; `file`: the name of the CSV file, or `null`");

#[derive(Deserialize)]
pub struct Export {
    #[serde(flatten)]
    of: OfMonth,
    #[serde(default)]
    unpaid: bool,
    csv: Option<String>,
}

#[derive(Serialize)]
struct Exports<'s> {
    #[serde(flatten)]
    sums: &'s Summed,
    mode: &'s str,
    file: Option<&'s str>,
}

pub async fn export<P: Ports>(call: &Call<'_, P>, asked: Export) -> Result<Answer> {
    let Export { of, unpaid, csv } = &asked;
    let ledger = call.ledger;
    let mut used = usage::of_all(call.store, ledger, &of.filter(), Some(of.month)).await?;
    if used.months.is_empty() {
        unit_must_be_registered(call, of.filter().unit.as_deref()).await?;
    }
    if *unpaid {
        used.months.retain(|month| month.settled.is_none());
    }
    let file = csv.as_deref().filter(|file| *file != "-");
    let mut written = 0;
    if csv.is_some() {
        call.host.create(file).await?;
        call.host.write(&exported(&[]).csv()).await?;
        let mut export = Exported::new(call.store, ledger, of.month, &used.months);
        while let Some(lines) = export.next().await? {
            call.host.write(&exported(&lines).csv_lines()).await?;
            written += lines.len();
        }
    }
    let summed = Summed::new(Some(of.month), used);
    let data = Exports { sums: &summed, mode: &of.mode, file };
    let csv_in_words = file.map(|file| {
        format!(
            "Written to {file}: a line with the column names, and one for each pledge: {written}."
        )
    });
    let text = paragraphs([summed.in_words(&asked.none()), csv_in_words.unwrap_or_default()]);
    let answer = Answer::new(&data, text)?;
    Ok(Answer { is_aside: csv.is_some() && file.is_none(), ..answer })
}

impl Export {
    fn none(&self) -> String {
        let unpaid = if self.unpaid { "unpaid " } else { "" };
        let mode = match &*self.of.mode {
            "both" => String::new(),
            mode => format!("{mode} "),
        };
        format!("no {unpaid}{mode}transactions in {}", self.of.month)
    }
}
