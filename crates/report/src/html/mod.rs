//! What the HTML documents share: the page around them, tables of distributions, claims.

pub(crate) mod page;
pub(crate) mod tables;
