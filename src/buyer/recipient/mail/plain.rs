//! Writes the plain text of a notification: as an e-mail, or as a message of a messaging service.

use super::content::MailContent;
use super::events::{EventText, MailNews};
use crate::buyer::recipient::words::{Sentence, fill, part};

/// Writes the text of the e-mail. Its last paragraph is marked as a signature, which mail programs leave out
/// of replies.
pub(super) fn mail_text(content: &MailContent<'_>) -> String {
    let (why, shop) = content.why();
    text(content, "-- \n", &fill(why, &[shop]))
}

pub(super) fn message_text(content: &MailContent<'_>) -> String {
    text(content, "", &fill(content.language.text(Sentence::MessageWhy), &[content.shop]))
}

/// Writes the paragraphs of a text. The last one has the reference and the day, and says why the recipient
/// gets the text.
fn text(content: &MailContent<'_>, before_facts: &str, why: &str) -> String {
    let (greeting, name) = content.greeting();
    let say = |sentence| content.language.text(sentence);
    let cause = content.cause.iter().map(|cause| format!("{}\n{cause}", say(Sentence::Cause)));
    let mut paragraphs = Vec::from_iter(content.test_note().map(str::to_owned));
    paragraphs.extend([fill(greeting, &[name]), content.subject()]);
    match &content.news {
        Some(news) => {
            paragraphs.extend(news.events.iter().map(event));
            paragraphs.push(part(say(Sentence::SinceNote), 0).to_owned());
        }
        None => {
            paragraphs.push(list(content));
            paragraphs.extend(cause);
            paragraphs.push(content.own_lines.join("\n"));
        }
    }
    paragraphs.push(format!("{}\n{}", say(Sentence::MailLink), content.link));
    paragraphs.push(say(Sentence::MailPrivate).to_owned());
    paragraphs.push(format!("{before_facts}{}\n{why}", content.facts()));
    let end = |news: &MailNews<'_>| format!("{}\n{}", content.unsubscribe(), news.unsubscribe);
    paragraphs.extend(content.news.as_ref().map(end));
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs.join("\n\n") + "\n"
}

fn event(event: &EventText) -> String {
    event.lines().collect::<Vec<_>>().join("\n")
}

fn list(content: &MailContent<'_>) -> String {
    let line = |(quantity, name): (Option<&str>, Option<&str>)| {
        let parts = [quantity, name].into_iter().flatten().collect::<Vec<_>>();
        format!("- {}", parts.join(" · "))
    };
    content.lines().map(line).chain(content.more()).collect::<Vec<_>>().join("\n")
}
