//! A measurement's drawings.

use crate::measure::facts;
use crate::svg::plot;
use whylate_investigate::compare::Prepared;
use whylate_investigate::measure::MeasureReport;

/// A measurement's histograms, how rarely it was how late, and when; `None` when nothing was measured.
pub fn render(report: &MeasureReport) -> Option<String> {
    let runs = [Prepared::of(report.run())];
    let plots = [
        plot::multiples(&runs, report.probe.threshold),
        plot::ccdf(&runs, false, report.probe.threshold),
        plot::time(&runs, true, false),
    ];
    let plots: Vec<plot::Plot> = plots.into_iter().flatten().collect();
    (!plots.is_empty()).then(|| plot::file(&facts::title(report), &plots))
}
