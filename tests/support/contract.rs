//! A reference implementation of JSON's grammar, of the rules for a request, and of the values that the
//! service keeps from a request. Of the crate's own code, it uses only the checks of text formats.

use impact_pledge::pledges::validate::format::{is_date_time, is_email, is_uri};
use impact_pledge::pledges::validate::{Issue, Step};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

/// Whether bytes are JSON. Checks only the grammar: serde_json ignores the value, and decodes nothing.
pub fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(bytes).is_ok()
}

/// Converts issues to the form of the fixtures' rows.
pub fn seen(issues: &[Issue<'_>]) -> Vec<Value> {
    let step = |step: &Step<'_>| match step {
        Step::Member(name) => json!(name),
        Step::Index(index) => json!(index),
        Step::Unknown(name) => json!(name),
    };
    let issue = |issue: &Issue<'_>| {
        let path: Vec<_> = issue.path().steps().iter().map(step).collect();
        json!({ "path": path, "code": <&str>::from(issue.code()) })
    };
    issues.iter().map(issue).collect()
}

/// Asserts that `kept` has every value that was sent, and that all other members of `kept` are null or empty.
/// Numbers are not compared.
#[track_caller]
pub fn assert_kept(kept: &Value, sent: &Value, pointer: &str) {
    match (kept, sent) {
        (Value::Object(members), Value::Object(_) | Value::Null) => {
            for (name, value) in members {
                assert_kept(value, &sent[name], &format!("{pointer}/{name}"));
            }
        }
        (Value::Array(items), Value::Array(_) | Value::Null) => {
            assert_eq!(items.len(), sent.as_array().map_or(0, Vec::len), "{pointer}");
            (0..).zip(items).for_each(|(index, item)| assert_kept(item, &sent[index], pointer));
        }
        (Value::Number(_), Value::Number(_)) => {}
        _ => assert_eq!(kept, sent, "{pointer}"),
    }
}

/// Checks a parsed request by rules that are written by hand from docs/contract.md §4.1.
#[derive(Default)]
pub struct Oracle {
    path: Vec<Value>,
    issues: Vec<Value>,
}

type Rule<'r> = (&'static str, bool, &'r dyn Fn(&mut Oracle, &Value));

impl Oracle {
    /// Returns the issues of a request in the schema's order. Issues of unknown members are sorted by name.
    pub fn issues(request: &Value) -> Vec<Value> {
        let mut oracle = Oracle::default();
        oracle.request(request);
        oracle.issues
    }

    fn report(&mut self, code: &str) {
        self.issues.push(json!({ "path": self.path, "code": code }));
    }

    fn below(&mut self, step: Value, rule: impl FnOnce(&mut Self)) {
        self.path.push(step);
        rule(self);
        self.path.pop();
    }

    fn object(&mut self, value: &Value, rules: &[Rule<'_>]) {
        let Some(members) = value.as_object() else { return self.report("invalid_type") };
        for (name, required, rule) in rules {
            self.below(json!(name), |oracle| match members.get(*name) {
                Some(value) => rule(oracle, value),
                None if *required => oracle.report("required"),
                None => {}
            });
        }
        let known = |name: &String| rules.iter().any(|(known, ..)| known == name);
        for name in members.keys().filter(|name| !known(name)) {
            self.below(json!(name), |oracle| oracle.report("unknown_member"));
        }
    }

    fn array(&mut self, value: &Value, limits: (usize, usize), rule: fn(&mut Self, &Value)) {
        let Some(items) = value.as_array() else { return self.report("invalid_type") };
        if items.len() < limits.0 {
            self.report("too_few_items");
        }
        if items.len() > limits.1 {
            self.report("too_many_items");
        }
        for (index, item) in items.iter().enumerate() {
            self.below(json!(index), |oracle| rule(oracle, item));
        }
    }

    fn text(&mut self, value: &Value, code: &str, has_format: impl Fn(&[u8]) -> bool) {
        match value.as_str() {
            None => self.report("invalid_type"),
            Some(text) if !has_format(text.as_bytes()) => self.report(code),
            Some(_) => {}
        }
    }

    fn request(&mut self, value: &Value) {
        let any = |oracle: &mut Self, value: &Value| oracle.text(value, "", |_| true);
        let email =
            |oracle: &mut Self, value: &Value| oracle.text(value, "invalid_email", is_email);
        let uri = |oracle: &mut Self, value: &Value| oracle.text(value, "invalid_uri", is_uri);
        let date = |oracle: &mut Self, value: &Value| {
            oracle.text(value, "invalid_date_time", is_date_time)
        };
        let recipient = |oracle: &mut Self, value: &Value| {
            oracle.object(
                value,
                &[("email", true, &email), ("firstName", false, &any), ("name", false, &any)],
            )
        };
        let trigger = |oracle: &mut Self, value: &Value| {
            oracle.object(
                value,
                &[("date", false, &date), ("phrase", false, &any), ("externalUrl", false, &uri)],
            )
        };
        let pledges =
            |oracle: &mut Self, value: &Value| oracle.array(value, (1, usize::MAX), Self::pledge);
        let notifications =
            |oracle: &mut Self, value: &Value| oracle.array(value, (0, 3), Self::notification);
        self.object(
            value,
            &[
                ("reference", true, &any),
                ("recipient", true, &recipient),
                ("pledges", true, &pledges),
                ("trigger", false, &trigger),
                ("notifications", false, &notifications),
            ],
        );
    }

    fn pledge(&mut self, value: &Value) {
        let any = |oracle: &mut Self, value: &Value| oracle.text(value, "", |_| true);
        let uri = |oracle: &mut Self, value: &Value| oracle.text(value, "invalid_uri", is_uri);
        let amount = |oracle: &mut Self, value: &Value| match value.as_f64() {
            None => oracle.report("invalid_type"),
            Some(number) if number > 0.0 => {}
            Some(_) => oracle.report("not_positive"),
        };
        let impact = |oracle: &mut Self, value: &Value| {
            oracle.object(value, &[("amount", true, &amount), ("offeringId", true, &any)])
        };
        let detail = |oracle: &mut Self, value: &Value| {
            oracle.object(
                value,
                &[
                    ("name", false, &any),
                    ("description", false, &any),
                    ("nounSingular", false, &any),
                    ("nounPlural", false, &any),
                    ("image", false, &uri),
                    ("externalId", false, &any),
                    ("externalUrl", false, &uri),
                ],
            )
        };
        self.object(value, &[("impact", true, &impact), ("detail", false, &detail)]);
    }

    fn notification(&mut self, value: &Value) {
        let names = ["Email", "MessagingServiceA", "MessagingServiceB", "MessagingServiceC"];
        self.text(value, "not_allowed", |text| names.iter().any(|name| name.as_bytes() == text));
    }
}
