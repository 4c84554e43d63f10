//! Tests uploaded pictures: which are accepted, what is removed from them, who may upload, and how the service shows them.

mod cleaned;
mod shown;
mod swept;
mod uploaded;
