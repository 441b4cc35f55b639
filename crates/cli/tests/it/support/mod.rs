//! What the tests share.

pub(crate) mod answer;
pub(crate) mod run;
pub(crate) mod tracefs;
