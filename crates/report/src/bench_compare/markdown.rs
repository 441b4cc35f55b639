//! The differences of two benches as Markdown.

use super::facts::{HEADING, cells, missing, summary};
use crate::markdown::escape;
use whylate_probes::bench::BenchComparison;

/// The differences as Markdown. Ends with a line break.
pub fn render(comparison: &BenchComparison) -> String {
    let mut text = format!("# whylate compare: bench {}\n\n{}\n\n", comparison.kind, summary(comparison));
    text += &format!("| {} |\n|---|--:|--:|--:|---|\n", HEADING.join(" | "));
    for difference in &comparison.differences {
        text += &format!("| {} |\n", cells(difference).map(|cell| escape(&cell)).join(" | "));
    }
    for sentence in missing(comparison) {
        text += &format!("\n{}\n", escape(&sentence));
    }
    text
}
