//! The form with which operators record what was done for the pledges of a month.

use crate::office::fulfilment::rule::{Balance, Balances};
use crate::office::payments::page::month::MonthSelection;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::view;
use crate::office::shared::page::view::Field;
use crate::pledges::service::{Clock, Entropy};
use maud::{Markup, html};

/// Path of the page, and of its form.
pub(super) const PATH: &str = "/fulfilment";
/// Title and path of the page.
pub(super) const PAGE: (&str, &str) = ("Fulfilment", PATH);

/// What the page shows after a form was sent.
#[derive(Default)]
pub(super) struct FormResult<'f> {
    pub notice: Markup,
    /// The values of a form that is shown again.
    pub form: Option<&'f Form>,
    /// Why nothing was recorded.
    pub problem: Option<String>,
    /// Whether the form records more than is still to be done. The person then has to confirm the form.
    pub is_beyond: bool,
}

/// The name of the box that confirms a fulfilment of more than is still to be done.
pub(super) const BEYOND: &str = "beyond";

/// Returns the value of the box `BEYOND`. It confirms only this quantity of this offering, so that a corrected
/// form is checked again.
pub(super) fn confirmation(form: &Form) -> String {
    [form.text("quantity"), form.text("offering")].join(" ")
}

pub(super) fn record_section<S, C: Clock, E: Entropy>(
    context: &PageContext<'_, S, C, E>,
    selection: MonthSelection,
    found: &Balances,
    FormResult { form, problem, is_beyond, .. }: &FormResult<'_>,
) -> Markup {
    let empty = Form::default();
    let form = form.unwrap_or(&empty);
    let problem = problem.as_deref().unwrap_or_default();
    let wrong = field_of(problem);
    let field = |name, label, hint, required| Field {
        name,
        label,
        hint,
        required,
        value: form.text(name),
        problem: if wrong == Some(name) { problem } else { "" },
        kind: if name == "day" { "date" } else { "" },
        ..Field::default()
    };
    html! {
        section #record {
            h2 { "Record what was done" }
            @if !problem.is_empty() { (view::form_problem(problem, wrong)) }
            (context.form(PATH, &html! {
                (view::hidden("mode", selection.mode.name()))
                (view::hidden("month", &selection.month.to_string()))
                (offering_field(found, form))
                (field("quantity", "Quantity", "For example 1200.", true).render())
                (field("day", "Done on", "", true).render())
                (field("partner", "Partner", "The organisation that did it; not a person.", false).render())
                (field("place", "Place", "", false).render())
                (field("report", "Report", "A web address, with https://.", false).render())
                @if *is_beyond {
                    (Field {
                        name: BEYOND,
                        label: "Record more than is still to be done",
                        value: &confirmation(form),
                        ..Field::default()
                    }.render_box(false))
                }
                button { "Record" }
            }))
        }
    }
}

/// Phrases that error messages contain, each with the name of the field that the message is about.
const FIELDS: [(&str, &str); 6] = [
    ("the quantity", "quantity"),
    ("more than is still to be done", "quantity"),
    ("the partner", "partner"),
    ("the place", "place"),
    ("the report", "report"),
    ("the day on which", "day"),
];

/// Returns the field that an error is about.
fn field_of(problem: &str) -> Option<&'static str> {
    let is_day = problem.ends_with("is in the future");
    let named = || FIELDS.iter().find(|(words, _)| problem.contains(words));
    if is_day { Some("day") } else { named().map(|(_, field)| *field) }
}

fn offering_field(found: &Balances, form: &Form) -> Markup {
    let label = |balance: &Balance| format!("{} ({} to be done)", balance.offering, balance.open);
    let labels: Vec<_> = found.balances.iter().map(label).collect();
    let names = found.balances.iter().map(|balance| &*balance.offering);
    let options: Vec<_> = names.zip(labels.iter().map(String::as_str)).collect();
    view::select("offering", "Offering", &options, form.raw("offering"))
}
