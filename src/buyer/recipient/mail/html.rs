//! Renders the e-mail as HTML: one column, in tables, because some mail programs apply widths only to tables.

use super::content::MailContent;
use super::events::EventText;
use super::style::{
    BUTTON_HEIGHT, COLUMN, FOOT, HEADING, HIDDEN, LABEL, LOGO_HEIGHT, Look, MAIN, MARGIN, NOTE,
    PAPER, PARAGRAPH, SOFT, WORD_COLUMN, WORD_COLUMN_END, WORD_HEAD, cell_style,
};
use crate::buyer::recipient::accent::LIGHT_PAPER;
use crate::buyer::recipient::words::{Sentence, part};
use maud::{DOCTYPE, Markup, PreEscaped, html};

pub(super) fn document(content: &MailContent<'_>, look: &Look<'_>) -> String {
    let document = html! {
        (DOCTYPE)
        html lang=(content.language.tag()) xmlns:o="urn:schemas-microsoft-com:office:office" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="supported-color-schemes" content="light dark";
                meta name="format-detection" content="telephone=no, date=no, address=no, email=no, url=no";
                meta name="x-apple-disable-message-reformatting";
                title { (content.subject()) }
                (PreEscaped(WORD_HEAD))
                style { (PreEscaped(look.rules())) }
            }
            body.paper bgcolor=(LIGHT_PAPER) style=(PAPER) {
                (preheader(content))
                table.paper role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"
                    bgcolor=(LIGHT_PAPER) style=(PAPER) {
                    tr {
                        td align="center" style=(MARGIN) {
                            (PreEscaped(WORD_COLUMN)) (column(content, look)) (PreEscaped(WORD_COLUMN_END))
                        }
                    }
                }
            }
        }
    };
    document.into_string()
}

/// Renders the preview text that mail programs show after the subject. It ends with invisible characters,
/// which fill the preview. So the e-mail's first words do not appear in the preview.
fn preheader(content: &MailContent<'_>) -> Markup {
    html! {
        div.preheader aria-hidden="true" style=(HIDDEN) {
            (content.preheader()) (PreEscaped("&#847;&zwnj;&nbsp;".repeat(60)))
        }
    }
}

fn column(content: &MailContent<'_>, look: &Look<'_>) -> Markup {
    html! {
        table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style=(COLUMN) {
            tr {
                td.ink align="left" style=(cell_style(MAIN)) {
                    (shop(content, look))
                    (message(content, look))
                    (button(content, look))
                    p.soft style=(NOTE) { (content.language.text(Sentence::MailPrivate)) }
                }
            }
            tr { td."ink foot" align="left" style=(cell_style(FOOT)) { (foot(content)) } }
        }
    }
}

fn shop(content: &MailContent<'_>, look: &Look<'_>) -> Markup {
    html! {
        @if let Some(logo) = look.logo {
            p style="margin:0 0 28px" {
                img.logo src=(logo) alt=(content.shop) height=(LOGO_HEIGHT) style=(look.logo_style());
            }
        } @else {
            p.leaf style={ "margin:0 0 28px;font-weight:600;color:" (look.light) } { bdi { (content.shop) } }
        }
    }
}

fn message(content: &MailContent<'_>, look: &Look<'_>) -> Markup {
    let (greeting, name) = content.greeting();
    let (sentence, [shop, other]) = content.statement();
    html! {
        @if let Some(note) = content.test_note() { p style=(PARAGRAPH) { strong { (note) } } }
        p style=(PARAGRAPH) { (fill_isolated(greeting, &[name])) }
        h1 style=(HEADING) { (fill_isolated(sentence, &[&shop, &other])) }
        @if let Some(news) = &content.news {
            @for each in &news.events { (event(each, look)) }
            p.soft style=(SOFT) { (part(content.language.text(Sentence::SinceNote), 0)) }
        } @else {
            (list(content, look))
            @if let Some(cause) = &content.cause {
                p.soft style=(SOFT) { (content.language.text(Sentence::Cause)) }
                p style=(PARAGRAPH) { bdi { (cause) } }
            }
            (own_sentence(content))
        }
    }
}

fn event(EventText { title, text, facts }: &EventText, look: &Look<'_>) -> Markup {
    html! {
        div style=(PARAGRAPH) {
            p style="margin:0 0 6px" { strong.leaf style={ "color:" (look.light) } { bdi { (title) } } }
            @if let Some(text) = text { p dir="auto" style="margin:0 0 6px" { (text) } }
            @for fact in facts { p.soft style=(SOFT) { bdi { (fact) } } }
        }
    }
}

/// Renders the list of pledges with paragraphs instead of `ul` and `li`: Word, which Outlook uses, gives
/// those elements margins that no style removes.
fn list(content: &MailContent<'_>, look: &Look<'_>) -> Markup {
    let mut lines = content.lines().peekable();
    html! {
        @if lines.peek().is_some() {
            div role="list" style="margin:0 0 20px" {
                @for (quantity, name) in lines {
                    p role="listitem" style="margin:0 0 6px" {
                        @if let Some(quantity) = quantity {
                            strong.leaf style={ "color:" (look.light) } { bdi { (quantity) } } " "
                        }
                        @if let Some(name) = name { bdi { (name) } }
                    }
                }
                @if let Some(more) = content.more() {
                    p role="listitem" style="margin:0 0 6px" { (more) }
                }
            }
        }
    }
}

fn own_sentence(content: &MailContent<'_>) -> Markup {
    html! {
        @if let [first, others @ ..] = &*content.own_lines {
            p dir="auto" style=(PARAGRAPH) {
                (first)
                @for line in others { br; (line) }
            }
        }
    }
}

fn button(content: &MailContent<'_>, look: &Look<'_>) -> Markup {
    html! {
        table role="presentation" cellpadding="0" cellspacing="0" border="0" {
            tr {
                td.button align="center" height=(BUTTON_HEIGHT) bgcolor=(look.light) style=(look.button_style()) {
                    a.label href=(content.link) style=(LABEL) {
                        (content.language.text(Sentence::MailLink))
                    }
                }
            }
        }
    }
}

fn foot(content: &MailContent<'_>) -> Markup {
    let (why, shop) = content.why();
    html! {
        p.soft style=(SOFT) { bdi { (content.facts()) } }
        p.soft style=(SOFT) { (fill_isolated(why, &[shop])) }
        @if let Some(news) = &content.news {
            p.soft style=(SOFT) { a.soft href=(news.unsubscribe) { (content.unsubscribe()) } }
        }
    }
}

/// Inserts values into a sentence. Each value gets its own text direction. A short value, such as `12 trees`,
/// stays on one line.
fn fill_isolated(sentence: &str, values: &[&str]) -> Markup {
    let mut pieces = sentence.split("{}");
    let unbroken = |value: &str| value.chars().nth(MAX_UNBROKEN).is_none();
    html! {
        (pieces.next().unwrap_or_default())
        @for (piece, value) in pieces.zip(values) {
            bdi style=[unbroken(value).then_some("white-space:nowrap")] { (value) } (piece)
        }
    }
}

/// Maximum length of a value that is kept on one line, in characters.
const MAX_UNBROKEN: usize = 16;
