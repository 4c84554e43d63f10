//! Pages and forms of the dashboard.

pub mod access;
pub mod context;
pub mod form;
pub mod guard;
pub mod identity;
pub mod layout;
pub mod link;
pub mod list_times;
pub mod metered;
pub mod operation;
pub(crate) mod problem;
pub mod refusal;
pub mod response;
pub mod settings;
pub mod view;
