pub mod names;
pub mod scopes;
