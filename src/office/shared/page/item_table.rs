//! The items of an argument as a table: rows with a field for the value of each item, and empty rows for new items.

use super::form::Form;
use super::problem::{FormProblem, initial_name, item_name};
use super::view;
use super::view::hidden;
use maud::{Markup, html};

/// Number of rows for new items.
const NEW_ROWS: usize = 8;

/// A field for an item of a repeatable argument, such as the amount in one currency. The operation gets `item=value`.
#[derive(Clone, Copy)]
pub(crate) struct Item<'f> {
    /// The item, such as `USD`. The field's name is that of the argument, a hyphen and the encoded item.
    pub item: &'f str,
    pub label: &'f str,
    /// The value with which the field is filled in at first.
    pub value: &'f str,
    /// Help below the field; may be empty.
    pub hint: &'f str,
}

pub(crate) struct ItemTable<'f> {
    /// The headings of the items and of their values.
    pub heads: [&'f str; 2],
    pub items: &'f [Item<'f>],
}

impl ItemTable<'_> {
    /// Renders the table, with what the person entered in the form, and the problem at its field.
    pub fn render(&self, argument: &str, entered: &Form, problem: &FormProblem) -> Markup {
        let [item, value] = self.heads;
        html! {
            div.table tabindex="0" role="group" aria-label=(value) {
                table {
                    thead { tr { th scope="col" { (item) } th scope="col" { (value) } } }
                    tbody {
                        @for item in self.items { tr { (self.listed(argument, item, entered, problem)) } }
                        @for number in 0..NEW_ROWS { tr { (self.new_row(argument, number, entered, problem)) } }
                    }
                }
            }
        }
    }

    fn listed(
        &self,
        argument: &str,
        item: &Item<'_>,
        entered: &Form,
        problem: &FormProblem,
    ) -> Markup {
        let name = item_name(argument, item.item);
        let initial = initial_name(&name);
        let [item_head, value_head] = self.heads;
        let or = |name: &str| if entered.has(name) { entered.text(name) } else { item.value };
        html! {
            th scope="row" data-label=(item_head) { (view::untrusted_text(item.label)) }
            td data-label=(value_head) {
                (hidden(&initial, or(&initial)))
                (value_field(&name, &name, or(&name), item.label, problem))
            }
        }
    }

    fn new_row(
        &self,
        argument: &str,
        number: usize,
        entered: &Form,
        problem: &FormProblem,
    ) -> Markup {
        let [key, value] = new_names(argument, number);
        let item = entered.text(&key);
        let is_empty = item.is_empty() && entered.text(&value).is_empty();
        let id = if is_empty { value.clone() } else { item_name(argument, item) };
        let [item_head, value_head] = self.heads;
        let label = format!("{item_head} of row {}", self.items.len() + number + 1);
        html! {
            th scope="row" data-label=(item_head) {
                input name=(key) value=(item) aria-label=(label) spellcheck="false";
            }
            td data-label=(value_head) { (value_field(&id, &value, entered.text(&value), &label, problem)) }
        }
    }
}

fn value_field(id: &str, name: &str, value: &str, of: &str, problem: &FormProblem) -> Markup {
    let text = problem.of(id);
    let is_wrong = !text.is_empty();
    let hint = [id, "-problem"].concat();
    html! {
        input id=(id) name=(name) value=(value) inputmode="decimal" aria-label={ "Value of " (of) }
            aria-invalid=[is_wrong.then_some("true")] aria-describedby=[is_wrong.then_some(&hint)];
        @if is_wrong { small.problem id=(hint) { (view::inline_code(&view::sentence(text))) } }
    }
}

/// Returns the names of the two fields of a row for a new item.
fn new_names(argument: &str, number: usize) -> [String; 2] {
    [format!("new-{argument}.{number}"), format!("new-{argument}.{number}.value")]
}

/// Returns the new items of a form, as `item=value`.
pub(super) fn new_items(form: &Form, argument: &str) -> impl Iterator<Item = String> {
    let pair = |number| new_names(argument, number).map(|name| form.text(&name).to_owned());
    let pairs = (0..NEW_ROWS).map(pair).filter(|pair| pair.iter().any(|text| !text.is_empty()));
    pairs.map(|[item, value]| [item, "=".to_owned(), value].concat())
}
