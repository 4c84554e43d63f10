//! Renders pages as HTML documents, JSON or CSV files.

use super::access::Identity;
use super::settings::Settings;
use crate::api::header;
use crate::http::{Body, Media, Response};
use crate::operator::roles::{Permission, Roles};
use base64ct::{Base64, Encoding as _};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;

const STYLE: &str = include_str!("style.css");
/// The icon of the browser tab: a leaf on a disc.
const ICON: &str = "data:image/svg+xml,\
     %3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E\
     %3Ccircle cx='12' cy='12' r='12' fill='%231c2822'/%3E\
     %3Cpath d='M7 17C5.6 10.4 9.6 6.4 17.4 6.6 17.8 14.4 13.6 18.4 7 17Z' fill='%2386cda2'/%3E\
     %3C/svg%3E";

/// The pages of the menu: name, path, and required permission.
const MENU: [(&str, &str, Permission); 10] = [
    ("Find", "/", Permission::Look),
    ("Transactions", "/orders", Permission::Look),
    ("Usage", "/usage", Permission::Account),
    ("Fulfilment", "/fulfilment", Permission::Account),
    ("Units", "/units", Permission::Look),
    ("Teams", "/teams", Permission::Operate),
    ("Prices", "/prices", Permission::Operate),
    ("E-mails", "/mails", Permission::Support),
    ("Audit log", "/audit", Permission::Operate),
    ("System", "/system", Permission::Operate),
];

/// The response to a request.
pub(super) struct Page {
    pub status: u16,
    pub content: Content,
}

pub(super) enum Content {
    /// A page of the dashboard: its title and its content.
    Framed(Cow<'static, str>, Markup),
    /// A separate HTML document, such as a timeline, with its `Content-Security-Policy`.
    Document(String, Cow<'static, str>),
    /// JSON.
    Json(Vec<u8>),
    /// A CSV export: its file name, which consists of letters, digits, `.`, `-` and `_`, and its bytes.
    Csv(String, Vec<u8>),
}

impl Page {
    /// Returns a page of the dashboard with status 200.
    pub fn new(title: impl Into<Cow<'static, str>>, content: Markup) -> Self {
        Page { status: 200, content: Content::Framed(title.into(), content) }
    }

    /// Appends content to a page of the dashboard. Other responses stay unchanged.
    pub fn with(self, more: &Markup) -> Self {
        let content = match self.content {
            Content::Framed(title, content) => Content::Framed(title, html! { (content) (more) }),
            other => other,
        };
        Page { content, ..self }
    }

    /// Returns a JSON response.
    pub fn json(status: u16, value: &impl Serialize) -> Self {
        let json = serde_json::to_vec(value).unwrap_or_default(); // cannot fail for these types
        Page { status, content: Content::Json(json) }
    }

    pub fn into_response<V>(self, layout: &Layout<'_>) -> Response<V> {
        let mut disposition = None;
        let (media, policy, body) = match self.content {
            Content::Framed(title, content) => {
                (HTML, Cow::Owned(policy()), layout.render(&title, &content).into_string().into())
            }
            Content::Document(html, policy) => (HTML, policy, html.into_bytes()),
            Content::Json(bytes) => (JSON, Cow::Borrowed(NOTHING), bytes),
            Content::Csv(name, bytes) => {
                disposition = Some(format!("attachment; filename=\"{name}\""));
                (CSV, Cow::Borrowed(NOTHING), bytes)
            }
        };
        let mut response = Response::new(self.status, Media::None, Body::Bytes(body));
        response.headers = headers(media, policy);
        let disposition = disposition.map(|text| ("content-disposition", Cow::Owned(text)));
        response.headers.extend(disposition);
        if self.status == 503 {
            response.headers.push((header::RETRY_AFTER, Cow::Borrowed("1")));
        }
        response
    }
}

const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";
const CSV: &str = "text/csv; charset=utf-8";
const NOTHING: &str = "default-src 'none'";

/// The headers of every response with a body. Forms need the referrer policy: without a referrer, browsers send no `Origin`.
fn headers(
    media: &'static str,
    policy: Cow<'static, str>,
) -> Vec<(&'static str, Cow<'static, str>)> {
    vec![
        ("content-type", Cow::Borrowed(media)),
        ("content-security-policy", policy),
        ("cross-origin-opener-policy", Cow::Borrowed("same-origin")),
        ("cross-origin-resource-policy", Cow::Borrowed("same-origin")),
        ("referrer-policy", Cow::Borrowed("same-origin")),
        ("x-content-type-options", Cow::Borrowed("nosniff")),
        ("x-robots-tag", Cow::Borrowed("noindex, nofollow")),
    ]
}

/// The `Content-Security-Policy` of a page: no scripts, no frames, only the dashboard's own style and forms.
fn policy() -> String {
    let style = Base64::encode_string(&Sha256::digest(STYLE));
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; img-src data:; base-uri 'none'; \
         form-action 'self'; frame-ancestors 'none'"
    )
}

/// The layout around a page's content: header, menu and footer.
pub(super) struct Layout<'f> {
    pub settings: &'f Settings,
    pub roles: &'f Roles,
    pub identity: Identity<'f>,
    /// The path of the request.
    pub path: &'f str,
}

impl Layout<'_> {
    fn render(&self, title: &str, content: &Markup) -> Markup {
        let environment = &self.settings.environment;
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (title) " · Impact Pledge dashboard" }
                    link rel="icon" href=(ICON);
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    a.skip href="#main" { "Skip to content" }
                    header {
                        @if !environment.is_empty() {
                            p.band.production[self.settings.is_production()] { (environment) }
                        }
                        div.bar {
                            a.brand href="/" { (logo()) "Impact Pledge" }
                            (self.menu())
                            (self.person())
                        }
                    }
                    main #main { h1 { (title) } (content) }
                    footer { "All times are in UTC. Version " (self.settings.version) "." }
                }
            }
        }
    }

    fn menu(&self) -> Markup {
        let own = MENU.iter().filter(|(_, _, permission)| self.roles.may(*permission));
        html! {
            nav aria-label="Pages" {
                ul {
                    @for (name, address, _) in own {
                        li { a href=(address) aria-current=[self.current(address)] { (name) } }
                    }
                }
            }
        }
    }

    /// Returns the value of `aria-current` for a menu entry: `page` on its own page, `true` on the pages below it.
    fn current(&self, address: &str) -> Option<&'static str> {
        let below = self.path.strip_prefix(address)?;
        match below {
            "" => Some("page"),
            _ => below.starts_with('/').then_some("true"),
        }
    }

    fn person(&self) -> Markup {
        let Identity::Address(address) = self.identity else { return html! {} };
        html! { p.person { bdi { (address) } ", " (self.roles.in_words()) } }
    }
}

/// Draws the logo: a leaf in a ring.
fn logo() -> Markup {
    html! {
        svg viewBox="0 0 24 24" width="26" height="26" aria-hidden="true" {
            circle cx="12" cy="12" r="11" {}
            path d="M7 17C5.6 10.4 9.6 6.4 17.4 6.6 17.8 14.4 13.6 18.4 7 17L13 11" {}
        }
    }
}
