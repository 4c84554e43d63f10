//! The lines about messaging services in the section "Health and setup".

use crate::buyer::adapters::AdapterName;
use crate::pledges::types::NotificationService;

/// Whether a messaging service is set up. This follows from the names of the bindings, variables and
/// secrets that are set, because their values are not known here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attachment {
    pub is_attached: bool,
    /// Whether the URL of an adapter is set without the secret that it needs.
    pub has_problem: bool,
    /// A sentence that says what is attached or missing. Names of variables are between backticks.
    pub text: String,
}

/// Returns the state of a messaging service; `None` if neither a service binding nor a URL is set for it.
pub(crate) fn attachment(set: &[String], service: NotificationService) -> Option<Attachment> {
    let [live, test] =
        [true, false].map(|is_live| Address::of(set, AdapterName { service, is_live }));
    if [&live, &test].iter().all(|address| matches!(address, Address::None)) {
        return None;
    }
    let has_problem = [&live, &test].iter().any(|address| matches!(address, Address::NoSecret(_)));
    let is_attached = matches!(live, Address::Binding | Address::Url);
    let text = format!("Live keys: {}. Test keys: {}.", live.words(), test.words());
    Some(Attachment { is_attached, has_problem, text })
}

enum Address {
    Binding,
    Url,
    /// A URL is set, but not the secret that it needs.
    NoSecret(AdapterName),
    None,
}

impl Address {
    fn of(set: &[String], name: AdapterName) -> Self {
        let has = |end: &str| set.contains(&format!("{name}{end}"));
        match (has(""), has("_URL"), has("_SECRET")) {
            (true, ..) => Address::Binding,
            (_, true, true) => Address::Url,
            (_, true, false) => Address::NoSecret(name),
            _ => Address::None,
        }
    }

    fn words(&self) -> String {
        match self {
            Address::Binding => "attached by a service binding".to_owned(),
            Address::Url => "attached by a URL".to_owned(),
            Address::NoSecret(name) => {
                format!("not attached, because `{name}_URL` needs the secret `{name}_SECRET`")
            }
            Address::None => "not attached".to_owned(),
        }
    }
}
