pub mod limits;
pub mod requests;
