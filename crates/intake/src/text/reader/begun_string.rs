//! A string of a program's source, as far as lines show it.

/// A string of a program's source, which the next line may go on with.
#[derive(Default)]
pub(super) struct BegunString {
    pub(super) text: String,
    /// More than quotes stands beside it.
    pub(super) is_code: bool,
}
