//! Renders pages as HTML documents, JSON or CSV files.

use super::access::Access;
use super::identity::Identity;
use super::response::{Content, Page};
use super::settings::Settings;
use super::view;
use crate::office::shared::rule::roles::{MemberRight, Permission};
use crate::pledges::api::header;
use crate::pledges::http::{Body, Media, Response};
use base64ct::{Base64, Encoding as _};
use maud::{DOCTYPE, Markup, PreEscaped, html};
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
const MENU: [(&str, &str, Permission); 11] = [
    ("Home", "/", Permission::Look),
    ("Transactions", "/orders", Permission::Look),
    ("Payments", "/payments", Permission::Account),
    ("Fulfilment", "/fulfilment", Permission::Account),
    ("Updates", "/updates", Permission::Operate),
    ("Units", "/units", Permission::Look),
    ("Teams", "/teams", Permission::Operate),
    ("Prices", "/prices", Permission::Operate),
    ("E-mails", "/mails", Permission::Support),
    ("Audit log", "/audit", Permission::Operate),
    ("System", "/system", Permission::Operate),
];

/// The menu for people who belong to a shop: name, path, and required right.
const SHOP_MENU: [(&str, &str, MemberRight); 3] = [
    ("Home", "/", MemberRight::View),
    ("Transactions", "/orders", MemberRight::View),
    ("Audit log", "/audit", MemberRight::View),
];

const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";
const CSV: &str = "text/csv; charset=utf-8";
const NOTHING: &str = "default-src 'none'";

/// Returns the headers of every response. The referrer policy must not be `no-referrer`: browsers would then
/// send forms with `Origin: null`.
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

/// Returns the `Content-Security-Policy` of a page: no scripts, no frames, only the dashboard's own style and
/// forms.
fn policy() -> String {
    let style = Base64::encode_string(&Sha256::digest(STYLE));
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; img-src data:; base-uri 'none'; \
         form-action 'self'; frame-ancestors 'none'"
    )
}

/// The layout around a page's content: header, menu and footer.
pub(crate) struct Layout<'f> {
    pub settings: &'f Settings,
    pub access: &'f Access,
    pub identity: Identity<'f>,
    pub path: &'f str,
}

impl Layout<'_> {
    pub fn respond<V>(&self, page: Page) -> Response<V> {
        let mut header_of_content = None;
        let (media, policy, body) = match page.content {
            Content::Framed(title, content) => {
                (HTML, Cow::Owned(policy()), self.render(&title, &content).into_string().into())
            }
            Content::Document(html, policy) => (HTML, policy, html.into_bytes()),
            Content::Redirect(address) => {
                header_of_content = Some(("location", Cow::Owned(address)));
                (TEXT, Cow::Borrowed(NOTHING), Vec::new())
            }
            Content::Json(bytes) => (JSON, Cow::Borrowed(NOTHING), bytes),
            Content::Csv(name, bytes) => {
                let file = format!("attachment; filename=\"{name}\"");
                header_of_content = Some(("content-disposition", Cow::Owned(file)));
                (CSV, Cow::Borrowed(NOTHING), bytes)
            }
        };
        let mut response = Response::new(page.status, Media::None, Body::Bytes(body));
        response.headers = headers(media, policy);
        response.headers.extend(header_of_content);
        if page.status == 503 {
            response.headers.push((header::RETRY_AFTER, Cow::Borrowed("1")));
        }
        response
    }

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
                            (self.search())
                            (self.person())
                        }
                    }
                    main #main { h1 { (title) } (content) }
                    footer {
                        @if self.access.may_open(Permission::Look, MemberRight::View) {
                            a href="/notices" { "E-mails to you" } ". "
                        }
                        "Times without a time zone are in UTC. Version " (self.settings.version) "."
                    }
                }
            }
        }
    }

    fn menu(&self) -> Markup {
        let Access { roles, memberships } = self.access;
        let staff = MENU.iter().filter(|(_, _, permission)| roles.may(*permission));
        let shop = SHOP_MENU.iter().filter(|(_, _, right)| memberships.has(*right));
        let own = staff.map(|it| (it.0, it.1)).chain(shop.map(|it| (it.0, it.1)));
        html! {
            nav aria-label="Pages" {
                ul {
                    @for (name, address) in own {
                        li { a href=(address) aria-current=[self.current(address)] { (name) } }
                    }
                }
            }
        }
    }

    /// Renders the search field of every page, for people who may see transactions.
    fn search(&self) -> Markup {
        let field = html! {
            input type="search" name="text" required aria-label="Search" placeholder="Order, e-mail or ID";
            button { "Find" }
        };
        html! {
            @if self.access.may_open(Permission::Look, MemberRight::View) {
                search { (view::form("/find", &field)) }
            }
        }
    }

    /// Returns the value of `aria-current` for a menu entry: `page` on the entry's own page, `true` on the
    /// pages below that page.
    fn current(&self, address: &str) -> Option<&'static str> {
        // The page of a transaction belongs to the list of transactions.
        let path = match self.path.strip_prefix("/transactions/") {
            Some(id) => &["/orders/", id].concat(),
            None => self.path,
        };
        let below = path.strip_prefix(address)?;
        match below {
            "" => Some("page"),
            _ => below.starts_with('/').then_some("true"),
        }
    }

    fn person(&self) -> Markup {
        let Identity::Address(address) = self.identity else { return html! {} };
        let roles = self.access.in_words();
        html! { p.person { bdi { (address) } @if !roles.is_empty() { ", " (roles) } } }
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
