pub mod names;
pub mod shops;
