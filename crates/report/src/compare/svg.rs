//! The drawings of runs side by side.

use crate::compare::Compared;
use crate::svg::plot;

/// All that shows how runs differ; `None` when nothing was measured.
pub fn render(compared: &Compared) -> Option<String> {
    let comparison = &compared.comparison;
    let runs = &comparison.runs;
    let plots = [plot::shift(comparison, false), plot::ccdf(runs, false, None), plot::histogram(runs, None)];
    let plots: Vec<plot::Plot> = plots.into_iter().flatten().collect();
    (!plots.is_empty()).then(|| plot::file(&compared.title(), &plots))
}
