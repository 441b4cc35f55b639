//! What the caller chooses of a terminal's document.

/// How to write for a terminal. Nothing is asked of the terminal itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether to use ANSI colours.
    pub color: bool,
    /// How many columns there are; below 60 lines may be longer than this.
    pub width: usize,
}

impl Default for Style {
    /// No colours, 100 columns: what a file or a pipe gets.
    fn default() -> Self {
        Style { color: false, width: 100 }
    }
}
