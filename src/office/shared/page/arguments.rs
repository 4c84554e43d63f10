//! Reads the arguments of an operation from its form.

use super::form::Form;
use super::item_table::new_items;
use super::problem::{initial_name, item_name};
use super::refusal::Result;
use crate::office::shared::operation::spec::{Argument, Kind, Spec};
use crate::office::shared::operation::values::{Door, Values};
use crate::office::shared::rule::refused::Refused;
use crate::pledges::http::percent_decode;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub(super) const MISSING: &str = "some fields are missing. Reload the page and try again";

/// Reads the arguments of an operation from its form.
///
/// # Errors
/// If the form or an argument is refused.
pub(crate) fn values<T: DeserializeOwned>(
    spec: &Spec,
    form: &Form,
    given: &[(&str, &str)],
) -> Result<T, Refused> {
    form.check_file()?;
    let values = Values::check(spec, arguments(spec, form, given), Door::Form)?;
    values.read().map_err(|_| MISSING.into())
}

/// Returns the arguments of an operation as its form has them.
fn arguments(spec: &Spec, form: &Form, given: &[(&str, &str)]) -> Map<String, Value> {
    let value = |argument: &Argument| {
        if let Some((_, text)) = given.iter().find(|(name, _)| *name == argument.name) {
            let is_flag = matches!(argument.kind, Kind::Flag);
            let value = if is_flag { true.into() } else { Value::from(*text) };
            return (!text.is_empty()).then_some(value);
        }
        let is_sent = spec.is_filled_in && form.has(argument.name);
        let names = argument.field.filter(|_| matches!(argument.kind, Kind::Text { .. }));
        match argument.kind {
            _ if names.is_some_and(|field| !field.choices.is_empty()) => ticked(form, argument),
            _ if is_unchanged(form, argument.name) => None,
            Kind::Flag => form.given(argument.name).map(|_| Value::from(true)),
            _ if argument.is_repeatable => items(spec, form, argument.name),
            _ if is_sent => Some(form.text(argument.name).into()),
            _ => form.given(argument.name).map(Value::from),
        }
    };
    let all = spec.arguments.iter();
    all.filter_map(|argument| Some((argument.name.to_owned(), value(argument)?))).collect()
}

/// Returns whether a field still has the value that it had at first.
fn is_unchanged(form: &Form, name: &str) -> bool {
    let initial = initial_name(name);
    let lines = |name: &str| form.text(name).replace("\r\n", "\n");
    form.has(&initial) && form.has(name) && lines(&initial) == lines(name)
}

/// Returns the names whose boxes are ticked, separated by commas; `None` if they were ticked at first.
fn ticked(form: &Form, argument: &Argument) -> Option<Value> {
    let all = argument.field.map_or(&[][..], |field| field.choices);
    let names = all.iter().filter(|name| form.has(&item_name(argument.name, name)));
    let names = names.copied().collect::<Vec<_>>().join(",");
    let initial = initial_name(argument.name);
    let is_changed = form.has(&initial) && form.text(&initial) != names;
    is_changed.then(|| if names.is_empty() { "none".into() } else { names.into() })
}

/// Returns the values of a repeatable argument. Each has a field of its own: a field `text-de` has the item `de`.
fn items(spec: &Spec, form: &Form, name: &str) -> Option<Value> {
    let plain = form.given(name).map(str::to_owned);
    let prefix = [name, "-"].concat();
    let is_sent = |(item, text): &(&str, &str)| {
        let is_unchanged = || is_unchanged(form, &[&*prefix, item].concat());
        (spec.is_filled_in || !text.is_empty()) && !is_unchanged()
    };
    let items = form.with_prefix(&prefix).filter(is_sent);
    let items = items.map(|(item, text)| [&*percent_decode(item), "=", text].concat());
    let all: Vec<_> = plain.into_iter().chain(items).chain(new_items(form, name)).collect();
    (!all.is_empty()).then(|| all.into())
}
