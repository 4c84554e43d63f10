//! Variables and secrets of a Worker.

/// The text of a variable without blanks around it; `None` if nothing is left.
pub fn trimmed(variable: Option<String>) -> Option<String> {
    let text = variable?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}
