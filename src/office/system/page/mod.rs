mod acceptance;
pub mod first_day;
pub mod home;
pub mod last_backups;
pub mod ledger;
pub mod setup;
pub mod setup_messaging;
pub mod start;
pub mod system;
