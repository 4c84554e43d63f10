//! Checks the arguments of an operation against its specification, and converts them to typed values.

use super::spec::{Argument, Kind, Spec};
use crate::office::shared::rule::refused::{RefusalCode, Refused};
use crate::pledges::time::{date_time, parse_ms};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A message quotes at most this many characters of a value.
const QUOTED: usize = 80;

/// The checked arguments of an operation, by name. Defaults are filled in, and each value has the type that
/// its kind requires.
#[derive(Clone, Debug, Default)]
pub struct Values(Map<String, Value>);

impl Values {
    /// Checks the arguments. A value is a text, a list of texts for a repeatable argument, or `true` for a flag.
    ///
    /// # Errors
    /// If an argument is unknown, missing or has an invalid value. The error says which values are accepted.
    pub fn check(spec: &Spec, mut given: Map<String, Value>, door: Door) -> Result<Self, Refused> {
        let mut values = Map::new();
        for argument in spec.arguments {
            let given = given.remove(argument.name).filter(|value| !value.is_null());
            let default = || argument.default.map(|text| Value::from(text.to_owned()));
            match given.or_else(default) {
                Some(value) => {
                    let wrong = |problem| Refused::at(argument.name, RefusalCode::Invalid, problem);
                    let value = checked(argument, value, door).map_err(wrong)?;
                    values.insert(argument.name.to_owned(), value);
                }
                None if argument.is_required => {
                    let problem = door.missing(argument);
                    return Err(Refused::at(argument.name, RefusalCode::Required, problem));
                }
                None => {}
            }
        }
        match given.keys().next() {
            Some(name) => Err(format!("`{}` has no argument `{name}`", spec.full_name()).into()),
            None => Ok(Values(values)),
        }
    }

    /// Converts the arguments to a type whose members have the same names.
    ///
    /// # Errors
    /// If a value breaks a rule of its member's type.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Refused> {
        serde_json::from_value(Value::Object(self.0.clone()))
            .map_err(|error| error.to_string().into())
    }
}

/// Where the arguments come from. Messages name an argument as it is written there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    Command,
    Form,
}

impl Door {
    fn missing(self, argument: &Argument) -> String {
        let name = self.name_of(argument);
        match self {
            Door::Command => format!("`{name}` is missing: {}", argument.help),
            Door::Form => format!("nothing was changed: fill in “{name}”"),
        }
    }

    fn refused(self, argument: &Argument, value: &str, expected: &str) -> String {
        let name = self.name_of(argument);
        match self {
            Door::Command => format!("`{name}` can't be `{value}`: give {expected}"),
            Door::Form => {
                format!("nothing was changed: enter {expected} as “{name}”, not `{value}`")
            }
        }
    }

    fn name_of(self, argument: &Argument) -> String {
        match (self, &argument.field) {
            (Door::Form, Some(field)) => field.label.to_owned(),
            _ => argument.written(),
        }
    }
}

fn checked(argument: &Argument, value: Value, door: Door) -> Result<Value, String> {
    match value {
        Value::Array(values) if argument.is_repeatable => {
            values.into_iter().map(|value| one(argument, value, door)).collect()
        }
        value if argument.is_repeatable => Ok(Value::Array(vec![one(argument, value, door)?])),
        value => one(argument, value, door),
    }
}

fn one(argument: &Argument, value: Value, door: Door) -> Result<Value, String> {
    match (argument.kind, value) {
        (Kind::Flag, Value::Bool(is_given)) => Ok(is_given.into()),
        (kind, Value::String(text)) => read(kind, &text).map_err(|expected| {
            let quoted: String = text.chars().take(QUOTED).collect();
            door.refused(argument, &quoted, &expected)
        }),
        _ => Err(format!("`{}` has a value of the wrong type", door.name_of(argument))),
    }
}

/// Parses a value of this kind. The error describes the accepted values.
fn read(kind: Kind, text: &str) -> Result<Value, String> {
    match kind {
        Kind::Text { .. } | Kind::Input | Kind::Output => Ok(text.into()),
        Kind::Flag => Err("no value".to_owned()),
        Kind::Choice { choices } => match choices.contains(&text) {
            true => Ok(text.into()),
            false => Err(format!("one of {}", choices.join(", "))),
        },
        Kind::Month => match parse_ms(&format!("{text}-01T00:00:00Z")) {
            Some(_) if text.len() == 7 => Ok(text.into()),
            _ => Err("a year and a month, such as 2026-11".to_owned()),
        },
        Kind::Day => match day_ms(text) {
            Some(_) => Ok(text.into()),
            None => Err("a day, such as 2026-11-21".to_owned()),
        },
        Kind::Time => time(text).map(Value::from).ok_or_else(|| {
            "a day or a date-time, such as 2026-11-05 or 2026-11-05T14:30:00+01:00".to_owned()
        }),
        Kind::Number { least, most } => match whole(text) {
            Some(number) if (least..=most).contains(&number) => Ok(number.into()),
            _ => Err(format!("a whole number from {least} to {most}")),
        },
        Kind::Duration { least, most } => match seconds(text) {
            Some(seconds) if seconds == 0 || (least..=most).contains(&seconds) => {
                Ok(seconds.into())
            }
            _ => Err(format!(
                "0, or a time from {least}s to {}d, such as 90s, 30m, 24h or 7d",
                most / DAY
            )),
        },
    }
}

fn whole(text: &str) -> Option<u64> {
    let is_whole = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_whole)
}

const DAY: u64 = 86_400; // seconds

fn seconds(text: &str) -> Option<u64> {
    if text == "0" {
        return Some(0);
    }
    let units = [('s', 1), ('m', 60), ('h', 3_600), ('d', DAY)];
    let (number, unit) =
        units.iter().find_map(|(name, unit)| Some((text.strip_suffix(*name)?, unit)))?;
    whole(number)?.checked_mul(*unit)
}

/// Returns midnight of a day in UTC, in milliseconds since 1970.
fn day_ms(text: &str) -> Option<u64> {
    let is_day = text.len() == 10;
    parse_ms(&format!("{text}T00:00:00Z")).filter(|_| is_day)
}

/// Converts a day, or a date-time with its UTC offset, to a date-time in UTC.
fn time(text: &str) -> Option<String> {
    if let Some(ms) = day_ms(text) {
        return Some(date_time(ms));
    }
    if let Some(local) = text.strip_suffix('Z') {
        return local_ms(local).map(date_time);
    }
    let (local, offset) = text.split_at_checked(text.len().checked_sub("+01:00".len())?)?;
    let (sign, offset) = offset.split_at_checked(1)?;
    let (hours, minutes) = offset.split_once(':')?;
    let (hours, minutes) = (two_digits(hours, 23)?, two_digits(minutes, 59)?);
    let offset_ms = (hours * 60 + minutes) * 60_000;
    let local_ms = local_ms(local)?;
    match sign {
        "+" => local_ms.checked_sub(offset_ms),
        "-" => local_ms.checked_add(offset_ms),
        _ => None,
    }
    .map(date_time)
}

/// Parses a date-time without an offset. Returns milliseconds since 1970. The text may leave out the seconds.
fn local_ms(local: &str) -> Option<u64> {
    let is_time = local.as_bytes().get(10) == Some(&b'T');
    let seconds = if local.len() == "2026-11-05T14:30".len() { ":00" } else { "" };
    parse_ms(&format!("{local}{seconds}Z")).filter(|_| is_time)
}

fn two_digits(text: &str, most: u64) -> Option<u64> {
    whole(text).filter(|number| text.len() == 2 && *number <= most)
}
