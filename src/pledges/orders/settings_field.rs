//! The fields of settings: what a value may be, and the check of a value.

use super::amount;
use super::json::Json;
use super::settings_issue::SettingsIssue;
use crate::pledges::validate::format;

/// A member of an object in the settings.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    pub(super) is_required: bool,
    pub(super) description: &'static str,
}

/// What a value may be.
pub(super) enum Shape {
    /// A text of 1 to `most` characters.
    Text {
        most: usize,
    },
    /// A decimal above 0 as a text, such as `"12.50"`.
    Positive,
    Integer {
        least: u32,
        most: u32,
    },
    Boolean,
    Choice(&'static [&'static str]),
    Uri,
    /// Three letters in upper case.
    Currency,
    /// A language tag.
    Language,
    List(&'static Shape, usize),
    Object(&'static [Field]),
    /// An object with exactly one of the members.
    OneOf(&'static [Field]),
    /// An object whose members are named by language tags.
    Map(&'static Shape, usize),
}

pub(super) const fn required(name: &'static str, shape: Shape, description: &'static str) -> Field {
    Field { name, shape, is_required: true, description }
}

pub(super) const fn optional(name: &'static str, shape: Shape, description: &'static str) -> Field {
    Field { name, shape, is_required: false, description }
}

/// How many more members than it may have are checked of an object. Others are unknown, or occur twice.
const MORE_MEMBERS: usize = 20;

/// Collects the issues of settings.
pub(super) struct Checker {
    pub(super) issues: Vec<SettingsIssue>,
    pub(super) most: usize,
}

impl Checker {
    pub(super) fn check(&mut self, json: &Json<'_>, shape: &Shape, path: &str) {
        match (shape, json) {
            (Shape::Object(fields), Json::Object(members)) => {
                self.check_members(fields, members, path);
                self.check_required(fields, json, path);
                self.check_sum(json, path);
            }
            (Shape::OneOf(fields), Json::Object(members)) if members.len() == 1 => {
                self.check_members(fields, members, path);
            }
            (Shape::Map(shape, most), Json::Object(members)) if members.len() <= *most => {
                for (name, value) in members {
                    let path = pointer(path, name);
                    self.require(is_language(name), "must be named by a language tag", &path);
                    self.check(value, shape, &path);
                }
            }
            (Shape::List(shape, most), Json::List(items)) if items.len() <= *most => {
                for (index, item) in items.iter().enumerate() {
                    self.check(item, shape, &format!("{path}/{index}"));
                }
            }
            _ => self.require(fits(shape, json), &shape.rule(), path),
        }
    }

    fn check_members(
        &mut self,
        fields: &[Field],
        members: &[(impl AsRef<str>, Json<'_>)],
        path: &str,
    ) {
        let members = members.get(..fields.len() + MORE_MEMBERS).unwrap_or(members);
        for (index, (name, value)) in members.iter().enumerate() {
            let path = pointer(path, name.as_ref());
            let before = members.iter().take(index);
            let is_first = before.map(|(name, _)| name.as_ref()).all(|own| own != name.as_ref());
            self.require(is_first, "must appear only once", &path);
            match fields.iter().find(|field| field.name == name.as_ref()) {
                Some(field) => self.check(value, &field.shape, &path),
                None => self.require(false, "is not a member of the settings", &path),
            }
        }
    }

    fn check_required(&mut self, fields: &[Field], json: &Json<'_>, path: &str) {
        let absent =
            fields.iter().filter(|field| field.is_required && json.get(field.name).is_none());
        for field in absent {
            self.require(false, "is required", &pointer(path, field.name));
        }
    }

    /// Requires `sum` of a rule whose basis reads a sum.
    fn check_sum(&mut self, json: &Json<'_>, path: &str) {
        let Some(basis) = json.get("basis") else { return };
        let reads_sum = ["sum", "percent"].into_iter().any(|name| basis.get(name).is_some());
        let has_sum = json.get("sum").is_some();
        self.require(has_sum || !reads_sum, "is required for this basis", &pointer(path, "sum"));
    }

    fn require(&mut self, fits: bool, message: &str, path: &str) {
        if !fits && self.issues.len() < self.most {
            self.issues.push(SettingsIssue { path: path.to_owned(), message: message.to_owned() });
        }
    }
}

impl Shape {
    /// Returns what a value must be.
    fn rule(&self) -> String {
        match self {
            Shape::Text { most } => format!("must be a text of 1 to {most} characters"),
            Shape::Positive => {
                "must be a decimal above 0 in quotes, such as `\"12.50\"`".to_owned()
            }
            Shape::Integer { least, most } => {
                format!("must be a whole number from {least} to {most}")
            }
            Shape::Boolean => "must be true or false".to_owned(),
            Shape::Choice(choices) => format!("must be one of `{}`", choices.join("`, `")),
            Shape::Uri => "must be a URI with a scheme such as `https://example.org/`".to_owned(),
            Shape::Currency => "must be a currency such as `EUR`".to_owned(),
            Shape::Language => "must be a language tag such as `de`".to_owned(),
            Shape::List(_, most) => format!("must be a list of at most {most} items"),
            Shape::Object(_) => "must be an object".to_owned(),
            Shape::OneOf(fields) => {
                let names: Vec<_> = fields.iter().map(|field| field.name).collect();
                format!("must be an object with one of the members `{}`", names.join("`, `"))
            }
            Shape::Map(_, most) => format!("must be an object with at most {most} members"),
        }
    }
}

/// Returns whether a value without members or items fits.
fn fits(shape: &Shape, json: &Json<'_>) -> bool {
    match (shape, json) {
        (Shape::Text { most }, Json::Text(text)) => (1..=*most).contains(&text.chars().count()),
        (Shape::Positive, Json::Text(text)) => {
            amount::parse(text).is_some_and(|amount| !amount.is_negative && !amount.size.is_zero())
        }
        (Shape::Integer { least, most }, Json::Number(text)) => {
            text.parse().is_ok_and(|number: u32| (*least..=*most).contains(&number))
        }
        (Shape::Boolean, Json::Boolean(_)) => true,
        (Shape::Choice(choices), Json::Text(text)) => choices.contains(&&**text),
        (Shape::Uri, Json::Text(text)) => text.len() <= 2_000 && format::is_uri(text.as_bytes()),
        (Shape::Currency, Json::Text(text)) => {
            text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase())
        }
        (Shape::Language, Json::Text(text)) => is_language(text),
        _ => false,
    }
}

/// Returns whether a text may be a language tag: groups of letters and digits, separated by hyphens.
pub(super) fn is_language(text: &str) -> bool {
    let is_group = |group: &str| {
        (1..=8).contains(&group.len()) && group.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let first = text.split(['-', '_']).next().unwrap_or_default();
    (2..=35).contains(&text.len())
        && (2..=3).contains(&first.len())
        && text.split(['-', '_']).all(is_group)
}

fn pointer(path: &str, name: &str) -> String {
    let name: String = name.chars().take(100).collect();
    [path, "/", &name.replace('~', "~0").replace('/', "~1")].concat()
}
