//! The lines about messaging services in the section "Health and setup".

use crate::buyer::adapters::DoorName;
use crate::pledges::types::NotificationService;

/// Whether a messaging service is set up. This follows from the names of the bindings, variables and
/// secrets that are set, because their values are not known here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attachment {
    /// Whether an adapter is attached for live keys.
    pub is_attached: bool,
    /// Whether the URL of an adapter is set without the secret that it needs.
    pub has_problem: bool,
    /// A sentence that says what is attached or missing. Names of variables are between backticks.
    pub text: String,
}

/// Returns the state of a messaging service; `None` if neither a service binding nor a URL is set for it.
pub(crate) fn attachment(set: &[String], service: NotificationService) -> Option<Attachment> {
    let [live, test] = [true, false].map(|is_live| Door::of(set, DoorName { service, is_live }));
    if [&live, &test].iter().all(|door| matches!(door, Door::None)) {
        return None;
    }
    let has_problem = [&live, &test].iter().any(|door| matches!(door, Door::NoSecret(_)));
    let is_attached = matches!(live, Door::Binding | Door::Url);
    let text = format!("Live keys: {}. Test keys: {}.", live.words(), test.words());
    Some(Attachment { is_attached, has_problem, text })
}

/// How the adapter of a messaging service is attached.
enum Door {
    Binding,
    Url,
    /// A URL is set, but not the secret that it needs.
    NoSecret(DoorName),
    None,
}

impl Door {
    fn of(set: &[String], name: DoorName) -> Self {
        let has = |end: &str| set.contains(&format!("{name}{end}"));
        match (has(""), has("_URL"), has("_SECRET")) {
            (true, ..) => Door::Binding,
            (_, true, true) => Door::Url,
            (_, true, false) => Door::NoSecret(name),
            _ => Door::None,
        }
    }

    fn words(&self) -> String {
        match self {
            Door::Binding => "attached by a service binding".to_owned(),
            Door::Url => "attached by a URL".to_owned(),
            Door::NoSecret(name) => {
                format!("not attached, because `{name}_URL` needs the secret `{name}_SECRET`")
            }
            Door::None => "not attached".to_owned(),
        }
    }
}
