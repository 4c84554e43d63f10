//! The response to a request. The dashboard's layout is added to it later.

use crate::office::shared::operation::listing::Listing;
use maud::Markup;
use serde::Serialize;
use std::borrow::Cow;

pub(crate) struct Page {
    pub status: u16,
    pub content: Content,
}

pub(crate) enum Content {
    /// A page of the dashboard: its title and its content.
    Framed(Cow<'static, str>, Markup),
    /// A separate HTML document, such as a timeline, with its `Content-Security-Policy`.
    Document(String, Cow<'static, str>),
    Json(Vec<u8>),
    /// A redirect: the address of another page of the dashboard.
    Redirect(String),
    /// A CSV export: its file name and its bytes. The name consists of letters, digits, `.`, `-` and `_`.
    Csv(String, Vec<u8>),
}

impl Page {
    /// Returns a page of the dashboard with status 200.
    pub fn new(title: impl Into<Cow<'static, str>>, content: Markup) -> Self {
        Page { status: 200, content: Content::Framed(title.into(), content) }
    }

    /// Returns a redirect to another page of the dashboard, which the browser requests by GET.
    pub fn redirect(address: String) -> Self {
        Page { status: 303, content: Content::Redirect(address) }
    }

    /// Returns a CSV export whose file name consists of these parts. Characters other than letters, digits
    /// and `_` become `-`, because the ID of a unit may have any visible ASCII character.
    pub fn csv(parts: &[&str], listing: &Listing) -> Self {
        Page::csv_file(parts, listing.csv())
    }

    /// Returns a CSV export like [`csv`](Self::csv), from the text of the file.
    pub fn csv_file(parts: &[&str], file: String) -> Self {
        let plain = |character: char| match character {
            '_' => '_',
            other if other.is_ascii_alphanumeric() => other,
            _ => '-',
        };
        let name: String = parts.join("-").chars().map(plain).collect();
        Page { status: 200, content: Content::Csv([&name, ".csv"].concat(), file.into_bytes()) }
    }

    pub fn json(status: u16, value: &impl Serialize) -> Self {
        let json = serde_json::to_vec(value).unwrap_or_default(); // cannot fail for these types
        Page { status, content: Content::Json(json) }
    }
}
