//! One plot of one or more measurements, as a drawing of its own.

use crate::svg::plot;
use crate::words;
use whylate_investigate::compare::{Comparison, Prepared};

/// What is plotted of measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The latency histogram.
    Histogram,
    /// The complementary cumulative distribution (CCDF), with the fitted tail.
    Ccdf,
    /// The maximum over time.
    Time,
}

/// Runs as they are plotted: one below the other, or over each other; with `by_thread`, each thread on its own. `None`
/// where they have no samples or, of [`Kind::Time`], do not have their times.
pub fn plotted(runs: &[Prepared], kind: Kind, by_thread: bool) -> Option<String> {
    let (title, plot) = match kind {
        Kind::Histogram if by_thread => ("Latency histogram per thread", plot::multiples(runs, None)),
        Kind::Histogram => ("Latency histogram", plot::histogram(runs, None)),
        Kind::Ccdf => ("Latency CCDF", plot::ccdf(runs, by_thread, None)),
        Kind::Time => ("Maximum latency over time", plot::time(runs, by_thread, false)),
    };
    Some(plot::file(&format!("{title}: {}", labels(runs)), &[plot?]))
}

/// The shift of quantiles from the first run to each other; `None` where there are none to compare.
pub fn shifted(comparison: &Comparison, by_thread: bool) -> Option<String> {
    let title = format!("Shift of quantiles: {}", labels(&comparison.runs));
    Some(plot::file(&title, &[plot::shift(comparison, by_thread)?]))
}

/// A drawing for a program that knows neither variables of CSS nor dark: in light colours.
pub fn plain(drawing: &str) -> String {
    plot::plain(drawing)
}

fn labels(runs: &[Prepared]) -> String {
    runs.iter().map(|run| words::clean(&run.run.label)).collect::<Vec<_>>().join(", ")
}
