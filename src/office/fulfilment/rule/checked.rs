//! Checks a fulfilment: what a person records as done for the pledges of a month.

use crate::buyer::visible::is_line;
use crate::buyer::web_address::WebAddress;
use crate::office::fulfilment::rows::fulfilments::NewFulfilment;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::refused::RefusalCode;
use crate::pledges::decimal::Decimal;
use crate::pledges::service::Clock;
use crate::pledges::time::parse_ms;
use std::fmt::Display;

/// Largest number of bytes of a partner's name, and of a place.
const MAX_LINE: usize = 200;
/// Largest number of bytes of an offering's ID. The ledger shortens longer IDs to this size.
pub(crate) const MAX_OFFERING: usize = 256;

/// Whether a text can be the ID of an offering in the ledger. A request may have chosen an ID with invisible characters.
pub(crate) fn is_offering(id: &str) -> bool {
    (1..=MAX_OFFERING).contains(&id.len()) && !id.contains(char::is_control)
}

pub(super) fn refused(
    argument: &'static str,
    code: RefusalCode,
    problem: impl Display,
) -> OperatorError {
    OperatorError::at(argument, code, format!("nothing was recorded: {problem}"))
}

/// Checks the members of a fulfilment.
///
/// # Errors
/// If one of them is not valid, the month has not begun, or the day is in the future.
pub fn check(new: &NewFulfilment, clock: &impl Clock) -> Result<()> {
    checked(new, clock).map(drop)
}

/// Checks the members of a fulfilment. Returns the fulfilment with its quantity in the shortest form.
pub(super) fn checked(new: &NewFulfilment, clock: &impl Clock) -> Result<NewFulfilment> {
    if !is_offering(&new.offering) {
        let problem = format_args!("the offering must be one line of 1 to {MAX_OFFERING} bytes");
        return Err(refused("offering", RefusalCode::Invalid, problem));
    }
    for (name, text) in [("partner", &new.partner), ("place", &new.place)] {
        if text.as_deref().is_some_and(|text| !is_line(text, MAX_LINE)) {
            let problem = format_args!(
                "the {name} must be one line of 1 to {MAX_LINE} bytes, without invisible characters"
            );
            return Err(refused(name, RefusalCode::Invalid, problem));
        }
    }
    if new.report.as_deref().is_some_and(|report| !WebAddress::is_secure(report)) {
        let problem = "the report must be a web address that begins with https://";
        return Err(refused("report", RefusalCode::Invalid, problem));
    }
    check_day(&new.done_on, clock)?;
    if !new.month.has_begun(clock.now_ms()) {
        let problem = format_args!("the month {} has not begun yet", new.month);
        return Err(refused("month", RefusalCode::NotAllowed, problem));
    }
    Ok(NewFulfilment { quantity: quantity(&new.quantity)?, ..new.clone() })
}

fn check_day(day: &str, clock: &impl Clock) -> Result<()> {
    let begins_ms = parse_ms(&[day, "T00:00:00Z"].concat()).filter(|_| day.len() == 10);
    match begins_ms {
        None => Err(refused(
            "done-on",
            RefusalCode::Invalid,
            "write the day on which the work was done in the form 2026-11-20",
        )),
        Some(begins_ms) if begins_ms > clock.now_ms() => {
            let problem = format_args!("{day} is in the future");
            Err(refused("done-on", RefusalCode::NotAllowed, problem))
        }
        Some(_) => Ok(()),
    }
}

/// Parses a quantity, which must be above 0. Returns it as an exact decimal.
fn quantity(text: &str) -> Result<String> {
    let decimal = Decimal::parse_bounded(text).filter(|decimal| !decimal.is_zero());
    decimal.map(|decimal| decimal.to_exact()).ok_or_else(|| {
        let quoted: String = text.chars().take(MAX_LINE).collect();
        let problem = format_args!(
            "the quantity must be a number above 0, such as 1200 or 12.5, not `{quoted}`"
        );
        refused("quantity", RefusalCode::Invalid, problem)
    })
}
