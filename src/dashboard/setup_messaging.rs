//! The lines about messaging services in the section "Health and setup".

use crate::messaging::DoorName;
use crate::pledge::NotificationService;

/// The state of a messaging service, as far as the names of the service's bindings, variables and secrets show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Attachment {
    /// Whether live keys have an adapter.
    pub is_attached: bool,
    /// Whether an adapter has a URL, but no secret.
    pub has_problem: bool,
    /// What is attached, or what is missing, in a sentence with code between backticks.
    pub text: String,
}

/// Returns the state of a messaging service; `None` if nothing of it is set.
pub(super) fn attachment(set: &[String], service: NotificationService) -> Option<Attachment> {
    let [live, test] = [true, false].map(|is_live| Door::of(set, DoorName { service, is_live }));
    if [&live, &test].iter().all(|door| matches!(door, Door::None)) {
        return None;
    }
    let has_problem = [&live, &test].iter().any(|door| matches!(door, Door::NoSecret(_)));
    let is_attached = matches!(live, Door::Binding | Door::Url);
    let text = format!("Live keys: {}. Test keys: {}.", live.words(), test.words());
    Some(Attachment { is_attached, has_problem, text })
}

/// How an adapter is attached.
enum Door {
    Binding,
    Url,
    /// There is a URL, but no secret.
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
