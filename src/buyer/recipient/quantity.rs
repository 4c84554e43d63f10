use super::language::{Language, Plural};
use super::rounded::Rounded;
use super::text::{brief, shown};
use super::words::{Sentence, fill};
use crate::pledges::types::{Amount, Impact, PledgeDetail, RetrievedPledge};

/// A quantity for readers: an amount, and the words for what is counted.
pub struct WordedQuantity<'p> {
    /// The amount, rounded, in the format of the reader's language, such as `1,000`.
    pub amount: String,
    /// What is counted.
    pub subject: Wording<'p>,
}

/// The words for what a quantity counts.
pub enum Wording<'p> {
    /// A noun: `12 trees`.
    Noun(&'p str),
    /// The pledge's name, if it has no noun: `12 × Mangrove`.
    Name(&'p str),
    /// The offering's ID as words, if the pledge has neither a noun nor a name: `12 × tree offering`.
    Offering(String),
    /// The offering's ID itself, if it does not consist of words: `3 of reef-7`.
    Unknown(&'p str),
}

impl<'p> WordedQuantity<'p> {
    /// Describes an amount of pledges that have the same details, using the pledge's noun in the plural form that the language
    /// requires. If that form is missing, uses the other form. Without a noun, uses the pledge's name, or
    /// else the offering's ID.
    pub fn new(
        language: Language,
        amount: Amount,
        offering_id: &'p str,
        detail: &'p PledgeDetail<'_>,
    ) -> Self {
        let quantity = WordedQuantity::of_offering(language, amount, offering_id, detail);
        match (&quantity.subject, shown(&detail.name)) {
            (Wording::Noun(_), _) | (_, None) => quantity,
            (_, Some(name)) => WordedQuantity { subject: Wording::Name(name), ..quantity },
        }
    }

    /// Describes an amount of an offering, such as the sum of several pledges. Takes the nouns from `detail`,
    /// but not the name, because a name belongs to a single pledge.
    pub fn of_offering(
        language: Language,
        amount: Amount,
        offering_id: &'p str,
        detail: &'p PledgeDetail<'_>,
    ) -> Self {
        let amount = Rounded::new(amount);
        let (first, second) = match language.plural(amount.value) {
            Plural::One => (&detail.noun_singular, &detail.noun_plural),
            // Japanese has no plural forms, but the nouns on a Japanese page may be English: `1 tree`.
            _ if amount.value == 1.0 => (&detail.noun_singular, &detail.noun_plural),
            _ => (&detail.noun_plural, &detail.noun_singular),
        };
        let noun = shown(first).or_else(|| shown(second)).map(Wording::Noun);
        let id = || words_of(offering_id).map(Wording::Offering);
        let unknown = || Wording::Unknown(offering_id);
        let subject = noun.or_else(id).unwrap_or_else(unknown);
        WordedQuantity { amount: amount.write(language), subject }
    }

    /// Writes the quantity as one line of text, such as `12 trees`. Returns `None` if it has no readable words.
    pub fn brief(&self, language: Language) -> Option<String> {
        let amount = &self.amount;
        match &self.subject {
            Wording::Noun(noun) => {
                brief(noun).map(|noun| [amount, language.space_before(&noun), &noun].concat())
            }
            Wording::Name(_) | Wording::Offering(_) => {
                brief(self.title()?).map(|name| format!("{amount} × {name}"))
            }
            Wording::Unknown(_) => None,
        }
    }

    /// Returns the words for what is counted: the noun, the name, or the ID as words. Returns `None` if the
    /// ID does not consist of words.
    pub fn title(&self) -> Option<&str> {
        match &self.subject {
            Wording::Noun(text) | Wording::Name(text) => Some(text),
            Wording::Offering(words) => Some(words),
            Wording::Unknown(_) => None,
        }
    }
}

/// A line of an e-mail's list of pledges.
pub(super) struct PledgeLine {
    /// The quantity for a sentence, such as `12 trees`; `None` if it has no readable words.
    pub words: Option<String>,
    /// The quantity for the list, such as `12 trees` or `3 of reef-7`.
    pub quantity: String,
    pub name: Option<String>,
}

impl PledgeLine {
    pub fn new(language: Language, pledge: &RetrievedPledge<'_>) -> Self {
        let nothing = PledgeDetail::default();
        let detail = pledge.details.first().unwrap_or(&nothing);
        let Impact { amount, offering_id } = &pledge.impact;
        let quantity = WordedQuantity::new(language, *amount, offering_id, detail);
        let words = quantity.brief(language);
        let listed = words.clone().filter(|_| !matches!(quantity.subject, Wording::Offering(_)));
        let quantity = listed
            .unwrap_or_else(|| of_offering(language, &quantity.amount, &pledge.impact.offering_id));
        let name = detail.name.as_deref().and_then(brief);
        let name = name.filter(|name| !quantity.ends_with(name));
        PledgeLine { words, quantity, name }
    }
}

/// Writes the quantity of an offering without a noun or name: `3 of reef-7`.
fn of_offering(language: Language, amount: &str, id: &str) -> String {
    match brief(id) {
        Some(id) => fill(language.text(Sentence::MailOf), &[amount, &id]),
        None => fill(language.text(Sentence::Quantity), &[amount]),
    }
}

/// Maximum length of an ID that is shown as words, in bytes.
const MAX_WORDS_LENGTH: usize = 40;

/// Converts an ID to words: `plastic-kg` becomes `plastic kg`. Returns `None` for an ID with digits or more than 40 bytes.
fn words_of(id: &str) -> Option<String> {
    let is_readable = |byte: u8| byte.is_ascii_alphabetic() || !byte.is_ascii();
    let mut words = String::new();
    for word in id.split(|character| "-_. ".contains(character)) {
        if word.is_empty() || id.len() > MAX_WORDS_LENGTH || !word.bytes().all(is_readable) {
            return None;
        }
        words.push_str(word);
        words.push(' ');
    }
    words.pop();
    Some(words)
}
