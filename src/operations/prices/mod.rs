//! Operations on prices.

mod change;
mod read;

pub use change::{CHANGE, REMOVE, SET, change, remove, set};
pub use read::{HISTORY, SHOW, history, show};

use super::spec::{Argument, modes, unit};
use crate::charge::UnitPrice;
use crate::scope::Mode;
use crate::store::PriceListKey;
use serde::Deserialize;

/// The modes of the selected price lists.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Modes {
    Test,
    Live,
    Both,
}

impl Modes {
    const fn each(self) -> &'static [Mode] {
        match self {
            Modes::Test => &[Mode::Test],
            Modes::Live => &[Mode::Live],
            Modes::Both => &[Mode::Test, Mode::Live],
        }
    }
}

/// The selected price lists, from the arguments `--mode` and `--unit`.
#[derive(Deserialize)]
pub struct Whose {
    mode: Modes,
    unit: Option<String>,
}

impl Whose {
    fn each(&self) -> impl Iterator<Item = PriceListKey<'_>> {
        let unit = self.unit.as_deref();
        self.mode.each().iter().map(move |mode| PriceListKey { mode: *mode, unit })
    }
}

const MODE: Argument = modes("both", "the price list of test keys, of live keys, or both");
const UNIT: Argument =
    unit("the price list of this unit alone; without it, that of all units without their own");

/// Returns the text of a price, or a dash if there is none.
fn price(price: Option<&UnitPrice>) -> String {
    price.map_or_else(|| "–".to_owned(), text_of)
}

/// Returns the text of a price, formatted as in JSON.
pub(super) fn text_of(price: &UnitPrice) -> String {
    price.as_str().to_owned()
}
