//! Of a measurement: spikes by cause, the loads, what lies beyond what was seen.

use super::layout::{Align, Cell, Page};
use super::paint::Ink;
use crate::words;
use whylate_base::Ns;
use whylate_investigate::measure::{Answer, Beyond, MeasureReport, RARE, SpikeGroup};
use whylate_ledger::Cause;
use whylate_stats::{Level, Refusal};

/// How many groups have a row.
const ROWS: usize = 10;

/// Which loads ran, and which did not to the end.
pub(super) fn loads(page: &mut Page, report: &MeasureReport) {
    for load in &report.loads {
        let said = format!("{} on CPUs {}: {}", words::clean(&load.name), load.cpus, load.what);
        page.labelled(0, ("load: ", Ink::Faint), &said, Ink::Plain);
        if let Some(died) = &load.died {
            let died = format!("{died}; what was measured after that is without it");
            page.labelled(2, ("died: ", Ink::Yellow), &words::clean(&died), Ink::Plain);
        }
    }
}

/// Spikes by cause; nothing where there are too few of them to be put together.
pub(super) fn groups(page: &mut Page, report: &MeasureReport) {
    let spikes: u64 = report.groups.iter().map(|group| group.count).sum();
    if spikes < 2 {
        return;
    }
    let faint = |text: &str| Cell::new(text, Ink::Faint);
    let names = ["spikes", "worst", "first due at", "last due at", "every", "because of"];
    let mut rows = vec![names.map(faint).to_vec()];
    for group in report.groups.iter().take(ROWS) {
        rows.push(vec![
            Cell::new(words::count(group.count), Ink::Strong),
            group.worst.to_string().into(),
            words::instant(group.first).into(),
            words::instant(group.last).into(),
            group.rhythm.map_or_else(String::new, |rhythm| rhythm.period.to_string()).into(),
            because(group).into(),
        ]);
    }
    page.gap();
    page.table(
        0,
        &[Align::Right, Align::Right, Align::Right, Align::Right, Align::Right, Align::Left],
        &rows,
    );
    let left = report.groups.len().saturating_sub(ROWS) as u64;
    if left > 0 {
        page.line(&[(&format!("and {}", words::plural(left, "more cause")), Ink::Faint)]);
    }
}

fn because(group: &SpikeGroup) -> String {
    match (group.cause.map(Cause::code), &group.culprit) {
        (None, _) => "not explained".to_owned(),
        (Some(cause), None) => cause.to_owned(),
        // `softirq BLOCK` says its cause itself.
        (Some(cause), Some(culprit)) if culprit.starts_with(cause) => words::clean(culprit),
        (Some(cause), Some(culprit)) => format!("{cause}: {}", words::clean(culprit)),
    }
}

/// What the samples allow one to say beyond themselves, and whether the claim holds.
pub(super) fn beyond(page: &mut Page, beyond: &Beyond) {
    page.gap();
    if let Some(claimed) = &beyond.claim {
        let ink = match claimed.answer {
            Answer::Measured | Answer::Fitted => Ink::Green,
            Answer::NotYet => Ink::Yellow,
            Answer::Contradicted => Ink::Red,
        };
        page.led(0, ("claim: ", ink), &claimed.sentence(), Ink::Plain);
    }
    fit(page, "beyond, by the tail: ", &beyond.by_tail);
    fit(page, "beyond, by maxima: ", &beyond.by_blocks);
}

fn fit(page: &mut Page, name: &str, fit: &Result<Vec<Option<Level>>, Refusal>) {
    let bound = |upper: Option<Ns>| upper.map_or_else(|| "any".to_owned(), |upper| upper.to_string());
    let level = |(p, level): (f64, &Option<Level>)| match level {
        Some(level) => format!(
            "{} in 1 of {:.0e} wake-ups, at most {} (95 %)",
            level.estimate,
            1.0 / p,
            bound(level.upper)
        ),
        None => format!("1 of {:.0e} wake-ups was measured", 1.0 / p),
    };
    let said = match fit {
        Ok(levels) => RARE.into_iter().zip(levels).map(level).collect::<Vec<_>>().join("; "),
        Err(refusal) => format!("cannot tell: {refusal}"),
    };
    page.labelled(0, (name, Ink::Faint), &said, Ink::Plain);
}
