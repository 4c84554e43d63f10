//! Texts and amounts.

use super::times::times_in_words;
use crate::buyer::visible::shown;
use maud::{Markup, html};

/// Renders an error message of an operation, with the values between backticks as code, and RFC
/// 3339 date-times in words. The message may contain texts that people wrote, so control characters are replaced.
pub(crate) fn inline_code(text: &str) -> Markup {
    let text: String = text.chars().map(shown).collect();
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 0 { (times_in_words(part)) } @else { code { bdi { (part) } } }
        }
    }
}

/// Renders a text that people copy. A click selects the whole text.
pub(crate) fn copyable(text: &str) -> Markup {
    html! { code.copy { (text) } }
}

pub(crate) fn copyable_lines(text: &str) -> Markup {
    html! { pre.copy tabindex="0" role="group" aria-label="Text to copy" { (text) } }
}

/// Maximum number of characters of a text that a page shows.
const MAX_TEXT: usize = 2_000;

/// Renders a text that a shop, a recipient or an operator wrote, truncated to [`MAX_TEXT`]. The
/// text gets its own text direction. Control characters, and characters that change the direction
/// of text, are replaced.
pub(crate) fn untrusted_text(text: &str) -> Markup {
    html! { bdi { (beginning(text, MAX_TEXT)) } }
}

/// Returns at most the first `most` characters of an untrusted text, and `…` if there are more.
pub(crate) fn beginning(text: &str, most: usize) -> String {
    let is_long = text.chars().nth(most).is_some();
    text.chars().take(most).map(shown).chain(is_long.then_some('…')).collect()
}

/// Renders `1.50 USD`.
pub(crate) fn money(amount: &str, currency: &str) -> Markup {
    html! { span.number { (grouped(amount)) " " (currency) } }
}

/// Writes a decimal with commas between thousands, as `-1,234,567.50`. Returns any other text unchanged.
pub(crate) fn grouped(number: impl ToString) -> String {
    let text = number.to_string();
    let (sign, digits) = text.split_at(usize::from(text.starts_with('-')));
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    if !whole.bytes().all(|byte| byte.is_ascii_digit()) {
        return text;
    }
    let mut grouped = String::with_capacity(text.len() + text.len() / 3);
    for (index, digit) in whole.char_indices() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    [sign, &grouped, fraction].concat()
}
