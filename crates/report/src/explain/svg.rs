//! An explanation's drawing.

use crate::explain::timeline::Timeline;
use crate::svg::file::{file, legend};
use crate::words;
use whylate_ledger::Explanation;

/// The timeline of the worst activation; `None` when none was kept.
pub fn render(explanation: &Explanation) -> Option<String> {
    let worst = explanation.activations.iter().max_by_key(|activation| activation.response())?;
    let timeline = Timeline::of(worst);
    let mut title = format!(
        "{}: {}, {}",
        words::thread(&worst.comm, worst.tid),
        words::lateness(worst),
        worst.verdict.cause
    );
    if let Some(by) = &worst.verdict.by {
        title.push_str(&format!(" by {}", words::culprit(by)));
    }
    let (legend, lines) = legend(&timeline.fills, timeline.width);
    Some(file("timeline", &title, (timeline.width, timeline.height), &timeline.drawing, &legend, lines))
}
