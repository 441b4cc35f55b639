//! ANSI colours, from the sixteen that every terminal's theme keeps readable.

/// What a piece of text is, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    Plain,
    /// Headings, names.
    Strong,
    /// Labels, units of a table, what may be skipped.
    Faint,
    /// The accused, errors.
    Red,
    /// Warnings, things lost.
    Yellow,
    /// Information, codes.
    Cyan,
    /// Ways out.
    Green,
}

impl Ink {
    /// `text` in this ink.
    pub(crate) fn paint(self, text: &str, color: bool) -> String {
        let code = match self {
            Ink::Plain => return text.to_owned(),
            _ if !color || text.trim().is_empty() => return text.to_owned(),
            Ink::Strong => "1",
            Ink::Faint => "2",
            Ink::Red => "1;31",
            Ink::Yellow => "1;33",
            Ink::Cyan => "36",
            Ink::Green => "32",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}
