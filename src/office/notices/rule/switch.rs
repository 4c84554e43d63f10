//! Switches the e-mails of a person on and off.

use super::super::rows::notices::NoticeKind;
use super::super::rows::switches;
use super::super::rows::switches::SwitchedOff;
use crate::office::audit::rule::Author;
use crate::office::people::rule::{is_address, normal_address};
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::commit::{Commit, commit};
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::once::{Done, StoredAsIs};
use crate::office::shared::rule::refused::RefusalCode;
use crate::pledges::service::{Clock, Entropy};
use serde::{Deserialize, Serialize};

const SET: &str = "notices set";

/// The outcome of a change. It does not contain the address, because outcomes are stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Switched {
    pub kind: NoticeKind,
    pub on: bool,
}

impl StoredAsIs for Switched {}

/// Switches a kind of e-mails on or off for a person, whether or not the person may get them. Ledger cost: 2 queries.
///
/// # Errors
/// If this is not an e-mail address, or the ledger fails.
pub async fn switch(
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    (address, kind): (&str, NoticeKind),
    on: bool,
) -> Result<Done<Switched>> {
    let address = normal_address(address);
    if !is_address(&address) {
        let problem = "nothing was changed: this is not an e-mail address";
        return Err(OperatorError::at("address", RefusalCode::Invalid, problem));
    }
    let of = SwitchedOff { address, kind };
    let work = async |at: &Commit<'_, _, _>| switch_now(at, &of, on).await;
    commit(ledger, author, (SET, &(&of, on)), work).await
}

async fn switch_now(
    commit: &Commit<'_, impl Clock, impl Entropy>,
    of: &SwitchedOff,
    on: bool,
) -> Result<Switched> {
    let outcome = Switched { kind: of.kind, on };
    let words = [of.kind.name(), if on { " on" } else { " off" }].concat();
    let entry = commit.author.entry(SET, |_| vec![of.address.clone(), words]).await?;
    match commit.make(&entry, &outcome, switches::switching(of, on)?).await? {
        true => Ok(outcome),
        false => Err(OperatorError::try_again("nothing was changed: try again")),
    }
}
