//! Renders the form of an operation from its arguments.

use super::context::PageContext;
use super::form::Form;
pub(crate) use super::item_table::Item;
use super::item_table::ItemTable;
use super::outcome::FormOutcome;
use super::problem::{FormProblem, initial_name, item_name};
use super::view::{Field, hidden};
use crate::office::shared::operation::spec;
use crate::office::shared::operation::spec::{Argument, Kind, Spec};
use crate::pledges::service::{Clock, Entropy};
use maud::{Markup, PreEscaped, html};

/// The form of an operation on a page.
pub(crate) struct OperationForm<'f> {
    pub spec: &'static Spec,
    /// The path to which the form is sent.
    pub action: &'f str,
    /// Hidden fields, such as the month of the page.
    pub fixed: &'f [(&'f str, &'f str)],
    /// The values with which fields are filled in at first.
    pub values: &'f [(&'f str, &'f str)],
    /// The values and labels of fields that are a menu on this page.
    pub menus: &'f [(&'f str, &'f [(&'f str, &'f str)])],
    /// The arguments without a field on this page.
    pub leave_out: &'f [&'f str],
    /// Labels and hints that this page has instead of those of the arguments.
    pub texts: &'f [(&'f str, (&'f str, &'f str))],
    /// The label of the button; that of the operation if it is not set.
    pub button: &'f str,
    /// Suggestions for fields with any text.
    pub suggestions: &'f [(&'f str, &'f [String])],
    /// More buttons, behind the button that sends the form.
    pub buttons: Markup,
    /// The items of repeatable arguments: each item has a field of its own.
    pub items: &'f [(&'f str, &'f [Item<'f>])],
    /// The arguments whose items are a table.
    pub tables: &'f [(&'f str, ItemTable<'f>)],
    /// Parts that are folded away unless one of their fields has a problem: the heading, and the names of the arguments.
    pub parts: &'f [(&'f str, &'f [&'f str])],
}

impl OperationForm<'_> {
    pub const fn new<'a>(spec: &'static Spec, action: &'a str) -> OperationForm<'a> {
        OperationForm {
            spec,
            action,
            fixed: &[],
            values: &[],
            menus: &[],
            leave_out: &[],
            texts: &[],
            button: spec.button,
            suggestions: &[],
            buttons: PreEscaped(String::new()),
            items: &[],
            tables: &[],
            parts: &[],
        }
    }
}

impl<S, C: Clock, E: Entropy> PageContext<'_, S, C, E> {
    /// Renders the form of an operation. If the form was sent and refused, it has what the person entered, with the
    /// problem at its field.
    pub fn operation_form(&self, form: OperationForm<'_>) -> Markup {
        let (none, fine) = (Form::default(), FormProblem::default());
        let sent = self.outcome.get().filter(|outcome| outcome.spec.is(form.spec));
        let (entered, problem) = match sent {
            Some(FormOutcome { entered, problem, .. }) => (entered, problem),
            None => (&none, &fine),
        };
        let is_shown = |argument: &&Argument| {
            let name = argument.name;
            !form.leave_out.contains(&name) && form.fixed.iter().all(|(own, _)| *own != name)
        };
        let is_first = |argument: &&Argument| {
            form.parts.iter().all(|(_, names)| !names.contains(&argument.name))
        };
        let shown = form.spec.arguments.iter().filter(is_shown).filter(is_first);
        let uploads =
            |argument: &Argument| argument.field.is_some_and(|field| !field.uploads.is_empty());
        let is_upload = form.spec.arguments.iter().filter(is_shown).any(uploads);
        self.form_of(
            form.action,
            is_upload,
            &html! {
                @for (name, value) in form.fixed { (hidden(name, value)) }
                div.fields { @for argument in shown { (field(&form, argument, entered, problem)) } }
                @for part in form.parts { (folded(&form, part, entered, problem)) }
                div.row { button { (form.button) } (form.buttons) }
            },
        )
    }
}

/// Renders a part of the form, folded unless one of its fields has a problem.
fn folded(
    form: &OperationForm<'_>,
    (heading, names): &(&str, &[&str]),
    entered: &Form,
    problem: &FormProblem,
) -> Markup {
    let shown = form.spec.arguments.iter().filter(|argument| names.contains(&argument.name));
    let is_open = problem.field().is_some_and(|field| names.contains(&field));
    html! {
        details open[is_open] {
            summary { (heading) }
            div.fields { @for argument in shown { (field(form, argument, entered, problem)) } }
        }
    }
}

/// Height of a field for the content of a file, in lines.
const CODE_ROWS: u32 = 14;

fn field(
    form: &OperationForm<'_>,
    argument: &Argument,
    entered: &Form,
    problem: &FormProblem,
) -> Markup {
    let Some(own) = &argument.field else { return Markup::default() };
    let name = argument.name;
    if let Some((_, table)) = form.tables.iter().find(|(own, _)| *own == name) {
        return table.render(name, entered, problem);
    }
    if let Some((_, items)) = form.items.iter().find(|(own, _)| *own == name) {
        return item_fields(argument, items, entered, problem);
    }
    html! {
        (labelled(form, argument, own, entered, problem))
        @if form.spec.is_edit && !own.is_secret { (initial(form, name, entered)) }
    }
}

fn initial(form: &OperationForm<'_>, field: &str, entered: &Form) -> Markup {
    let first = form.values.iter().find(|(own, _)| *own == field).map_or("", |(_, value)| value);
    let name = initial_name(field);
    hidden(&name, if entered.has(&name) { entered.raw(&name) } else { first })
}

fn labelled(
    form: &OperationForm<'_>,
    argument: &Argument,
    own: &spec::Field,
    entered: &Form,
    problem: &FormProblem,
) -> Markup {
    let name = argument.name;
    let listed = form.suggestions.iter().find(|(own, _)| *own == name);
    let list = [name, "-list"].concat();
    let first = form.values.iter().find(|(own, _)| *own == name).map_or("", |(_, value)| value);
    let ticked = own.choices.iter().filter(|one| entered.has(&item_name(name, one)));
    let ticked = ticked.copied().collect::<Vec<_>>().join(",");
    let entered = match (entered.has(name), entered.has(&initial_name(name))) {
        (true, _) => entered.text(name),
        (false, true) => &ticked,
        (false, false) => first,
    };
    let value = if own.is_secret { "" } else { entered };
    let texts = form.texts.iter().find(|(own, _)| *own == name);
    let (label, hint) = texts.map_or((own.label, own.hint), |(_, texts)| *texts);
    let field = Field {
        name,
        label,
        hint,
        required: argument.is_required,
        value,
        problem: problem.of(name),
        kind: match argument.kind {
            _ if own.is_secret => "password",
            Kind::Day | Kind::Time => "date",
            _ => "",
        },
        list: if listed.is_some() { &list } else { "" },
    };
    if let Some((_, options)) = form.menus.iter().find(|(own, _)| *own == name) {
        return field.render_select(options);
    }
    match argument.kind {
        Kind::Text { .. } if !own.choices.is_empty() => boxes(field, own.choices, value),
        Kind::Choice { choices } => {
            let labels = choices.iter().zip(own.choices).map(|(value, label)| (*value, *label));
            field.render_select(&labels.collect::<Vec<_>>())
        }
        Kind::Flag => Field { value: "yes", ..field }.render_box(!value.is_empty()),
        _ if !own.uploads.is_empty() => field.render_file(own.uploads),
        Kind::Input if !own.is_secret => field.render_code(CODE_ROWS, ""),
        _ if own.has_lines => field.render_lines(),
        _ => html! {
            (field.render())
            @if let Some((_, all)) = listed { datalist id=(list) { @for text in *all { option value=(text) {} } } }
        },
    }
}

/// Renders a box for each name of a list.
fn boxes(field: Field<'_>, names: &[&str], value: &str) -> Markup {
    let is_ticked = |name: &str| value.split(',').any(|one| one.trim() == name);
    html! {
        fieldset {
            legend { (field.label) }
            @if !field.hint.is_empty() { p.soft { (field.hint) } }
            @for name in names {
                (Field { name: &item_name(field.name, name), label: name, value: "yes", ..Field::default() }.render_box(is_ticked(name)))
            }
        }
    }
}

/// Number of items that are shown. The others are folded away, unless one of them has a value or a problem.
const MAX_ITEMS: usize = 3;

/// Renders the fields of the items of an argument.
fn item_fields(
    argument: &Argument,
    items: &[Item<'_>],
    entered: &Form,
    problem: &FormProblem,
) -> Markup {
    let field = |item: &Item<'_>| item_field(argument, item, items.len() == 1, entered, problem);
    if items.len() <= MAX_ITEMS {
        return html! { @for item in items { (field(item)) } };
    }
    let (first, others) = items.split_at(1);
    let is_open = others.iter().any(|item| {
        let name = item_name(argument.name, item.item);
        !item.value.is_empty() || entered.given(&name).is_some() || !problem.of(&name).is_empty()
    });
    html! {
        fieldset {
            @if let Some(own) = &argument.field { legend { (own.label) } p.soft { (own.hint) } }
            div.fields.wide { @for item in first { (field(item)) } }
            details open[is_open] {
                summary { "More" }
                div.fields.wide { @for item in others { (field(item)) } }
            }
        }
    }
}

fn item_field(
    argument: &Argument,
    item: &Item<'_>,
    is_single: bool,
    entered: &Form,
    problem: &FormProblem,
) -> Markup {
    let name = item_name(argument.name, item.item);
    let first = if entered.is_empty() { item.value } else { "" };
    let own = problem.of(&name);
    let field = Field {
        name: &name,
        label: item.label,
        hint: item.hint,
        required: argument.is_required && is_single,
        value: entered.given(&name).unwrap_or(first),
        problem: if own.is_empty() && is_single { problem.of(argument.name) } else { own },
        ..Field::default()
    };
    field.render()
}
