//! `whylate tables`: the top causes of what was imported, for a terminal.

use crate::terminal::Style;
use crate::terminal::layout::{Align, Cell, Page};
use crate::terminal::paint::Ink;
use crate::words;
use whylate_base::Ns;

/// A cause and culprit of late activations, summed up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopCause {
    /// The cause's code.
    pub cause: String,
    /// The culprit; empty where there is none.
    pub culprit: String,
    /// So many activations have this verdict.
    pub activations: u64,
    /// The time charged to it in them.
    pub charged: Ns,
    /// The longest response among them.
    pub worst: Ns,
}

/// Rows of the table.
const SHOWN: usize = 12;

/// The causes as a table, in their order. Empty without any.
pub fn render(causes: &[TopCause], style: &Style) -> String {
    if causes.is_empty() {
        return String::new();
    }
    let heading = ["cause", "culprit", "activations", "charged", "worst response"];
    let mut rows: Vec<Vec<Cell>> = vec![heading.map(|text| Cell::new(text, Ink::Faint)).to_vec()];
    rows.extend(causes.iter().take(SHOWN).map(|one| {
        vec![
            Cell::new(words::clean(&one.cause), Ink::Plain),
            Cell::new(words::clean(&one.culprit), Ink::Plain),
            Cell::new(words::count(one.activations), Ink::Plain),
            Cell::new(one.charged.to_string(), Ink::Plain),
            Cell::new(one.worst.to_string(), Ink::Plain),
        ]
    }));
    let mut page = Page::new(style);
    page.table(0, &[Align::Left, Align::Left, Align::Right, Align::Right, Align::Right], &rows);
    if causes.len() > SHOWN {
        page.paragraph(0, &format!("and {} more", causes.len() - SHOWN), Ink::Faint);
    }
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_causes_are_listed_and_the_rest_counted() {
        let cause = |n: i64| TopCause {
            cause: "higher-priority-task".to_owned(),
            culprit: format!("hog{n}"),
            activations: 3,
            charged: Ns::from_us(n),
            worst: Ns::from_us(n),
        };
        let causes: Vec<TopCause> = (0..20).map(cause).collect();
        let text = render(&causes, &Style::default());
        assert!(text.contains("hog11") && !text.contains("hog12"), "{text}");
        assert!(text.contains("and 8 more"), "{text}");
        assert_eq!(render(&[], &Style::default()), "");
    }
}
