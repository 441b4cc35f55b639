//! The code and the page of a finding that no cause stands behind.

/// A code that a report prints, with its page. The other findings have the code and the page of their cause.
pub(crate) struct FindingInfo {
    /// The stable code.
    pub(crate) code: &'static str,
    /// The page of that code.
    pub(crate) page: &'static str,
}

/// The page of a finding, by its code.
macro_rules! page {
    ($code:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/findings/", $code, ".md"))
    };
}
pub(super) use page;
