//! What the tests share.

pub(crate) mod answer;
pub(crate) mod browser;
pub(crate) mod measured;
pub(crate) mod rights;
pub(crate) mod run;
pub(crate) mod tracefs;
