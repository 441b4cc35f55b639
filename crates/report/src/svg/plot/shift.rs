//! The shift of quantiles: before, after, and the interval that chance explains.

use super::frame::{Frame, Scaled};
use super::scale::{Axis, Unit};
use super::series::COLORS;
use super::{BELOW, LEFT, Plot, TOP, WIDTH, px};
use crate::words;
use maud::{Markup, html};
use whylate_base::Ns;
use whylate_investigate::compare::{Comparison, Difference, Statistic};
use whylate_stats::compare::Shift;

const ROW: f64 = 24.0;
const HEAD: f64 = 22.0;
/// For what is written beside the rows.
const RIGHT: f64 = 268.0;

/// A row: a quantile, or the maximum, of a pair.
struct Row {
    name: String,
    before: Ns,
    after: Ns,
    interval: Option<(Ns, Ns)>,
    is_shown: bool,
    color: usize,
}

/// All threads together, or each on its own. `None` where there are no quantiles to compare.
pub(crate) fn shift(comparison: &Comparison, by_thread: bool) -> Option<Plot> {
    let label =
        |at: usize| comparison.runs.get(at).map_or_else(String::new, |run| words::clean(&run.run.label));
    let mut groups: Vec<(String, Vec<Row>)> = Vec::new();
    for pair in &comparison.pairs {
        let label = format!("{} → {}", label(pair.before), label(pair.after));
        let whole = [(label.clone(), &pair.all)];
        let threads =
            pair.threads.iter().map(|(name, part)| (format!("{label}, {}", words::clean(name)), part));
        let parts: Vec<(String, &Difference)> =
            if by_thread && !pair.threads.is_empty() { threads.collect() } else { whole.into() };
        // The colour that the run has in the other plots.
        let rows = parts.into_iter().map(|(name, part)| (name, rows(part, pair.after)));
        groups.extend(rows.filter(|(_, rows)| !rows.is_empty()));
    }
    let all = || groups.iter().flat_map(|(_, rows)| rows);
    let ends = || all().flat_map(|row| [row.before, row.after].into_iter().chain(row.bar().map(|bar| bar.1)));
    let least =
        all().flat_map(|row| [row.before, row.after].into_iter().chain(row.bar().map(|bar| bar.0))).min()?;
    let least = least.max(all().map(|row| Ns(row.before.min(row.after).0 / 3)).min().unwrap_or(Ns(1)));
    let most = ends().max()?;
    let height = all().count() as f64 * ROW + groups.len() as f64 * HEAD + 8.0;
    let frame = Frame { left: LEFT, top: TOP, width: WIDTH - LEFT - RIGHT, height };
    let x = Axis::new(Unit::Latency, least.0.max(1) as f64 * 0.85, most.0.max(1) as f64 * 1.15);
    // Rows have no scale.
    let scaled = Scaled { frame, x, y: Axis::new(Unit::Time, 0.25, 0.75) };
    let mut y = TOP + 4.0;
    let mut drawn = Vec::new();
    for (name, rows) in &groups {
        drawn.push(html! { text.panel x=(px(LEFT + 8.0)) y=(px(y + 15.0)) { (name) } });
        y += HEAD;
        for row in rows {
            drawn.push(row.drawn(&scaled, y + ROW / 2.0));
            y += ROW;
        }
    }
    Some(Plot {
        drawing: html! { (scaled.axes(Some("latency"), None)) @for one in drawn { (one) } },
        height: frame.bottom() + BELOW,
        about: "Shift of latency quantiles".to_owned(),
        notes: vec![
            "Hollow: before; filled: after. The bar is where it may be with 95 %: where it holds the hollow one, chance \
             explains the difference. A maximum has no interval."
                .to_owned(),
        ],
    })
}

fn rows(part: &Difference, color: usize) -> Vec<Row> {
    let quantile = |shift: &Shift| Row {
        name: Statistic::Quantile(shift.q).to_string(),
        before: shift.before,
        after: shift.after,
        interval: shift.least.zip(shift.most),
        is_shown: shift.is_shown(),
        color,
    };
    let max = part.max.map(|(before, after)| Row {
        name: "max".to_owned(),
        before,
        after,
        interval: None,
        is_shown: false,
        color,
    });
    part.shifts.iter().map(quantile).chain(max).collect()
}

impl Row {
    /// Where it may be now.
    fn bar(&self) -> Option<(Ns, Ns)> {
        self.interval.map(|(least, most)| (self.before + least, self.before + most))
    }

    fn drawn(&self, scaled: &Scaled, y: f64) -> Markup {
        let x = |ns: Ns| px(scaled.x(ns.0 as f64));
        let y_of = px(y);
        let moved = self.moved();
        let about = format!("{}: {} before, {} after: {moved}", self.name, self.before, self.after);
        let class = format!("series s{}", self.color % COLORS);
        html! {
            text.beside x=(px(scaled.frame.left - 8.0)) y=(px(y + 4.0)) { (self.name) }
            g class=(class) tabindex="0" role="img" aria-label=(about) {
                title { (about) }
                line.way x1=(x(self.before)) x2=(x(self.after)) y1=(y_of) y2=(y_of) {}
                @if let Some((least, most)) = self.bar() {
                    line.interval x1=(px(scaled.x(least.0 as f64).max(scaled.frame.left))) x2=(x(most)) y1=(y_of) y2=(y_of) {}
                }
                circle.before cx=(x(self.before)) cy=(y_of) r="4.5" {}
                circle.after cx=(x(self.after)) cy=(y_of) r="4" {}
            }
            text.moved.sure[self.is_shown] x=(px(scaled.frame.right() + 10.0)) y=(px(y + 4.0)) { (moved) }
        }
    }

    fn moved(&self) -> String {
        let by = words::signed(self.after - self.before);
        match self.interval {
            Some((least, most)) => format!("{by} ({} to {})", words::signed(least), words::signed(most)),
            None if self.name == "max" => by,
            None => format!("{by} (too few samples)"),
        }
    }
}
