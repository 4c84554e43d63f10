//! People of shops: who may sign in to the dashboard for a unit or a team.

pub mod operation;
pub mod page;
pub mod rows;
pub mod rule;
