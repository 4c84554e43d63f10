pub mod ledger;
pub mod tasks;
