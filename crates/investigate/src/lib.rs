//! (being written)

pub mod flight;
pub mod measure;
pub mod record;
