//! What a rule returns.

/// The text of a violation; `None` if a rule holds, or does not apply.
pub type Wrong = Option<String>;

pub fn unless(holds: bool, wrong: impl FnOnce() -> String) -> Wrong {
    (!holds).then(wrong)
}
