//! The arguments that select price lists.

use crate::office::shared::operation::spec::{Argument, modes, unit};
use crate::pledges::scope::Mode;
use crate::pledges::store::PriceListKey;
use serde::Deserialize;

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Modes {
    Test,
    Live,
    Both,
}

impl Modes {
    pub(super) const fn each(self) -> &'static [Mode] {
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
    pub(super) mode: Modes,
    pub(super) unit: Option<String>,
}

impl Whose {
    pub(super) fn each(&self) -> impl Iterator<Item = PriceListKey<'_>> {
        let unit = self.unit.as_deref();
        self.mode.each().iter().map(move |mode| PriceListKey { mode: *mode, unit })
    }
}

pub(super) const MODE: Argument =
    modes("both", "the price list of test keys, of live keys, or both");
pub(super) const UNIT: Argument = unit(
    "only the price list of this unit; without it, the price list of all units that do not have their own",
);
