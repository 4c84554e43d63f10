//! The form with which operators record what was done for the pledges of a month.

use crate::office::fulfilment::rule::{Balance, Balances};
use crate::office::payments::page::month::MonthSelection;
use crate::office::shared::page::context::PageContext;
use crate::office::shared::page::form::Form;
use crate::office::shared::page::problem::FormProblem;
use crate::office::shared::page::view;
use crate::office::shared::page::view::Field;
use crate::pledges::service::{Clock, Entropy};
use maud::{Markup, html};

pub(super) const PATH: &str = "/fulfilment";
pub(super) const PAGE: (&str, &str) = ("Fulfilment", PATH);

/// What the page shows after a form was sent.
#[derive(Default)]
pub(super) struct FormResult<'f> {
    pub notice: Markup,
    /// The values of a form that is shown again.
    pub form: Option<&'f Form>,
    pub problem: FormProblem,
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
    let field = |name, label, hint, required| Field {
        name,
        label,
        hint,
        required,
        value: form.text(name),
        problem: problem.of(name),
        kind: if name == "done-on" { "date" } else { "" },
        ..Field::default()
    };
    let fields = html! {
        (view::hidden("mode", selection.mode.name()))
        (view::hidden("month", &selection.month.to_string()))
        (offering_field(found, form, problem))
        (field("quantity", "Quantity", "For example 1200.", true).render())
        (field("done-on", "Done on", "", true).render())
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
    };
    html! {
        section #record {
            h2 { "Record what was done" }
            (problem.above(&context.form(PATH, &fields)))
        }
    }
}

fn offering_field(found: &Balances, form: &Form, problem: &FormProblem) -> Markup {
    let label = |balance: &Balance| format!("{} ({} to be done)", balance.offering, balance.open);
    let labels: Vec<_> = found.balances.iter().map(label).collect();
    let names = found.balances.iter().map(|balance| &*balance.offering);
    let options: Vec<_> = names.zip(labels.iter().map(String::as_str)).collect();
    Field {
        name: "offering",
        label: "Offering",
        value: form.raw("offering"),
        problem: problem.of("offering"),
        ..Field::default()
    }
    .render_select(&options)
}
